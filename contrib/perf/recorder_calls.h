/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of MPI besides barriers: where each thread is, and the time in collectives. A call
 * stores a few words in this process. A thread of the recorder looks at these words every tenth of
 * a second, and shows the calls that have become long on the status page of the process
 * (gba/stall.h).
 */
#ifndef CONTRIB_PERF_RECORDER_CALLS_H
#define CONTRIB_PERF_RECORDER_CALLS_H

#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

#include "contrib/perf/recorder.h"

#define RECORDER_SITE __builtin_return_address(0)

/* Where the program called the function MPI_* whose PMPI_* runs; NULL: it called PMPI_*. */
extern _Thread_local const void *recorder_outer_site;

/* A function MPI_* begins, with this frame. Returns whether no other one calls it: then it clears
 * recorder_outer_site at its end. */
bool recorder_outer_begin(const void *site, const void *frame);

/* The calls of a function. */
struct recorder_sum {
    int64_t calls, time; /* ns */
};

/* A call of this thread. */
struct recorder_doing {
    bool outer; /* no other call makes this one */
    struct recorder_sum *sum;
    struct recorder_visit visit;
};

/* Begin and end a call. name: a constant. sum: to which it is added; NULL:
 * none. comm: MPI_COMM_NULL: none. Threads: any number. */
void recorder_call_begin(struct recorder_doing *doing, const char *name, struct recorder_sum *sum,
                         MPI_Comm comm, const void *site);
void recorder_call_end(struct recorder_doing *doing);

/* Show the call that begins MPI, until gba_where_leave. Returns the number for that. */
int recorder_init_begin(const char *name, const void *site);

/* Begin to show calls. */
void recorder_calls_start(void);

/* Add up the sums of all ranks. Collective. */
void recorder_calls_end(void);

/* Write the records of all sums, each after the mark. span: the time of the run on all ranks, ns.
 */
void recorder_calls_write(FILE *file, const char *mark, double span);

/* A name of the call site, which is before the address to which the call returns: the file and an
 * offset; "": none. */
void recorder_site_name(const void *site, char *name, size_t bytes);

/* What follows this library's MPI_*: a wrapper of another library, which calls PMPI_*, or PMPI_* at
 * once. own: the name PMPI_*. */
void *recorder_next_of(const char *own);

/* The body of a function MPI_* of this library. */
#define RECORDER_FORWARD(function, ...)                                          \
    do {                                                                         \
        static __typeof__(P##function) *next;                                    \
        bool outer;                                                              \
        int rc;                                                                  \
                                                                                 \
        if (next == NULL)                                                        \
            *(void **)&next = recorder_next_of("P" #function);                   \
        outer = recorder_outer_begin(RECORDER_SITE, __builtin_frame_address(0)); \
        rc = next(__VA_ARGS__);                                                  \
        if (outer)                                                               \
            recorder_outer_site = NULL;                                          \
        return rc;                                                               \
    } while (0)

#endif
