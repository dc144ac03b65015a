/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The terms of shared memory in the description of a cluster, from the times of barriers whose
 * ranks have cores of their own. Each loop has a model with one unknown (sim/predict/memory.c):
 *
 *   one round  each rank signals all others              store + (n - 2) store_next
 *   pull       each rank reads the flags of all          store + (n - 2) load
 *   leader     one reads the flags of all, and stores a
 *              word that all others read                 2 store + (n - 2) own
 *   counter    all ranks add to a word                   store + (n - 1) atomic
 *
 * own is load / load_overlap. A term that no time depends on is 0. Pure.
 */
#ifndef CONTRIB_PERF_LINES_H
#define CONTRIB_PERF_LINES_H

#include <stddef.h>
#include <stdint.h>

enum perf_loop { PERF_ONE_ROUND, PERF_PULL, PERF_LEADER, PERF_COUNTER, PERF_LOOPS };

struct perf_loop_time {
    enum perf_loop loop;
    uint32_t ranks; /* n */
    double ns;      /* of a barrier */
};

struct perf_lines {
    double store_next, load, atomic; /* ns; below 0: the times contradict the model */
    uint32_t load_overlap;           /* 1 to 64; 0: of no time */
};

/* Fit the terms to the times, by least squares for each loop. store: ns, as in the description. */
struct perf_lines perf_lines_fit(double store, const struct perf_loop_time *times, size_t count);

#endif
