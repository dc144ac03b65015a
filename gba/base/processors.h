/* SPDX-License-Identifier: BSD-3-Clause */
/* The quotas of cgroups, a part of gba_processors_get. */
#ifndef GBA_BASE_PROCESSORS_H
#define GBA_BASE_PROCESSORS_H

#include <stdint.h>

/*
 * Get the processors' worth of time that the cgroups of a process leave it, those above included:
 * cpu.max of version 2, cpu.cfs_quota_us of version 1.
 * groups: its file /proc/PID/cgroup. root: where cgroups are mounted. Files that are missing limit
 * nothing: a container may show its own cgroup as the root.
 * Returns the number, rounded down, but at least 1; UINT32_MAX: no limit. Thread-safe. Not
 * collective.
 */
uint32_t gba_processors_quota(const char *groups, const char *root);

#endif
