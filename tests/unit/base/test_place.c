/* SPDX-License-Identifier: BSD-3-Clause */
/* Places on hwloc's synthetic topologies, written as a kernel on such a machine describes them. */
#define _GNU_SOURCE /* nftw */
#include <errno.h>
#include <ftw.h>
#include <hwloc.h>
#include <sys/stat.h>

#include "gba/base/place.h"
#include "tests/suite.h"

static char root[] = "/tmp/gba-place-XXXXXX"; /* as /sys/devices/system/cpu */

static void make_directory(const char *path)
{
    assert_true(0 == mkdir(path, 0700) || EEXIST == errno);
}

/* Write the processors of an object as a file of one of them. */
static void write_list(hwloc_obj_t object, unsigned cpu, const char *directory, const char *name)
{
    char path[300], *list;
    FILE *file;

    snprintf(path, sizeof path, "%s/cpu%u/%s", root, cpu, directory);
    make_directory(path);
    strncat(path, name, sizeof path - strlen(path) - 1);
    file = fopen(path, "we");
    assert_non_null(file);
    assert_true(hwloc_bitmap_list_asprintf(&list, object->cpuset) >= 0);
    fprintf(file, "%s\n", list);
    fclose(file);
    free(list);
}

/* Write a processor as the kernel describes it. */
static void write_processor(hwloc_topology_t topology, hwloc_obj_t processor)
{
    hwloc_obj_t package = hwloc_get_root_obj(topology), core = processor;
    const unsigned cpu = processor->os_index;
    char path[300];
    int caches = 0;

    snprintf(path, sizeof path, "%s/cpu%u", root, cpu);
    make_directory(path);
    snprintf(path, sizeof path, "%s/cpu%u/cache", root, cpu);
    make_directory(path);
    for (hwloc_obj_t o = processor; o != NULL; o = o->parent) {
        core = HWLOC_OBJ_CORE == o->type ? o : core;
        package = HWLOC_OBJ_PACKAGE == o->type ? o : package;
        snprintf(path, sizeof path, "cache/index%d", caches);
        if (hwloc_obj_type_is_dcache(o->type) && ++caches > 0)
            write_list(o, cpu, path, "/shared_cpu_list");
    }
    write_list(core, cpu, "topology", "/thread_siblings_list");
    write_list(package, cpu, "topology", "/core_siblings_list");
    snprintf(path, sizeof path, "%s/cpu%u/node%d", root, cpu,
             hwloc_bitmap_first(processor->nodeset));
    make_directory(path);
}

/* Write a topology of hwloc as the files of a kernel on such a machine. */
static void load(const char *synthetic)
{
    hwloc_topology_t topology;
    hwloc_obj_t processor = NULL;

    assert_int_equal(hwloc_topology_init(&topology), 0);
    assert_int_equal(hwloc_topology_set_synthetic(topology, synthetic), 0);
    assert_int_equal(hwloc_topology_load(topology), 0);
    snprintf(root, sizeof root, "/tmp/gba-place-XXXXXX");
    assert_non_null(mkdtemp(root));
    while ((processor = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, processor)) != NULL)
        write_processor(topology, processor);
    hwloc_topology_destroy(topology);
}

static int remove_entry(const char *path, const struct stat *entry, int type, struct FTW *walk)
{
    (void)entry;
    (void)type;
    (void)walk;
    return remove(path);
}

static void unload(void)
{
    assert_int_equal(nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static uint64_t place_of(unsigned first, unsigned last)
{
    gba_processors_t cpus = {.quota = UINT32_MAX};

    for (unsigned cpu = first; cpu <= last; cpu++)
        cpus.map[cpu / 32] |= UINT32_C(1) << cpu % 32;
    return gba_place_of(root, &cpus);
}

/* The last level that two processors share: 0 nothing, 1 the package, 2 the NUMA node, 3 the cache,
 * 4 the core. */
static int shared(unsigned one, unsigned other)
{
    const uint64_t differ = place_of(one, one) ^ place_of(other, other);

    assert_int_not_equal(place_of(one, one), GBA_PLACE_NONE);
    return 0 != differ >> 48   ? 0
           : 0 != differ >> 32 ? 1
           : 0 != differ >> 16 ? 2
           : 0 != differ       ? 3
                               : 4;
}

TEST(levels)
{
    load("package:2 numa:2 l3:2 core:2 pu:2");
    assert_int_equal(shared(0, 1), 4);
    assert_int_equal(shared(0, 2), 3);
    assert_int_equal(shared(0, 4), 2);
    assert_int_equal(shared(0, 8), 1);
    assert_int_equal(shared(0, 16), 0);
    assert_int_equal(shared(15, 16), 0);
    unload();
}

/* Bound to a core, or to what shares a cache. */
TEST(bound)
{
    load("package:2 numa:1 l3:8 core:8 pu:1");
    assert_int_equal(place_of(8, 15), place_of(8, 8));
    assert_int_not_equal(place_of(9, 15), place_of(8, 8));
    assert_int_equal(place_of(8, 16), GBA_PLACE_NONE);
    assert_int_equal(place_of(0, 63), GBA_PLACE_NONE);
    assert_int_equal(place_of(0, 127), GBA_PLACE_NONE);
    assert_int_equal(place_of(128, 128), GBA_PLACE_NONE); /* no such processor */
    assert_int_equal(place_of(1, 0), GBA_PLACE_NONE);
    unload();
}

/* As virtual machines often are: the package takes the place of the cache. */
TEST(without_caches)
{
    load("package:2 core:4 pu:1");
    assert_int_equal(shared(0, 3), 3);
    assert_int_equal(shared(3, 4), 0);
    assert_int_not_equal(place_of(0, 3), GBA_PLACE_NONE);
    assert_int_equal(place_of(3, 4), GBA_PLACE_NONE);
    unload();
    load("pu:4");
    assert_int_not_equal(place_of(0, 3), GBA_PLACE_NONE);
    unload();
}

/* Of this process, twice. It may have one or not. */
TEST(own)
{
    assert_int_equal(gba_place_get(), gba_place_get());
}

/* Processors alternate between the packages, which have four NUMA nodes of two caches. */
TEST(alternating)
{
    load("package:2 numa:4 l3:2 pu:8(indexes=64*2:1*64)");
    assert_int_equal(shared(0, 1), 0);
    assert_int_equal(shared(0, 2), 3);
    assert_int_equal(shared(0, 16), 2);
    assert_int_equal(shared(0, 32), 1);
    unload();
}

TEST_MAIN()
