/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances on made-up topologies: hwloc's synthetic ones, and an exported one with PCI devices. */

#include <hwloc.h>

#include "gba/dev/distance.h"
#include "tests/suite.h"

/* From an export (two_packages.xml) or a description. */
static hwloc_topology_t load(const char *xml, const char *synthetic)
{
    const char *top = getenv("srcdir"); /* of make check */
    hwloc_topology_t topology;
    char path[300];

    snprintf(path, sizeof path, "%s/tests/unit/dev/%s", top != NULL ? top : ".", xml ? xml : "");
    assert_int_equal(hwloc_topology_init(&topology), 0);
    assert_int_equal(hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL), 0);
    if (xml != NULL)
        assert_int_equal(hwloc_topology_set_xml(topology, path), 0);
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

/*
 * Two packages with two cores each. Package 0 has two NUMA nodes of one core, each with a host
 * bridge: at node 0 a device behind the root port (01:00.0) and one behind a switch (04:00.0), at
 * node 1 a device (21:00.0). Package 1 has one node with a device (41:00.0).
 */
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
    hwloc_topology_t topology = load("two_packages.xml", NULL);

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
    gba_device_choices_t choices = {.count = 3};

    strcpy(choices.list[0].path, "/dev/null");
    strcpy(choices.list[1].path, "/etc/passwd");
    strcpy(choices.list[2].path, "sim:a");
    gba_distances_measure(&choices);
    for (uint32_t i = 0; i < choices.count; i++)
        assert_int_equal(choices.list[i].distance, GBA_DISTANCE_SYS);
}

TEST_MAIN()
