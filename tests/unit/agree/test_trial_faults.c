/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trial makes nothing worse than the time that it takes. One member is stopped for longer than
 * any limit, delayed, or fails, at each step of each batch of each pass, for each kind of path:
 * between the barriers of a batch, and in the middle of each. No member leaves a barrier early, all
 * have the same path after each trial, and no run hangs (tests/unit/team/team_harness.c).
 *
 * The clock is the test's: a barrier of a group is the fastest, so the trial takes a group that is
 * not lost. While a member is stopped or has failed, time passes for those that read the clock.
 *
 * GBA_TEST_STRIDE: each n-th fault only; 1: all.
 */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>

#include "gba/agree/agree.h"
#include "tests/unit/team/team_harness.h"

#define GROUP_NS    5000u
#define SOFTWARE_NS 8000u
#define FALLBACK_NS 9000u
#define READING_NS  50000000u             /* while a member is missing */
#define STOPPED_NS  UINT64_C(40000000000) /* beyond all limits */

enum what { STOPPED, FAILS, DELAYED, FAULTS };

static struct {
    uint32_t size, member, batch, barrier; /* where; batch: of this member, from 1 */
    enum what what;
    bool middle; /* the member has arrived */
    gba_word_t done, missing, votes;
} fault;

static _Thread_local uint64_t now = UINT64_C(1000000000000);
static _Thread_local uint32_t batch, barrier;

/* ------------------------------------------------------------------ in place of the library --- */

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int clock_gettime(clockid_t id, struct timespec *time)
{
    if (CLOCK_MONOTONIC != id)
        return (int)syscall(SYS_clock_gettime, id, time);
    if (0 != gba_word_load_relaxed(&fault.missing))
        now += READING_NS;
    time->tv_sec = (time_t)(now / 1000000000u);
    time->tv_nsec = (long)(now % 1000000000u);
    return 0;
}

gba_status_t __real_thread_oob_barrier(const gba_oob_t *oob);
gba_status_t __wrap_thread_oob_barrier(const gba_oob_t *oob);
gba_status_t __wrap_thread_oob_barrier(const gba_oob_t *oob)
{
    now += FALLBACK_NS;
    return __real_thread_oob_barrier(oob);
}

gba_status_t __real_gba_barrier_wait(gba_team_t *team);
gba_status_t __wrap_gba_barrier_wait(gba_team_t *team);

/* The others cannot continue without this member, or have completed the batch. */
static void member_stop(void)
{
    gba_word_store_relaxed(&fault.missing, 1);
    while (gba_word_load_acquire(&fault.votes) < fault.size - 1)
        usleep(50);
    now += STOPPED_NS;
}

static gba_status_t faulty_barrier(gba_team_t *team)
{
    gba_status_t status = GBA_OK;

    gba_word_store_relaxed(&fault.votes, 0);
    gba_word_store_release(&fault.done, 1);
    if (fault.middle)
        status = gba_barrier_start(team);
    if (STOPPED == fault.what)
        member_stop();
    else if (DELAYED == fault.what)
        usleep(300);
    if (FAILS == fault.what) {
        gba_word_store_relaxed(&fault.missing, 1);
        return GBA_ERR_IO;
    }
    if (!fault.middle)
        return __real_gba_barrier_wait(team);
    while (GBA_OK == status && GBA_INPROGRESS == (status = gba_barrier_progress(team))) {
        usleep(10);
        status = GBA_OK;
    }
    return status;
}

/* A team without an agreement is that of a batch. */
gba_status_t __wrap_gba_barrier_wait(gba_team_t *team)
{
    if (team->agreement != NULL)
        return __real_gba_barrier_wait(team);
    barrier = 0 == gba_team_rounds(team) ? 0 : barrier + 1;
    batch += 0 == barrier;
    now += GBA_PATH_SIM == team->kind ? GROUP_NS : SOFTWARE_NS;
    if (team->rank == fault.member && batch == fault.batch && barrier == fault.barrier)
        return faulty_barrier(team);
    return __real_gba_barrier_wait(team);
}

/* Time passes until all have voted. */
static void votes_count(void)
{
    if (0 != gba_word_load_acquire(&fault.done) &&
        gba_word_add_acq_rel(&fault.votes, 1) + 1 == fault.size)
        gba_word_store_relaxed(&fault.missing, 0);
}

/* ---------------------------------------------------------------------------- the kinds --- */

enum kind { ONE_HOST, HOSTS, HOSTS_DEVICE_FIRST, SWITCHES, SWITCHES_DEVICE_FIRST };

static struct harness *harness_of(enum kind kind, uint32_t size)
{
    const bool switches = kind >= SWITCHES;
    struct harness *w = switches ? harness_of_domains("sim", "sim", NULL) : harness_on("sim");

    if (switches)
        harness_place(w, size, size, 2, 0);
    else
        harness_hosts(w, size, ONE_HOST == kind ? 1 : 2, 0);
    w->accounts = false;
    w->past = true;
    w->own_barrier = ONE_HOST == kind;
    w->params.offload = GBA_OFFLOAD_FASTEST;
    w->params.min_hosts = HOSTS_DEVICE_FIRST == kind || SWITCHES_DEVICE_FIRST == kind ? 2 : 100;
    w->params.trial_after = 2;
    w->params.trial_test = 1;
    w->params.stuck_after = 0;
    w->votes = votes_count;
    w->rounds = 9; /* passes after 2, 4 and 6 */
    return w;
}

static void run(enum kind kind, uint32_t size)
{
    struct harness *w = harness_of(kind, size);

    fault.size = size;
    gba_word_store_relaxed(&fault.done, 0);
    gba_word_store_relaxed(&fault.missing, 0);
    harness_run(w, size, HARNESS_ANY_PATH);
    assert_int_equal(w->stats[0].failovers, 0);
    assert_true(w->stats[0].trials > 0);
    if (DELAYED == fault.what || 0 == gba_word_load_relaxed(&fault.done))
        assert_int_equal(w->path[0], GBA_PATH_SIM);
    harness_end(w);
}

/* All faults of a kind of path, or each n-th. */
static void sweep(enum kind kind, uint32_t size)
{
    const char *text = getenv("GBA_TEST_STRIDE");
    const uint32_t stride = text == NULL ? 97 : (uint32_t)atoi(text);
    uint32_t number = 0, runs = 0;
    bool more = true;

    for (uint32_t at = 1; more; at++) {
        for (uint32_t step = 0; step < 15; step++)
            for (uint32_t way = 0; way < 2 * FAULTS && more; way++) {
                fault.batch = at;
                fault.barrier = step;
                fault.what = (enum what)(way / 2);
                fault.middle = way % 2;
                fault.member = number % size;
                if (0 != number++ % stride)
                    continue;
                run(kind, size);
                runs++;
                more = 0 != gba_word_load_relaxed(&fault.done);
            }
    }
    print_message("%u of %u faults\n", runs, number);
    assert_true(number > 6 * 15 * 6);
}

TEST(test_on_one_host)
{
    for (uint32_t size = 2; size <= 4; size++)
        sweep(ONE_HOST, size);
}

TEST(test_on_hosts)
{
    for (uint32_t size = 2; size <= 4; size++)
        sweep(HOSTS, size);
}

TEST(test_on_hosts_with_a_group)
{
    for (uint32_t size = 2; size <= 4; size++)
        sweep(HOSTS_DEVICE_FIRST, size);
}

TEST(test_on_switches)
{
    for (uint32_t size = 3; size <= 4; size++) /* with two members no switch has two hosts */
        sweep(SWITCHES, size);
}

TEST(test_on_switches_with_a_group)
{
    for (uint32_t size = 3; size <= 4; size++)
        sweep(SWITCHES_DEVICE_FIRST, size);
}

TEST_MAIN()
