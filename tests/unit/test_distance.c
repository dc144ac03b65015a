/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances on made-up topologies: hwloc's synthetic ones, and an exported one with PCI devices. */

#include <hwloc.h>

#include "gba/dev/distance.h"
#include "tests/suite.h"

/* What each PCI object of an export has, with the bus ID and the class. */
#define PCI(bus, rest)                                                         \
    "pci_busid=\"0000:" bus "\" pci_type=\"1200 [1234:5678] [0000:0000] 01\" " \
    "pci_link_speed=\"0.000000\"" rest
#define HOST_BRIDGE(index, bus, last)                                                 \
    "<object type=\"Bridge\" gp_index=\"" index "\" bridge_type=\"0-1\" depth=\"0\" " \
    "bridge_pci=\"0000:[" bus "-" last "]\">"
#define BRIDGE(index, busid, bus, last, depth)                                                \
    "<object type=\"Bridge\" gp_index=\"" index "\" bridge_type=\"1-1\" depth=\"" depth "\" " \
    "bridge_pci=\"0000:[" bus "-" last "]\" pci_busid=\"0000:" busid                          \
    "\" pci_type=\"0604 [8086:1234] [0000:0000] 01\" pci_link_speed=\"0.000000\">"
#define DEVICE(index, bus) "<object type=\"PCIDev\" gp_index=\"" index "\" " PCI(bus, "/>")
#define SETS(cpus)         "cpuset=\"" cpus "\" complete_cpuset=\"" cpus "\" "
#define PU(os, index, cpus, node)        \
    "<object type=\"PU\" os_index=\"" os \
    "\" " SETS(cpus) "nodeset=\"" node "\" complete_nodeset=\"" node "\" gp_index=\"" index "\"/>"
#define NUMA(os, index, cpus, node)                                                         \
    "<object type=\"NUMANode\" os_index=\"" os                                              \
    "\" " SETS(cpus) "nodeset=\"" node "\" complete_nodeset=\"" node "\" gp_index=\"" index \
                     "\" local_memory=\"1073741824\"/>"

/*
 * Two packages with two cores each. Package 0 has two NUMA nodes of one core, each with a host
 * bridge: at node 0 a device behind the root port (01:00.0) and one behind a switch (04:00.0), at
 * node 1 a device (21:00.0). Package 1 has one node with a device (41:00.0).
 */
static const char xml[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
    "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">"
    "<topology version=\"2.0\">"
    "<object type=\"Machine\" os_index=\"0\" " SETS(
        "0xf") "allowed_cpuset=\"0xf\" "
               "nodeset=\"0x7\" complete_nodeset=\"0x7\" allowed_nodeset=\"0x7\" gp_index=\"1\">"
               "<object type=\"Package\" os_index=\"0\" " SETS(
                   "0x3") "nodeset=\"0x3\" "
                          "complete_nodeset=\"0x3\" gp_index=\"2\">"
                          "<object type=\"Group\" " SETS(
                              "0x1") "nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"3\" "
                                     "kind=\"0\" subkind=\"0\">" NUMA("0", "4", "0x1", "0x1") PU(
                                         "0", "5", "0x1",
                                         "0x1") HOST_BRIDGE("6", "00", "0f") BRIDGE("7", "00:01.0",
                                                                                    "01", "01", "1")
                                         DEVICE("8", "01:00.0") "</object>" BRIDGE(
                                             "9", "00:02.0", "02", "05",
                                             "1") BRIDGE("10", "02:00.0", "03", "05", "2")
                                             BRIDGE("11", "03:00.0", "04", "04", "3") DEVICE(
                                                 "12",
                                                 "04:00.0") "</object></object></object></object></"
                                                            "object>"
                                                            "<object type=\"Group\" " SETS(
                                                                "0x2") "nodeset=\"0x2\" "
                                                                       "complete_nodeset=\"0x2\" "
                                                                       "gp_index=\"13\" kind=\"0\" "
                                                                       "subkind=\"0\">" NUMA(
                                                                           "1", "14", "0x2",
                                                                           "0x2") PU("1", "15",
                                                                                     "0x2", "0x2") HOST_BRIDGE("16",
                                                                                                               "20", "2f")
                                                                           BRIDGE("17", "20:01.0", "21", "21", "1") DEVICE(
                                                                               "18",
                                                                               "21:00.0") "</"
                                                                                          "object><"
                                                                                          "/object>"
                                                                                          "</"
                                                                                          "object><"
                                                                                          "/object>"
                                                                                          "<object "
                                                                                          "type="
                                                                                          "\"Packag"
                                                                                          "e\" "
                                                                                          "os_"
                                                                                          "index="
                                                                                          "\"1\""
                                                                                          " " SETS(
                                                                                              "0xc") "nodeset=\"0x4\" "
                                                                                                     "complete_nodeset=\"0x4\" gp_index=\"19\">" NUMA(
                                                                                                         "2",
                                                                                                         "20",
                                                                                                         "0xc",
                                                                                                         "0x4")
                                                                                                         PU("2", "21", "0x4", "0x4") PU(
                                                                                                             "3",
                                                                                                             "22",
                                                                                                             "0x8",
                                                                                                             "0x4")
                                                                                                             HOST_BRIDGE(
                                                                                                                 "23",
                                                                                                                 "40",
                                                                                                                 "4f")
                                                                                                                 BRIDGE(
                                                                                                                     "24",
                                                                                                                     "40:01.0",
                                                                                                                     "41",
                                                                                                                     "41",
                                                                                                                     "1")
                                                                                                                     DEVICE(
                                                                                                                         "25",
                                                                                                                         "41:00.0") "</object></object>"
                                                                                                                                    "</object>"
                                                                                                                                    "</object></topology>";

static hwloc_topology_t load(const char *from_xml, const char *synthetic)
{
    hwloc_topology_t topology;

    assert_int_equal(hwloc_topology_init(&topology), 0);
    assert_int_equal(hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL), 0);
    if (from_xml != NULL)
        assert_int_equal(
            hwloc_topology_set_xmlbuffer(topology, from_xml, (int)strlen(from_xml) + 1), 0);
    else
        assert_int_equal(hwloc_topology_set_synthetic(topology, synthetic), 0);
    assert_int_equal(hwloc_topology_load(topology), 0);
    return topology;
}

static gba_distance_t from(hwloc_topology_t topology, unsigned long cores, const char *address)
{
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    gba_distance_t distance;

    hwloc_bitmap_from_ulong(cpus, cores);
    distance = gba_distance_of(topology, cpus, address);
    hwloc_bitmap_free(cpus);
    return distance;
}

TEST(exported)
{
    static const struct {
        unsigned long cores;
        gba_distance_t to[4];
    } expected[] = {
        {0x1, {GBA_DISTANCE_PIX, GBA_DISTANCE_PXB, GBA_DISTANCE_NODE, GBA_DISTANCE_SYS}},
        {0x2, {GBA_DISTANCE_NODE, GBA_DISTANCE_NODE, GBA_DISTANCE_PIX, GBA_DISTANCE_SYS}},
        {0x3, {GBA_DISTANCE_PHB, GBA_DISTANCE_PHB, GBA_DISTANCE_PHB, GBA_DISTANCE_SYS}},
        {0x8, {GBA_DISTANCE_SYS, GBA_DISTANCE_SYS, GBA_DISTANCE_SYS, GBA_DISTANCE_PIX}},
        {0xf, {GBA_DISTANCE_PHB, GBA_DISTANCE_PHB, GBA_DISTANCE_PHB, GBA_DISTANCE_PHB}},
        {0x0, {GBA_DISTANCE_SYS, GBA_DISTANCE_SYS, GBA_DISTANCE_SYS, GBA_DISTANCE_SYS}},
    };
    static const char *const devices[] = {"0000:01:00.0", "0000:04:00.0", "0000:21:00.0",
                                          "0000:41:00.0"};
    hwloc_topology_t topology = load(xml, NULL);

    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        for (int d = 0; d < 4; d++)
            assert_string_equal(gba_distance_name(from(topology, expected[i].cores, devices[d])),
                                gba_distance_name(expected[i].to[d]));
    assert_int_equal(from(topology, 0x1, "0000:99:00.0"), GBA_DISTANCE_SYS);
    assert_int_equal(from(topology, 0x1, "virtual"), GBA_DISTANCE_SYS);
    hwloc_topology_destroy(topology);
}

TEST(without_devices)
{
    static const char *const hosts[] = {"pu:1", "package:2 numa:2 core:4 pu:2",
                                        "numa:8 core:2 pu:1"};

    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        hwloc_topology_t topology = load(NULL, hosts[i]);

        assert_int_equal(from(topology, 0x1, "0000:01:00.0"), GBA_DISTANCE_SYS);
        hwloc_topology_destroy(topology);
    }
}

/* Of this host: files that are no PCI devices. */
TEST(measured)
{
    gba_candidates_t candidates = {.count = 3};

    strcpy(candidates.list[0].path, "/dev/null");
    strcpy(candidates.list[1].path, "/etc/passwd");
    strcpy(candidates.list[2].path, "sim:a");
    gba_distances_measure(&candidates);
    for (uint32_t i = 0; i < candidates.count; i++)
        assert_int_equal(candidates.list[i].distance, GBA_DISTANCE_SYS);
}

TEST_MAIN()
