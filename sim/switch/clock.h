/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of gba-switchd. */
#ifndef GBA_SIM_SWITCH_CLOCK_H
#define GBA_SIM_SWITCH_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC in ns. Thread-safe. */
static inline uint64_t gba_switchd_clock(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

#endif
