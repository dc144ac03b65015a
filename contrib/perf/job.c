/* SPDX-License-Identifier: BSD-3-Clause */
/* What all parts of a measuring program of gba_perf share: the options, the job, and its end. */
#define _GNU_SOURCE /* the processors of a process */
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "contrib/perf/measure.h"

struct perf_options perf_options = {
    .batches = 31, .samples = 1000, .warmup = 1000, .batch_us = 2000, .imbalance_rank = -1};
struct perf_job perf_job;

_Noreturn void perf_fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fprintf(stderr, "%s: ", perf_program);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

void *perf_alloc(size_t count, size_t bytes)
{
    void *memory = calloc(count > 0 ? count : 1, bytes);

    if (memory == NULL)
        perf_fail("out of memory (%zu objects of %zu bytes)", count, bytes);
    return memory;
}

double perf_largest(double mine)
{
    double all;

    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

void perf_pin(void)
{
    cpu_set_t allowed, one;
    int skip;

    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        perf_fail("--pin: cannot find out the processors");
    skip = perf_job.rank % CPU_COUNT(&allowed);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && skip >= 0; cpu++)
        if (CPU_ISSET(cpu, &allowed) && skip-- == 0)
            CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        perf_fail("--pin: cannot choose a processor");
}
