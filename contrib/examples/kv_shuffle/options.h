/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of kv_shuffle. */
#ifndef KV_OPTIONS_H
#define KV_OPTIONS_H

#include "model.h"

struct kv_options {
    long pes; /* 0: any number */
    long rounds, seed, jitter;
    long blocks, heads, tokens, dim;
    int verify;
    long slices, cores;
};

extern const char kv_usage[];

/*
 * All PEs have the same arguments, so all return the same: 0, or -1 with a message on PE 0.
 */
int kv_options_parse(struct kv_options *options, int argc, char **argv, int me);

struct kv_shape kv_options_shape(const struct kv_options *options);

#endif
