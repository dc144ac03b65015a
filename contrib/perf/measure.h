/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measuring programs of gba_perf. gba_perf_mpi and gba_perf_shmem differ in the calls that they
 * offer (perf_init, perf_calls). Both use MPI for what is around a measurement: shmem_init of Open
 * MPI initializes MPI, too. One thread calls all of this. Rank 0 prints records, a line each, which
 * gba_perf_report reads; records.c explains them.
 */
#ifndef CONTRIB_PERF_MEASURE_H
#define CONTRIB_PERF_MEASURE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "contrib/perf/stats.h"

#define PERF_HOST_BYTES 64

struct perf_options {
    uint32_t batches;       /* timed batches of each call, 1 to 1001 */
    uint32_t samples;       /* barriers that are timed one by one, 0 to 1000000 */
    uint32_t warmup;        /* of each call before the first batch, 1 to 1000000 */
    uint32_t batch_us;      /* the length of a batch, 10 to 1000000 us */
    int64_t imbalance_ns;   /* a rank is late by this much, 0 to 1e9; 0: none is */
    int64_t imbalance_rank; /* which one; -1: another one at each barrier, the same on all ranks */
};

/* A collective call that can be measured. */
struct perf_call {
    const char *name;
    bool (*init)(void); /* collective; false: this Open MPI lacks it. NULL: nothing to do */
    void (*run)(void);
    void (*fini)(void); /* collective, after an init that was true. NULL: nothing to do */
    bool heavy;         /* costs 100 times a barrier: a tenth of the warm-up */
    bool nonblocking;   /* MPI_Ibarrier: the overlap is measured, too */
    bool no_floor;      /* the floor of a barrier means nothing here */
};

/* This process among the others. */
struct perf_job {
    int rank, size;
    int hosts;                      /* on which there are ranks */
    bool one_host;                  /* all ranks share the memory of a host */
    bool yields;                    /* some host has more ranks than processors */
    int64_t timer_ns;               /* from one reading of the clock to the next */
    char (*names)[PERF_HOST_BYTES]; /* on rank 0: the host of each rank */
};

extern struct perf_options perf_options;
extern struct perf_job perf_job;

/* Of gba_perf_mpi or gba_perf_shmem: the name of the program, start and end of MPI and OpenSHMEM,
 * and the calls; the name of the last one is NULL. */
extern const char perf_program[];
extern const struct perf_call perf_calls[];
void perf_init(int *argc, char ***argv);
void perf_fini(void);

/* This rank's clock, in ns: CLOCK_MONOTONIC. */
static inline int64_t perf_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The largest value of all ranks, on all ranks. Collective. */
double perf_largest(double mine);

/* Print an error and end the job. */
_Noreturn void perf_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Memory for count objects, zeroed; the job ends if there is none. */
void *perf_alloc(size_t count, size_t bytes);

/*
 * The difference between this rank's clock and that of rank 0: *offset is what this clock shows
 * more, *error how far off that can be, both in ns. Half of the shortest of many round trips
 * bounds the error. 0 and 0 for a rank on rank 0's host, whose clock is the same; a measurement
 * which contradicts that counts instead. Collective.
 */
void perf_clock_offset(int64_t *offset, int64_t *error);

/* The floor of a barrier on one host: prepare and end it, which is collective, and one round. Only
 * if all ranks are on one host. */
void perf_floor_init(void);
void perf_floor_run(void);
void perf_floor_fini(void);

/* Make one rank late, as the options say. All ranks call it equally often. */
void perf_imbalance(void);

/* ns of one of count calls, on this rank. Collective. */
double perf_batch(void (*run)(void), uint32_t count);

/* Measure a call and print its records. perf_measure includes all of the other three. Collective.
 */
void perf_measure(const struct perf_call *call);
void perf_measure_batches(const struct perf_call *call);
void perf_measure_slices(const struct perf_call *call, double latency_ns);
void perf_measure_overlap(uint32_t count); /* count: calls in a batch */

/* Print "NAME CALL V V ..." of a series that all ranks have: of each value the slowest rank's.
 * Sorts the series. Returns the median, on all ranks. Collective. */
double perf_print_series(const char *name, const char *call, double *series, uint32_t count);

#endif
