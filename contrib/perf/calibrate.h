/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a calibration (gba_perf --calibrate). */
#ifndef CONTRIB_PERF_CALIBRATE_H
#define CONTRIB_PERF_CALIBRATE_H

#include "contrib/perf/measure.h"

/* Of the processors that this rank may use: the first, and one of another core of its socket; -1:
 * there is none. */
struct perf_processors {
    int first, near;
    int cores, sockets;
};

struct perf_processors perf_processors_find(void);

/* Measure memory, and a processor that two ranks share. Ranks 0 and 1, those of `two`, call it.
 * Returns the ns of `store`. */
double perf_calibrate_memory(const struct perf_processors *on, MPI_Comm two);

/* The first ranks on the host of rank 0, at most 8 and as many as it has processors. Returns
 * MPI_COMM_NULL on other ranks. Collective. */
MPI_Comm perf_lines_comm(const struct perf_processors *on);

/* Measure what an add to a shared word costs, and the noise. These ranks call it. store: ns. */
void perf_calibrate_lines(MPI_Comm few, double store);

/* Measure turns of all ranks of a machine, if there are more than two for each processor. hosts: of
 * that machine. Collective. Print them: rank 0, after the memory. poll: ns of a look that finds no
 * message; 0: not measured. */
void perf_calibrate_crowd(const struct perf_processors *on, int hosts);
void perf_put_crowd(double poll);

/* The ns of one MPI_Send of many. Two ranks call it, each with the other one. */
double perf_time_of_sends(int other);

/* Measure messages. Rank 0 and one other rank call it, each with the rank of the other one. Returns
 * the ns of a look that finds no message. */
double perf_calibrate_messages(int other);

#endif
