/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory file in which a plugin publishes why communicators have no device, and which gba_info
 * --why reads through /proc/PID/fd. It is an array of texts of GBA_WHY_BYTES bytes, each
 * terminated; an empty one is free. A reader must not trust the file, because any program can make
 * one of this name.
 */
#ifndef GBA_BASE_WHY_H
#define GBA_BASE_WHY_H

#include <inttypes.h>
#include <stdio.h>

#define GBA_WHY_BYTES    1280
#define GBA_WHY_NAME_MAX 32
#define GBA_WHY_SLOTS    4096 /* that gba_info reads of one process at most */

/* Set the name of the file of that process. A child of fork has the file, too, but another number.
 * Thread-safe. */
static inline void gba_why_name(int32_t pid, char name[GBA_WHY_NAME_MAX])
{
    snprintf(name, GBA_WHY_NAME_MAX, "gba-why:%" PRId32, pid);
}

#endif
