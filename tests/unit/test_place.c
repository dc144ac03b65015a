/* SPDX-License-Identifier: BSD-3-Clause */
/* Places on hwloc's synthetic topologies and on an exported one, and what the numbers by places
 * gain there. */

#include <hwloc.h>

#include "gba/algo/algorithm.h"
#include "gba/algo/numbering.h"
#include "tests/suite.h"

#define MEMBERS 128u

static hwloc_topology_t load(const char *xml, const char *synthetic)
{
    const char *top = getenv("srcdir"); /* of make check */
    hwloc_topology_t topology;
    char path[300];

    assert_int_equal(hwloc_topology_init(&topology), 0);
    if (xml != NULL) {
        snprintf(path, sizeof path, "%s/tests/unit/%s", top != NULL ? top : ".", xml);
        assert_int_equal(hwloc_topology_set_xml(topology, path), 0);
    } else {
        assert_int_equal(hwloc_topology_set_synthetic(topology, synthetic), 0);
    }
    assert_int_equal(hwloc_topology_load(topology), 0);
    return topology;
}

static uint64_t place_of(hwloc_topology_t topology, unsigned first, unsigned last)
{
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    uint64_t place;

    hwloc_bitmap_set_range(cpus, first, (int)last);
    place = gba_place_of(topology, cpus);
    hwloc_bitmap_free(cpus);
    return place;
}

/* The last level that two processors share: 0 nothing, 1 the package, 2 the NUMA node, 3 the cache,
 * 4 the core. */
static int shared(hwloc_topology_t topology, unsigned one, unsigned other)
{
    const uint64_t differ = place_of(topology, one, one) ^ place_of(topology, other, other);

    assert_int_not_equal(place_of(topology, one, one), GBA_PLACE_NONE);
    return 0 != differ >> 48   ? 0
           : 0 != differ >> 32 ? 1
           : 0 != differ >> 16 ? 2
           : 0 != differ       ? 3
                               : 4;
}

TEST(levels)
{
    hwloc_topology_t topology = load(NULL, "package:2 numa:2 l3:2 core:2 pu:2");

    assert_int_equal(shared(topology, 0, 1), 4);
    assert_int_equal(shared(topology, 0, 2), 3);
    assert_int_equal(shared(topology, 0, 4), 2);
    assert_int_equal(shared(topology, 0, 8), 1);
    assert_int_equal(shared(topology, 0, 16), 0);
    assert_int_equal(shared(topology, 15, 16), 0);
    hwloc_topology_destroy(topology);
}

/* Bound to a core, or to what shares a cache. */
TEST(bound)
{
    hwloc_topology_t topology = load(NULL, "package:2 numa:1 l3:8 core:8 pu:1");
    hwloc_bitmap_t nothing = hwloc_bitmap_alloc();

    assert_int_equal(place_of(topology, 8, 15), place_of(topology, 8, 8));
    assert_int_not_equal(place_of(topology, 9, 15), place_of(topology, 8, 8));
    assert_int_equal(place_of(topology, 8, 16), GBA_PLACE_NONE);
    assert_int_equal(place_of(topology, 0, 63), GBA_PLACE_NONE);
    assert_int_equal(place_of(topology, 0, 127), GBA_PLACE_NONE);
    assert_int_equal(place_of(topology, 128, 128), GBA_PLACE_NONE); /* no such processor */
    assert_int_equal(gba_place_of(topology, nothing), GBA_PLACE_NONE);
    hwloc_bitmap_free(nothing);
    hwloc_topology_destroy(topology);
}

/* As virtual machines often are: the package takes the place of the cache. */
TEST(without_caches)
{
    hwloc_topology_t topology = load(NULL, "package:2 core:4 pu:1");

    assert_int_equal(shared(topology, 0, 3), 3);
    assert_int_equal(shared(topology, 3, 4), 0);
    assert_int_not_equal(place_of(topology, 0, 3), GBA_PLACE_NONE);
    assert_int_equal(place_of(topology, 3, 4), GBA_PLACE_NONE);
    hwloc_topology_destroy(topology);
    topology = load(NULL, "pu:4");
    assert_int_not_equal(place_of(topology, 0, 3), GBA_PLACE_NONE);
    hwloc_topology_destroy(topology);
}

/* Of this process, twice. It may have one or not. */
TEST(own)
{
    assert_int_equal(gba_place_get(), gba_place_get());
}

/* Rank r on processor r of 2 x 64 cores with 8 caches a package, before and after. */
static void expect_crossings(hwloc_topology_t topology, const struct gba_schedule *schedule,
                             uint32_t radix, uint64_t before, uint64_t after)
{
    struct gba_numbered members[MEMBERS];

    for (uint32_t i = 0; i < MEMBERS; i++)
        members[i] = (struct gba_numbered){.member = i, .place = place_of(topology, i, i)};
    assert_int_equal(gba_numbering_crossings(members, MEMBERS, schedule, radix), before);
    gba_numbering_make(members, MEMBERS, schedule, radix);
    assert_int_equal(gba_numbering_crossings(members, MEMBERS, schedule, radix), after);
}

/* Processors are numbered from core to core of a cache. */
TEST(consecutive)
{
    hwloc_topology_t topology = load(NULL, "package:2 numa:1 l3:8 core:8 pu:1");

    expect_crossings(topology, &gba_schedule_dissemination, 2, 1132, 768);
    expect_crossings(topology, &gba_schedule_radix, 3, 1500, 1500);
    expect_crossings(topology, &gba_schedule_radix, 4, 1688, 1280);
    expect_crossings(topology, &gba_schedule_radix, 8, 2736, 2432);
    hwloc_topology_destroy(topology);
}

/* Processors alternate between the packages, which have four NUMA nodes of two caches. */
TEST(alternating)
{
    hwloc_topology_t topology = load("two_sockets.xml", NULL);

    assert_int_equal(shared(topology, 0, 1), 0);
    assert_int_equal(shared(topology, 0, 2), 3);
    assert_int_equal(shared(topology, 0, 16), 2);
    assert_int_equal(shared(topology, 0, 32), 1);
    expect_crossings(topology, &gba_schedule_dissemination, 2, 1256, 1024);
    expect_crossings(topology, &gba_schedule_radix, 3, 2472, 1846);
    expect_crossings(topology, &gba_schedule_radix, 4, 2040, 1664);
    expect_crossings(topology, &gba_schedule_radix, 8, 3472, 2816);
    hwloc_topology_destroy(topology);
}

TEST_MAIN()
