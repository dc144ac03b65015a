/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measuring programs of gba_perf. gba_perf_mpi and gba_perf_shmem differ in the calls that they
 * measure (perf_init, perf_calls). Both use MPI to coordinate a measurement, because shmem_init of
 * Open MPI also initializes MPI. All functions are for one thread. Rank 0 prints records for
 * gba_perf_report; records.c explains them.
 */
#ifndef CONTRIB_PERF_MEASURE_H
#define CONTRIB_PERF_MEASURE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "gba/base/clock.h"

struct perf_options {
    uint32_t batches;      /* timed batches of each call, 1 to 1001 */
    uint32_t warmup;       /* of each call before the first batch, 1 to 1000000 */
    uint32_t batch_us;     /* the length of a batch, 10 to 1000000 us */
    uint32_t imbalance_ns; /* delay of the late rank, 0 to 1e9; 0: no rank is late */
    bool calibrate;        /* print a description of the cluster; measure no calls */
    const char *device;    /* a device path, for the calibration; NULL: none */
};

/* An operation of rank 0 which the last rank serves while it waits in a barrier. */
struct perf_service {
    const char *name;
    void (*run)(const struct perf_service *service);
    int bytes;
    int posts;   /* 1: the last rank has posted receives, 2: sends, too */
    bool window; /* the operation is on a window */
};

/* The last name is NULL. */
extern const struct perf_service perf_services_mpi[];

/* A collective call that can be measured. */
struct perf_call {
    const char *name;
    bool (*init)(void); /* collective; false: this Open MPI lacks it. NULL: nothing to do */
    void (*run)(void);
    void (*fini)(void); /* collective, after an init that was true. NULL: nothing to do */
    bool heavy;         /* costs 100 times a barrier: a tenth of the warm-up */
    bool nonblocking;   /* MPI_Ibarrier: blocking barriers come first */
    bool no_floor;      /* the call is not a barrier, so it has no floor */
    const struct perf_service *services; /* measured instead of the call, if not NULL */
};

/* The job, and the place of this process in it. */
struct perf_job {
    MPI_Comm comm; /* all ranks: MPI_COMM_WORLD, or a copy */
    int rank, size;
    int hosts;        /* number of hosts with ranks */
    bool one_host;    /* all ranks share the memory of a host */
    bool yields;      /* some host has more ranks than processors */
    int64_t timer_ns; /* from one reading of the clock to the next */
};

extern struct perf_options perf_options;
extern struct perf_job perf_job;

/* gba_perf_mpi and gba_perf_shmem define these: the name of the program, start and end of MPI and
 * OpenSHMEM, and the calls. The first call is the barrier of all ranks. The name of the last call
 * is NULL. */
extern const char perf_program[];
extern const struct perf_call perf_calls[];
void perf_init(int *argc, char ***argv);
void perf_fini(void);

/* This rank's clock, in ns: CLOCK_MONOTONIC. */
static inline int64_t perf_now(void)
{
    return (int64_t)gba_clock_ns();
}

/* The largest value of all ranks, on all ranks. Collective. */
double perf_largest(double mine);

/* Wait until all ranks call it. us: the sleep between two tests; 0: yield. */
void perf_meet(unsigned us);

/* This rank stays on that processor. */
void perf_use_processor(int cpu);

/* This rank, r, stays on processor r modulo those that it may use. */
void perf_pin(void);

/* Print an error and end the job. */
_Noreturn void perf_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Allocate count zeroed objects. Ends the job if out of memory. */
void *perf_alloc(size_t count, size_t bytes);

/*
 * Measure the difference between this rank's clock and that of rank 0. *offset: this clock minus
 * that of rank 0; *error: the maximum error of *offset, half of the shortest of many round trips;
 * both in ns. A rank on rank 0's host has the same clock, so both are 0 unless the measurement
 * contradicts that. Collective.
 */
void perf_clock_offset(int64_t *offset, int64_t *error);

/* A loop that is a barrier of one host, and nothing else. */
struct perf_floor {
    const char *name;
    void (*run)(void); /* collective */
};
#define PERF_FLOORS 4 /* at most */

/* The loops of which one is the floor; the last name is NULL. None if there are several hosts. */
const struct perf_floor *perf_floors(void);

/* The memory of the loops: set up, and clean up. Collective. */
void perf_floor_init(void);
void perf_floor_fini(void);

/* Delay a rank by the time of the options; late: this one, -1: a random one. All ranks call it the
 * same number of times. */
void perf_imbalance(int late);

/* Run a batch of count calls. Returns the ns for each call on this rank. Collective. */
double perf_batch(void (*run)(void), uint32_t count);

/* Print a description of the cluster, for gba_predict. Collective. */
void perf_calibrate(void);

/* Measure a call and print its records. Collective. */
void perf_measure(const struct perf_call *call);

/* Measure each service and print its batches, at most as many as the options say. Collective. */
void perf_measure_served(const struct perf_service *services);

/* Print "NAME CALL V V ...", where each value is the largest of all ranks. call: for the floor
 * "CALL LOOP". Collective. */
void perf_print_series(const char *name, const char *call, double *series, uint32_t count);

/* Print a line of the description of a cluster (calibrate.c), with the origin of its value. Only
 * rank 0 prints. */
void perf_put(const char *key, double value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Run as many batches as the options say. Both ranks of a pair call it alike. Returns the first
 * quartile of what they return, because a longer batch may have been interrupted, and the noise is
 * measured by itself.
 */
double perf_time_of(double (*batch)(void));

#endif
