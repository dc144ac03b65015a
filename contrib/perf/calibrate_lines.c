/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of a calibration with a core for each rank: barriers of 2, 4 and 8 ranks by a counter,
 * and the noise of a core whose rank waits in barriers. A rank that computes while the others sleep
 * can find other noise: 16% of the time on 16 cores of a virtual machine, of which barriers had
 * none.
 */
#define _GNU_SOURCE /* the processors of a process */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/perf/calibrate.h"
#include "gba/base/order.h"

#define RANKS_MOST 8
#define ROUNDS     1000       /* in a batch */
#define NOISE_NS   320000000  /* of noise, for each batch of the options */
#define GAP_NS     1000       /* a longer one between two readings of the clock interrupts a rank */
#define STOP       UINT64_MAX /* a release: the last round */

struct line {
    _Alignas(64) gba_word_t word;
};

/* The memory of a rank. */
struct rank_lines {
    struct line flag, release, sum;
};

static struct rank_lines *ranks;
static int size, rank; /* of the barriers */
static uint64_t round_now, adds;

static void await(const gba_word_t *word)
{
    while (gba_word_load_acquire(word) < round_now)
        gba_cpu_pause();
}

static void counter(void)
{
    adds += (uint64_t)size;
    if (gba_word_add_acq_rel(&ranks[0].sum.word, 1) + 1 == adds)
        gba_word_store_release(&ranks[0].release.word, round_now);
    await(&ranks[0].release.word);
}

static double batch(void)
{
    const int64_t began = perf_now();

    for (int i = 0; i < ROUNDS; i++) {
        round_now++;
        counter();
    }
    return (double)(perf_now() - began) / ROUNDS;
}

/* ----------------------------------------------------------------------------------- noise --- */

static struct {
    int64_t began, last; /* readings of the clock */
    int64_t count, lost; /* interruptions, and their time */
} noise;

/* Read the clock again. */
static void look(void)
{
    const int64_t now = perf_now(), length = now - noise.last - perf_job.timer_ns;

    if (length > GAP_NS) {
        noise.count++;
        noise.lost += length;
    }
    noise.last = now;
}

/* Rank 0 releases rounds until it has looked for `ns`. */
static void noise_find(int64_t ns)
{
    bool stops = false;

    noise.began = noise.last = perf_now();
    while (!stops) {
        round_now++;
        for (int i = 1; i < size; i++)
            while (gba_word_load_acquire(&ranks[i].flag.word) < round_now)
                look();
        look();
        stops = noise.last - noise.began >= ns;
        gba_word_store_release(&ranks[0].release.word, stops ? STOP : round_now);
    }
}

static void noise_suffer(void)
{
    do {
        round_now++;
        gba_word_store_release(&ranks[rank].flag.word, round_now);
        await(&ranks[0].release.word);
    } while (gba_word_load_acquire(&ranks[0].release.word) != STOP);
}

static void noise_measure(void)
{
    double seconds;

    if (rank != 0) {
        noise_suffer();
        return;
    }
    noise_find((int64_t)perf_options.batches * NOISE_NS);
    seconds = (double)(noise.last - noise.began) / 1e9;
    perf_put("noise_rate", (double)(int64_t)((double)noise.count / seconds),
             "%lld interruptions of more than %d ns in %.1f s of barriers of %d ranks",
             (long long)noise.count, GAP_NS, seconds, size);
    perf_put("noise_length", noise.count > 0 ? (double)noise.lost / (double)noise.count : 0,
             "their mean, %.3f%% of the time", (double)noise.lost / seconds / 1e7);
}

/* ------------------------------------------------------------------------------------- all --- */

/* Measure the counter of the first `members` ranks. Returns its time on these. Collective. */
static double counter_measure(MPI_Comm few, int members)
{
    double ns = 0;

    /* The other ranks have not counted. */
    MPI_Bcast(&round_now, 1, MPI_UINT64_T, 0, few);
    adds = gba_word_load_acquire(&ranks[0].sum.word);
    size = members;
    MPI_Barrier(few);
    if (rank < members)
        ns = perf_time_of(batch);
    MPI_Barrier(few);
    return ns;
}

/* The time of an add is the slope over the ranks but one, by least squares. */
static void loops_measure(MPI_Comm few, int members, double store)
{
    double xx = 0, xy = 0, ns = 0;
    int last = 0;

    for (int n = 2; n <= members; n *= 2, last = n / 2) {
        ns = counter_measure(few, n);
        xx += (n - 1) * (n - 1);
        xy += (n - 1) * (ns - store);
    }
    if (last > 0 && store > 0)
        perf_put("atomic", xy / xx, "%d ranks add to one word: %.0f ns", last, ns);
}

MPI_Comm perf_lines_comm(const struct perf_processors *on)
{
    int first = perf_job.rank, members;
    MPI_Comm host, few;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Bcast(&first, 1, MPI_INT, 0, host);
    MPI_Comm_rank(host, &rank);
    members = on->cores < RANKS_MOST ? on->cores : RANKS_MOST;
    MPI_Comm_split(host, first == 0 && rank < members ? 0 : MPI_UNDEFINED, 0, &few);
    MPI_Comm_free(&host);
    return few;
}

void perf_calibrate_lines(MPI_Comm few, double store)
{
    cpu_set_t allowed;
    MPI_Win window;
    MPI_Aint bytes;
    int members, unit;

    MPI_Comm_size(few, &members);
    MPI_Win_allocate_shared(rank == 0 ? (MPI_Aint)sizeof *ranks * members : 0, 1, MPI_INFO_NULL,
                            few, &ranks, &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, &ranks);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        perf_fail("cannot find out the processors of a rank");
    perf_pin();
    memset((void *)&ranks[rank], 0, sizeof *ranks);
    MPI_Barrier(few);
    loops_measure(few, members, store);
    MPI_Bcast(&round_now, 1, MPI_UINT64_T, 0, few);
    size = members;
    noise_measure();
    sched_setaffinity(0, sizeof allowed, &allowed);
    MPI_Win_free(&window);
}
