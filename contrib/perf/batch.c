/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A batch is a series of calls without a reading of the clock between them. Its time is that of the
 * slowest rank. All ranks make the same number of calls in a batch.
 */
#include "contrib/perf/measure.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Random numbers, the same on all ranks (splitmix64). */
static uint64_t shared_random(void)
{
    static uint64_t state;
    uint64_t z = (state += UINT64_C(0x9E3779B97F4A7C15));

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

void perf_imbalance(int late)
{
    int64_t until;

    if (perf_options.imbalance_ns == 0)
        return;
    if (late < 0)
        late = (int)(shared_random() % (uint64_t)perf_job.size);
    if (late != perf_job.rank)
        return;
    until = perf_now() + perf_options.imbalance_ns;
    while (perf_now() < until)
        ;
}

double perf_batch(void (*run)(void), uint32_t count)
{
    int64_t began;

    /* Two barriers, because the ranks leave the first one at different times. */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    began = perf_now();
    for (uint32_t i = 0; i < count; i++)
        run();
    return (double)(perf_now() - began) / count;
}

void perf_print_series(const char *name, const char *call, double *series, uint32_t count)
{
    MPI_Allreduce(MPI_IN_PLACE, series, (int)count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (perf_job.rank == 0) {
        printf("%s %s", name, call);
        for (uint32_t i = 0; i < count; i++)
            printf(" %.1f", series[i]);
        putchar('\n');
    }
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double perf_time_of(double (*batch)(void))
{
    double *series = perf_alloc(perf_options.batches, sizeof *series), quartile;

    (void)batch();
    for (uint32_t i = 0; i < perf_options.batches; i++)
        series[i] = batch();
    qsort(series, perf_options.batches, sizeof *series, compare);
    quartile = series[perf_options.batches / 4];
    free(series);
    return quartile;
}

void perf_put(const char *key, double value, const char *format, ...)
{
    char comment[200];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(comment, sizeof comment, format, arguments);
    va_end(arguments);
    if (perf_job.rank == 0)
        printf("cluster %s = %.10g # %s\n", key,
               value < 0 ? 0 : (double)(int64_t)(value * 1000) / 1000, comment);
}
