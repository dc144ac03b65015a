/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The floor: the minimum time of a barrier on one host. It is the fastest of the shortest possible
 * loops, because none is the fastest for every number of ranks and every machine. With a processor
 * for each rank these are radix-k dissemination, with two ranks an exchange of two flags, and a
 * leader that reads a flag of each rank and stores a release word. With more ranks than processors
 * a central counter, whose ranks yield while they wait. The loops run in the measured MPI
 * processes, so all figures include the cost of switching between processes of that size.
 */
#include <sched.h>
#include <string.h>

#include "contrib/perf/measure.h"
#include "gba/base/order.h"

#define RADIX_MAX  8u
#define ROUNDS_MAX 32u /* of a job of 2^32 ranks with radix 2 */

/* Each word has a cache line of its own, two lines apart. */
struct line {
    _Alignas(128) gba_word_t word;
};

/* The memory of one rank. A rank may be one barrier ahead, so the signals of two barriers in turn
 * have slots of their own. */
struct rank_lines {
    struct line signal[2][ROUNDS_MAX][RADIX_MAX - 1];
    struct line flag, arrived, release; /* the last two: of rank 0 */
};

static struct rank_lines *ranks;
static MPI_Win window;
static uint64_t round_now;

static void await(gba_word_t *word)
{
    while (gba_word_load_acquire(word) < round_now)
        gba_cpu_pause();
}

/* A round: a signal to, and one from, each of the ranks at 1 to k - 1 times `distance`. */
static void radix_round(uint32_t k, uint32_t number, uint64_t distance)
{
    const uint64_t size = (uint64_t)perf_job.size, rank = (uint64_t)perf_job.rank;

    for (uint64_t i = 1; i < k && i * distance < size; i++)
        gba_word_store_release(
            &ranks[(rank + i * distance) % size].signal[round_now & 1][number][i - 1].word,
            round_now);
    for (uint64_t i = 1; i < k && i * distance < size; i++)
        await(&ranks[rank].signal[round_now & 1][number][i - 1].word);
}

static void radix(uint32_t k)
{
    uint32_t number = 0;

    round_now++;
    for (uint64_t distance = 1; distance < (uint64_t)perf_job.size; distance *= k)
        radix_round(k, number++, distance);
}

static void radix2(void)
{
    radix(2);
}

static void radix4(void)
{
    radix(4);
}

static void radix8(void)
{
    radix(8);
}

static void leader(void)
{
    round_now++;
    if (perf_job.rank != 0) {
        gba_word_store_release(&ranks[perf_job.rank].flag.word, round_now);
        await(&ranks[0].release.word);
        return;
    }
    for (int i = 1; i < perf_job.size; i++)
        await(&ranks[i].flag.word);
    gba_word_store_release(&ranks[0].release.word, round_now);
}

/* The count of all loops goes on, so each barrier adds the ranks to what the last one left. */
static void counter(void)
{
    static uint64_t arrivals;

    round_now++;
    arrivals += (uint64_t)perf_job.size;
    if (gba_word_add_acq_rel(&ranks[0].arrived.word, 1) + 1 == arrivals)
        gba_word_store_release(&ranks[0].release.word, round_now);
    while (gba_word_load_acquire(&ranks[0].release.word) < round_now)
        sched_yield();
}

static const struct perf_floor cores[] = {
    {"radix2", radix2}, {"radix4", radix4}, {"radix8", radix8}, {"leader", leader}, {NULL, NULL}};
static const struct perf_floor shared[] = {{"counter", counter}, {NULL, NULL}};
static const struct perf_floor none[] = {{NULL, NULL}};

const struct perf_floor *perf_floors(void)
{
    return !perf_job.one_host ? none : perf_job.yields ? shared : cores;
}

void perf_floor_init(void)
{
    MPI_Aint bytes;
    int unit;

    if (!perf_job.one_host)
        return;
    MPI_Win_allocate_shared(perf_job.rank == 0 ? (MPI_Aint)sizeof *ranks * perf_job.size : 0, 1,
                            MPI_INFO_NULL, MPI_COMM_WORLD, &ranks, &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, &ranks);
    /* Each rank touches its own memory first, so that it is near. */
    memset(&ranks[perf_job.rank], 0, sizeof *ranks);
    MPI_Barrier(MPI_COMM_WORLD);
}

void perf_floor_fini(void)
{
    if (perf_job.one_host)
        MPI_Win_free(&window);
}
