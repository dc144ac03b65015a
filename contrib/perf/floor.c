/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The floor: the minimum time of a barrier on one host, measured with the shortest possible loops.
 * Two ranks with a processor each exchange two flags. More ranks increment a central counter, and
 * yield while they wait if there are more ranks than processors. The loops run in the measured MPI
 * processes, so both figures include the cost of switching between processes of that size.
 */
#include <sched.h>

#include "contrib/perf/measure.h"
#include "gba/base/order.h"

/* Each word has a cache line of its own, two lines apart. */
struct floor_words {
    _Alignas(128) gba_word_t flag[2][16];
    _Alignas(128) gba_word_t arrived;
    _Alignas(128) gba_word_t release;
};

static struct floor_words *words;
static MPI_Win window;
static uint64_t round_now;

void perf_floor_init(void)
{
    MPI_Aint bytes;
    int unit;

    if (!perf_job.one_host)
        return;
    MPI_Win_allocate_shared(perf_job.rank == 0 ? (MPI_Aint)sizeof *words : 0, 1, MPI_INFO_NULL,
                            MPI_COMM_WORLD, &words, &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, &words);
    if (perf_job.rank == 0) {
        gba_word_store_relaxed(&words->flag[0][0], 0);
        gba_word_store_relaxed(&words->flag[1][0], 0);
        gba_word_store_relaxed(&words->arrived, 0);
        gba_word_store_relaxed(&words->release, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

void perf_floor_run(void)
{
    const uint64_t size = (uint64_t)perf_job.size;
    gba_word_t *awaited = &words->release;

    round_now++;
    if (size == 2 && !perf_job.yields) {
        gba_word_store_release(&words->flag[perf_job.rank][0], round_now);
        awaited = &words->flag[1 - perf_job.rank][0];
    } else if (gba_word_add_acq_rel(&words->arrived, 1) + 1 == round_now * size) {
        gba_word_store_release(&words->release, round_now);
        return;
    }
    while (gba_word_load_acquire(awaited) < round_now)
        if (perf_job.yields)
            sched_yield();
}

void perf_floor_fini(void)
{
    if (perf_job.one_host)
        MPI_Win_free(&window);
}
