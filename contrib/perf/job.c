/* SPDX-License-Identifier: BSD-3-Clause */
/* What all parts of a measuring program of gba_perf share: the options, the job, and its end. */
#define _GNU_SOURCE /* the processors of a process */
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "contrib/perf/measure.h"

struct perf_options perf_options = {.batches = 31, .warmup = 1000, .batch_us = 2000};
struct perf_job perf_job = {.comm = MPI_COMM_WORLD};

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

void perf_meet(unsigned us)
{
    MPI_Request all;
    int done = 0;

    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    for (MPI_Test(&all, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&all, &done, MPI_STATUS_IGNORE))
        if (us > 0)
            usleep(us);
        else
            sched_yield();
}

void perf_use_processor(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        perf_fail("cannot run on processor %d", cpu);
}

void perf_pin(void)
{
    cpu_set_t allowed;
    int cpu = -1;

    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        perf_fail("cannot find out the processors");
    for (int skip = perf_job.rank % CPU_COUNT(&allowed); skip >= 0;
         skip -= CPU_ISSET(cpu, &allowed) != 0)
        cpu++;
    perf_use_processor(cpu);
}
