/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* sched_getaffinity */
#include "gba/base/place.h"

#include <hwloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <unistd.h>

#define PLACE_MAX 0xfffe /* the largest number in a place, which has 16 bits for each */

static uint64_t place;

/* The first processor of an object. Unlike hwloc's numbers it is the same for all processes of the
 * host, whatever their cgroups hide. */
static int first_of(hwloc_obj_t object)
{
    return hwloc_bitmap_first(object->complete_cpuset);
}

uint64_t gba_place_of(struct hwloc_topology *topology, const struct hwloc_bitmap_s *cpus)
{
    hwloc_obj_t package = hwloc_get_root_obj(topology), cache = NULL, core = NULL, first = NULL;
    int numa;

    if (!hwloc_bitmap_iszero(cpus))
        first = hwloc_get_pu_obj_by_os_index(topology, (unsigned)hwloc_bitmap_first(cpus));
    if (first == NULL)
        return GBA_PLACE_NONE;
    for (hwloc_obj_t o = first; o != NULL; o = o->parent) {
        if (HWLOC_OBJ_CORE == o->type)
            core = o;
        if (hwloc_obj_type_is_dcache(o->type))
            cache = o; /* in the end the outermost one */
        if (HWLOC_OBJ_PACKAGE == o->type)
            package = o;
    }
    core = core == NULL ? first : core;
    cache = cache == NULL ? package : cache;
    numa = hwloc_bitmap_first(first->nodeset);
    if (!hwloc_bitmap_isincluded(cpus, cache->cpuset) || numa > PLACE_MAX ||
        first_of(package) > PLACE_MAX || first_of(cache) > PLACE_MAX || first_of(core) > PLACE_MAX)
        return GBA_PLACE_NONE;
    return gba_place_make((uint32_t)first_of(package), numa < 0 ? 0 : (uint32_t)numa,
                          (uint32_t)first_of(cache),
                          1u + (uint32_t)first_of(core)); /* so it is not GBA_PLACE_NONE */
}

/* Whether this thread may run on each processor, so that nothing depends on the topology. */
static bool is_unbound(void)
{
    cpu_set_t cpus;

    return 0 == sched_getaffinity(0, sizeof cpus, &cpus) &&
           CPU_COUNT(&cpus) >= sysconf(_SC_NPROCESSORS_ONLN);
}

static void place_find(void)
{
    hwloc_topology_t topology;
    hwloc_bitmap_t cpus;

    if (is_unbound() || 0 != hwloc_topology_init(&topology))
        return;
    cpus = hwloc_bitmap_alloc();
    if (cpus != NULL && 0 == hwloc_topology_load(topology) &&
        0 == hwloc_get_cpubind(topology, cpus, HWLOC_CPUBIND_PROCESS))
        place = gba_place_of(topology, cpus);
    hwloc_bitmap_free(cpus);
    hwloc_topology_destroy(topology);
}

uint64_t gba_place_get(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, place_find);
    return place;
}
