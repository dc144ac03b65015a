/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers that are timed one by one. All ranks wait for the beginning of a time slice on
 * synchronised clocks, then enter, and each records the times of its entry and exit. Without slices
 * the skew of an exit would become the skew of the next entry.
 *
 *   sample       from the entry to the exit of one rank; for all ranks
 *   completion   from the last entry to the last exit: the cost of the barrier itself
 *   entry        from the first entry to the last one (skew)
 *   exit         from the first exit to the last one (skew)
 *
 * The last three compare clocks. The record "clock" has the error of that.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "contrib/perf/measure.h"

/* A time and its rank in one number, so that MPI_MAX finds both. */
#define RANK_BITS 20
/* Number of slices after one agreement on a beginning. A rank that loses its processor is late in
 * the remaining slices. */
#define BLOCK 25
/* Maximum number of ranks in the records of the last to enter or leave. */
#define LAST_MAX 16

enum kind { SAMPLE, COMPLETION, ENTRY, EXIT, KINDS };
static const char *const kinds[KINDS] = {"sample", "completion", "entry", "exit"};
static struct perf_histogram histograms[KINDS];

/* Values of a slice, in ns since the slice began. The largest of all ranks is the result, so values
 * of first times are negated. */
enum column { FIRST_ENTRY, LAST_ENTRY, FIRST_EXIT, LAST_EXIT, LATE, COLUMNS };

static int64_t with_rank(int64_t ns)
{
    return (ns > 0 ? ns : 0) << RANK_BITS | perf_job.rank;
}

/* One slice that begins at `begin` by this rank's clock. */
static void slice(const struct perf_call *call, int64_t begin, int64_t *column, int64_t samples)
{
    int64_t entered, left;

    column[LATE * samples] = perf_now() > begin;
    while (perf_now() < begin)
        if (perf_job.yields)
            sched_yield();
    perf_imbalance();
    entered = perf_now();
    call->run();
    left = perf_now();
    column[FIRST_ENTRY * samples] = begin - entered;
    column[LAST_ENTRY * samples] = with_rank(entered - begin);
    column[FIRST_EXIT * samples] = begin - left;
    column[LAST_EXIT * samples] = with_rank(left - begin);
    perf_histogram_add(&histograms[SAMPLE], (uint64_t)(left - entered));
}

static void add_difference(enum kind kind, int64_t from, int64_t to)
{
    /* The difference can be negative because of the errors of the clocks. */
    perf_histogram_add(&histograms[kind], to > from ? (uint64_t)(to - from) : 0);
}

/* Print the ranks that were most often last, the most frequent first. Changes the counts. */
static void print_last(const char *call, const char *what, uint32_t *counts, int64_t samples)
{
    for (int place = 0; place < LAST_MAX && place < perf_job.size; place++) {
        int last = 0;

        for (int rank = 1; rank < perf_job.size; rank++)
            if (counts[rank] > counts[last])
                last = rank;
        if (counts[last] == 0)
            break;
        printf("last %s %s %d %s %.4f\n", call, what, last, perf_job.names[last],
               (double)counts[last] / (double)samples);
        counts[last] = 0;
    }
}

static void print_histogram(const char *call, enum kind kind)
{
    const struct perf_histogram *h = &histograms[kind];

    printf("histogram %s %s %llu %llu", call, kinds[kind], (unsigned long long)h->min,
           (unsigned long long)h->max);
    for (uint32_t i = 0; i < PERF_BUCKETS; i++)
        if (h->buckets[i] > 0)
            printf(" %u:%llu", i, (unsigned long long)h->buckets[i]);
    putchar('\n');
}

/* On rank 0: make the histograms of the differences, and print all records. */
static void report(const char *call, const int64_t *columns, int64_t samples)
{
    const int64_t *first_entry = columns + FIRST_ENTRY * samples;
    const int64_t *last_entry = columns + LAST_ENTRY * samples;
    const int64_t *first_exit = columns + FIRST_EXIT * samples;
    const int64_t *last_exit = columns + LAST_EXIT * samples;
    uint32_t *enters = perf_alloc((size_t)perf_job.size, sizeof *enters);
    uint32_t *leaves = perf_alloc((size_t)perf_job.size, sizeof *leaves);
    int64_t late = 0;

    for (int64_t i = 0; i < samples; i++) {
        int64_t entered = last_entry[i] >> RANK_BITS, left = last_exit[i] >> RANK_BITS;

        add_difference(ENTRY, -first_entry[i], entered);
        add_difference(EXIT, -first_exit[i], left);
        add_difference(COMPLETION, entered, left);
        enters[last_entry[i] & ((1 << RANK_BITS) - 1)]++;
        leaves[last_exit[i] & ((1 << RANK_BITS) - 1)]++;
        late += columns[LATE * samples + i];
    }
    for (int kind = 0; kind < KINDS; kind++)
        print_histogram(call, (enum kind)kind);
    print_last(call, "entry", enters, samples);
    print_last(call, "exit", leaves, samples);
    printf("late %s %lld %lld\n", call, (long long)late, (long long)samples);
    free(enters);
    free(leaves);
}

/* Add the samples of all ranks to the histogram of rank 0. */
static void gather_samples(void)
{
    struct perf_histogram *h = &histograms[SAMPLE];
    uint64_t min = h->min, max = h->max;

    MPI_Reduce(perf_job.rank == 0 ? MPI_IN_PLACE : h->buckets, h->buckets, PERF_BUCKETS,
               MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&min, &h->min, 1, MPI_UINT64_T, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&max, &h->max, 1, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
}

/* Print the offset of the clocks from measurements before and after the slices. The offset used is
 * their mean, because it is assumed to change evenly. The change is part of the error. */
static void print_clocks(const char *call, const int64_t before[2], const int64_t after[2])
{
    int64_t drift = after[0] > before[0] ? after[0] - before[0] : before[0] - after[0];
    int64_t error = (before[1] > after[1] ? before[1] : after[1]) + drift;
    double offset = perf_largest((double)(before[0] > 0 ? before[0] : -before[0]));
    double largest = perf_largest((double)error);

    if (perf_job.rank == 0)
        printf("clock %s %.0f %.0f\n", call, offset, largest);
}

/* The time at which the next slices begin, by this rank's clock. Collective. */
static int64_t agree_begin(int64_t offset, int64_t length)
{
    int64_t begin = perf_now() + 100000 + 4 * length;

    MPI_Bcast(&begin, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    return begin + offset;
}

void perf_measure_slices(const struct perf_call *call, double latency_ns)
{
    int64_t samples = perf_options.samples, clock[2], clock_after[2], begin = 0, length;
    int64_t *columns = perf_alloc((size_t)samples, COLUMNS * sizeof *columns);

    for (int kind = 0; kind < KINDS; kind++)
        perf_histogram_init(&histograms[kind]);
    perf_clock_offset(&clock[0], &clock[1]);
    /* The length of four barriers; more where a rank must wait for its processor. */
    length = (int64_t)latency_ns - (int64_t)perf_options.imbalance_ns;
    length = 4 * (length > 0 ? length : 0) + 10000 + 2 * (int64_t)perf_options.imbalance_ns;
    MPI_Bcast(&length, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    for (int64_t i = 0; i < samples; i++) {
        if (i % BLOCK == 0)
            begin = agree_begin(clock[0], length);
        slice(call, begin + i % BLOCK * length, columns + i, samples);
    }
    perf_clock_offset(&clock_after[0], &clock_after[1]);
    MPI_Reduce(perf_job.rank == 0 ? MPI_IN_PLACE : columns, columns, (int)(COLUMNS * samples),
               MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    gather_samples();
    if (perf_job.rank == 0)
        report(call->name, columns, samples);
    print_clocks(call->name, clock, clock_after);
    free(columns);
}
