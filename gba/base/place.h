/* SPDX-License-Identifier: BSD-3-Clause */
/* The place of the core of a process, by the topology of hwloc. */
#ifndef GBA_BASE_PLACE_H
#define GBA_BASE_PLACE_H

#include <stdint.h>

struct hwloc_topology;
struct hwloc_bitmap_s;

#define GBA_PLACE_NONE UINT64_C(0) /* a process that may run on cores of several caches */

/* A place: four numbers of 16 bits, from the package down to the core. Places are only compared. */
static inline uint64_t gba_place_make(uint32_t package, uint32_t numa, uint32_t cache,
                                      uint32_t core)
{
    return (uint64_t)package << 48 | (uint64_t)numa << 32 | (uint64_t)cache << 16 | core;
}

/*
 * The place of the cores `cpus`. topology: loaded. Returns GBA_PLACE_NONE if
 * the cores do not share one last-level cache; without caches in the topology, one package.
 * Thread-safe. Pure.
 */
uint64_t gba_place_of(struct hwloc_topology *topology, const struct hwloc_bitmap_s *cpus);

/*
 * The place of this process, as it is bound when the process calls first: that call takes
 * milliseconds, and the next ones return the same. GBA_PLACE_NONE also if libgba was built without
 * hwloc, or if the topology cannot be read. Thread-safe. Not collective.
 */
uint64_t gba_place_get(void);

#endif
