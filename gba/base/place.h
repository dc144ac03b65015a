/* SPDX-License-Identifier: BSD-3-Clause */
/* The place of the core of a process, by the topology that the kernel shows in /sys. */
#ifndef GBA_BASE_PLACE_H
#define GBA_BASE_PLACE_H

#include "gba/gba.h"

#define GBA_PLACE_NONE UINT64_C(0) /* a process that may run on cores of several caches */

/* A place: four numbers of 16 bits, from the package down to the core. Places are only compared. */
static inline uint64_t gba_place_make(uint32_t package, uint32_t numa, uint32_t cache,
                                      uint32_t core)
{
    return (uint64_t)package << 48 | (uint64_t)numa << 32 | (uint64_t)cache << 16 | core;
}

/*
 * The place of the processors `cpus`. root: a directory as /sys/devices/system/cpu. Returns
 * GBA_PLACE_NONE if they do not share one last-level cache; one package, where no caches are
 * described; or if nothing is. Thread-safe.
 */
uint64_t gba_place_of(const char *root, const gba_processors_t *cpus);

/*
 * The place of this process, as it is bound when the process calls first: that call reads some ten
 * small files, and the next ones return the same. Thread-safe. Not collective.
 */
uint64_t gba_place_get(void);

#endif
