/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The comparison of the times of a communicator's members. Each member sends its part to one of
 * them, which compares the times of the same rounds: a member waits from its entry to the last
 * entry; from then on the barrier itself takes time. Pure.
 */
#ifndef CONTRIB_PERF_RECORDER_PARTS_H
#define CONTRIB_PERF_RECORDER_PARTS_H

#include <stddef.h>

#include "contrib/perf/recorder.h"

#define RECORDER_HOST_BYTES 64
#define RECORDER_SITE_BYTES 256
#define RECORDER_SITES      16 /* of a part; further ones have no name */

/* The barriers of one member of a communicator; behind it come its times, by the clock of rank 0.
 * Their site is a number: of sites, or RECORDER_SITES. */
struct recorder_part {
    uint64_t id;
    int call, size, rank; /* the rank is that of the member in MPI_COMM_WORLD */
    uint32_t count;       /* of times */
    unsigned int shift;
    bool torn;
    uint64_t rounds;
    char name[RECORDER_NAME_BYTES], host[RECORDER_HOST_BYTES];
    char sites[RECORDER_SITES][RECORDER_SITE_BYTES];
    struct recorder_time times[];
};

/* The barriers of one call on a communicator. Times are sums over its members. */
struct recorder_row {
    int call, size;
    char name[RECORDER_NAME_BYTES];
    double comms;             /* 1; less: a part of one whose members could not send all to one */
    double calls, time, wait; /* ns; wait is NAN if it is unknown */
    /* The member for which the others waited longest: its rank in MPI_COMM_WORLD, the part of the
     * barriers that it entered last, and the waiting for it, ns. */
    int late;
    double lasts, caused;
    char host[RECORDER_HOST_BYTES], site[RECORDER_SITE_BYTES];
};

/* Order parts by call, id and rank: for qsort, over pointers. */
int recorder_part_compare(const void *left, const void *right);

/* Parts that belong together; how many of `count`, from the first, at least 1. parts: in order. */
size_t recorder_parts_together(struct recorder_part *const *parts, size_t count);

/* Add up the parts of one communicator. Changes their times. Out of memory: wait is NAN. */
struct recorder_row recorder_row_of(struct recorder_part **parts, size_t count);

#endif
