/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One candidate on one cluster: a discrete-event simulation of its barriers. The steps of the
 * algorithms are those of gba/algo, over a transport that costs simulated time; the device is
 * sim/model.
 */
#ifndef GBA_PREDICT_ENGINE_H
#define GBA_PREDICT_ENGINE_H

#include "gba/base/cluster.h"
#include "gba/path/shape.h"

struct predict_setup {
    const struct gba_cluster *cluster;
    /* fallback: that of Open MPI's coll/tuned; flat */
    struct gba_choice choice;
    uint32_t hosts, ranks; /* 1 or more; ranks of a host; hosts x ranks at most 2^24 */
    uint32_t radix;        /* the parameter sw_radix */
    uint32_t warmup;       /* barriers before the first one that counts */
    uint32_t barriers;     /* that count; 1 or more */
    uint64_t seed;
    uint64_t late; /* ps: in each barrier one rank, at random, arrives later by this time */
};

/* A distribution over the barriers, ps. */
struct predict_spread {
    uint64_t least, median, p95, p99, most;
};

struct predict_result {
    uint64_t mean;                 /* time from barrier to barrier, ps: that of a batch */
    struct predict_spread slowest; /* the longest time that a rank spends in a barrier */
    struct predict_spread after;   /* from the last arrival to the last exit */
    struct predict_spread skew;    /* from the first exit to the last */
    uint64_t bytes;                /* of memory, without events: 16 for each that is pending */
};

/*
 * Simulate. Returns GBA_OK; GBA_ERR_NOMEM; or why there is no such barrier: GBA_ERR_PARAM,
 * GBA_ERR_TOO_FEW, GBA_ERR_TOO_MANY, GBA_ERR_NO_GROUP. Thread-safe. Not collective.
 */
gba_status_t predict_run(const struct predict_setup *setup, struct predict_result *result);

/* The algorithm that Open MPI's coll/tuned takes among so many processes, 1 or more. Thread-safe.
 */
const char *predict_tuned_name(uint32_t size);

#endif
