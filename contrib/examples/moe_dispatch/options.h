/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of moe_dispatch. */
#ifndef MOE_OPTIONS_H
#define MOE_OPTIONS_H

#include "pe.h"

enum {
    MOE_WAYS = 3,
    MOE_BOTH = 1 << MOE_BARRIER | 1 << MOE_FLAGS,
    MOE_ALL = MOE_BOTH | 1 << MOE_CORES
};
extern const char *const moe_sync_name[MOE_WAYS];
extern const char *const moe_mode_name[];
extern const char moe_usage[];

struct moe_options {
    struct moe_config config;
    long ways; /* set of enum moe_sync */
    long turns, steps;
    long verify;
};

/* All PEs have the same arguments, so all return the same: 0, or -1 with a message on PE 0. */
int moe_options_parse(struct moe_options *result, int argc, char **argv, int me, int pes);

#endif
