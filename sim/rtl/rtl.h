/* SPDX-License-Identifier: BSD-3-Clause */
/* The adapter for benches: what they set, and how long an access took. Not thread-safe. */
#ifndef GBA_SIM_RTL_RTL_H
#define GBA_SIM_RTL_RTL_H

#include <stdbool.h>
#include <stdint.h>

struct gba_rtl_options {
    /* Set before gba_model_init, and before an access. */
    bool multicast;
    uint32_t stalls; /* percent of the cycles in which the ports take no release store */
    /* Counted. The cycles at which the last access began, and of its release stores; 0: none. */
    uint64_t cycles, began, first_release, last_release;
};

struct gba_rtl_options *gba_rtl_options(void);

#endif
