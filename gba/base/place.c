/* SPDX-License-Identifier: BSD-3-Clause */
/* Few small files of the kernel have it all. The topology of hwloc is the same, but takes
 * milliseconds, and more on a machine with more processors. */
#include "gba/base/place.h"

#include <ctype.h>
#include <glob.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_MAX 0xfffeu /* the largest number in a place, which has 16 bits for each */

static uint64_t place;

static bool has(const gba_processors_t *cpus, uint32_t cpu)
{
    return 0 != (cpus->map[cpu / 32] & UINT32_C(1) << cpu % 32);
}

/* What several processors share: its first one, which is the same for all processes of the host,
 * and whether it has all of a set. first: UINT32_MAX: it is not described. */
struct part {
    uint32_t first;
    bool has_all;
};

/* Read a list of processors such as "0-3,64-67". */
static struct part part_of(const char *root, uint32_t cpu, const char *name,
                           const gba_processors_t *cpus)
{
    struct part part = {UINT32_MAX, false};
    gba_processors_t left = *cpus;
    char path[PATH_MAX], line[8192] = "";
    FILE *file;

    snprintf(path, sizeof path, "%s/cpu%u/%s", root, cpu, name);
    file = fopen(path, "re");
    if (file == NULL)
        return part;
    (void)!fgets(line, sizeof line, file);
    fclose(file);
    for (char *at = line; isdigit((unsigned char)*at); at += ',' == *at) {
        unsigned long one = strtoul(at, &at, 10);
        const unsigned long last = '-' == *at ? strtoul(at + 1, &at, 10) : one;

        if (UINT32_MAX == part.first)
            part.first = (uint32_t)one;
        for (; one <= last && one < GBA_PROCESSOR_WORDS * 32; one++)
            left.map[one / 32] &= ~(UINT32_C(1) << one % 32);
    }
    part.has_all = 0 == gba_processors_count(&left);
    return part;
}

static struct part cache_of(const char *root, uint32_t cpu, const gba_processors_t *cpus)
{
    struct part outermost = {UINT32_MAX, false}, cache;
    char name[48];

    for (uint32_t index = 0;; index++) { /* from the processor outwards */
        snprintf(name, sizeof name, "cache/index%u/shared_cpu_list", index);
        cache = part_of(root, cpu, name, cpus);
        if (UINT32_MAX == cache.first)
            return outermost;
        outermost = cache;
    }
}

/* A kernel without NUMA has no node. */
static uint32_t numa_of(const char *root, uint32_t cpu)
{
    char pattern[PATH_MAX];
    uint32_t node = 0;
    glob_t found;

    snprintf(pattern, sizeof pattern, "%s/cpu%u/node[0-9]*", root, cpu);
    if (0 != glob(pattern, 0, NULL, &found))
        return 0;
    node = (uint32_t)strtoul(strrchr(found.gl_pathv[0], '/') + strlen("/node"), NULL, 10);
    globfree(&found);
    return node;
}

uint64_t gba_place_of(const char *root, const gba_processors_t *cpus)
{
    struct part package, cache, core;
    uint32_t cpu = 0, numa;

    while (cpu < GBA_PROCESSOR_WORDS * 32 && !has(cpus, cpu))
        cpu++;
    package = part_of(root, cpu, "topology/core_siblings_list", cpus);
    core = part_of(root, cpu, "topology/thread_siblings_list", cpus);
    cache = cache_of(root, cpu, cpus);
    if (UINT32_MAX == cache.first) /* as virtual machines often are */
        cache = package;
    numa = numa_of(root, cpu);
    if (!cache.has_all || package.first > PLACE_MAX || core.first > PLACE_MAX ||
        cache.first > PLACE_MAX || numa > PLACE_MAX)
        return GBA_PLACE_NONE;
    return gba_place_make(package.first, numa, cache.first,
                          1u + core.first); /* so it is not GBA_PLACE_NONE */
}

static void place_find(void)
{
    gba_processors_t cpus;

    gba_processors_get(&cpus);
    place = gba_place_of("/sys/devices/system/cpu", &cpus);
}

uint64_t gba_place_get(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, place_find);
    return place;
}
