/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers of a team. gba_barrier_wait is the fast path: one call of the path's attempt, which
 * stores the arrival and polls the release, and one count. The rest is for barriers that take
 * longer, run in steps, or have a failed device.
 */
#include "gba/team/barrier.h"

#include <sched.h>
#include <time.h>

#include "gba/base/clock.h"
#include "gba/base/park.h"
#include "gba/failover/failover.h"
#include "gba/path/path_hybrid.h"
#include "gba/team/wait.h"
#include "gba/team/watchdog.h"

/* The first sleep of a member that leaves the core to its node's leader, see wait_may_park. Other
 * work of its process that needs progress is delayed by no more than this. */
#define PARK_NS 50000u

/* A sleep that nothing ends early lasts this part of the time waited so far, and at most
 * GBA_WAIT_SLEEP_NS. So it prolongs no wait by more than that part. */
#define NAP_PART 8u

static gba_status_t barrier_begin(gba_team_t *team)
{
    team->under_way = true;
    if (__builtin_expect(gba_failover_failed(team), 0))
        return gba_failover_start(team);
    return team->path->ops->start(team->path);
}

gba_status_t gba_barrier_start(gba_team_t *team)
{
    if (gba_team_has_left(team))
        return GBA_ERR_STALE;
    team->use.stepped = team->use.steps = true;
    return barrier_begin(team);
}

/* Whether the current round has ended. */
static gba_status_t barrier_look(struct gba_team *team)
{
    if (__builtin_expect(gba_failover_failed(team), 0))
        return gba_failover_test(team);
    return team->path->ops->test(team->path);
}

static gba_status_t barrier_test(struct gba_team *team)
{
    gba_status_t status = barrier_look(team);

    /* The round is counted once, however often the caller tests. The next agreement compares these
     * counts, and one too many would let other members leave a round that has not ended. */
    if (GBA_OK == status && team->under_way) {
        team->under_way = false;
        (void)gba_team_complete(team);
        gba_watchdog_end(team);
        /*
         * From the next round on a member of a failed team does not arrive at the device. The
         * sequence there may be behind the team's rounds: this member bypassed the device in this
         * round, or notifications completed the round before its own arrival was sent. A release of
         * an earlier round would then complete a later one.
         */
        if (gba_failover_failed(team))
            gba_barrier_init(team);
    }
    return status;
}

static gba_status_t barrier_progress(struct gba_team *team)
{
    struct gba_path_base *path = team->path;
    gba_status_t status = GBA_OK;

    if (path->hybrid != NULL)
        status = gba_path_hybrid_progress(path->hybrid);
    if (GBA_OK == status)
        status = barrier_test(team);
    return GBA_INPROGRESS == status ? gba_watchdog_check(team) : status;
}

/* ----------------------------------------------------------------------------- steps --- */

/* Whether the steps of this team notify: its device has failed, and it has nonblocking barriers,
 * which no call ends. (A team of a trial has neither.) */
static bool steps_notify(const struct gba_team *team)
{
    return __builtin_expect(gba_failover_failed(team), 0) && gba_degraded_ready(team) &&
           team->runtime.notify != NULL;
}

/* A step has returned `status`, perhaps the last step for a long time: send and take what there is.
 * The barrier is complete when this member owes no notification any more. */
static gba_status_t step_notify(struct gba_team *team, gba_status_t status)
{
    const gba_runtime_t *runtime = &team->runtime;

    if (GBA_ERR_DEAD == status) {
        status = runtime->notify(runtime->ctx, false);
        if (status >= GBA_OK)
            status = barrier_test(team);
    }
    return GBA_OK == status ? runtime->notify(runtime->ctx, true) : status;
}

gba_status_t gba_barrier_progress(gba_team_t *team)
{
    gba_status_t status = barrier_progress(team);

    return steps_notify(team) ? step_notify(team, status) : status;
}

gba_status_t gba_barrier_test(gba_team_t *team)
{
    gba_status_t status;

    if (steps_notify(team))
        return gba_barrier_progress(team);
    status = barrier_test(team);
    /* The device may have failed meanwhile, such as by a notification that another thread took. */
    return GBA_OK == status && steps_notify(team) ? step_notify(team, status) : status;
}

/* -------------------------------------------------------------------------- waiting --- */

static bool wait_yields(const struct gba_team *team)
{
    return gba_wait_yields(team->waiting.mode, team->waiting.oversubscribed);
}

/* The number of polls between two calls of the runtime's progress, if the member spins. */
static uint32_t spins_of(const struct gba_path_base *path)
{
    const struct gba_local_state *state = path->state;

    return state != NULL && 0 != state->ops->spins ? state->ops->spins : GBA_WAIT_SPINS;
}

/* The number of tests in one attempt of the team's path, 1 or more; see gba_path_ops.attempt. */
static uint32_t attempt_spins(const struct gba_team *team)
{
    return wait_yields(team) ? 1 : spins_of(team->path);
}

/*
 * Whether this member may sleep at once until its node's leader wakes it: if other work needs the
 * core, see busy.h. The leader needs a core to receive from other hosts, and members that test and
 * yield would take it again and again. If no other work needs it, polling is faster, because the
 * wake-ups cost more than the turns. (If all members are on one host, testing is always faster.)
 */
static bool wait_may_park(const struct gba_team *team)
{
    return team->path->waits_for_leader && GBA_WAIT_AUTO == team->waiting.mode && wait_yields(team);
}

static uint64_t awaited_load(const struct gba_awaited *awaited)
{
    return awaited->flag != NULL ? gba_flag_load_relaxed(awaited->flag)
                                 : gba_word_load_relaxed(awaited->word);
}

static void awaited_park(const struct gba_awaited *awaited, uint64_t seen, uint64_t timeout)
{
    if (awaited->flag != NULL)
        gba_flag_park(awaited->flag, seen, timeout, awaited->sleepers);
    else
        gba_word_park(awaited->word, seen, timeout, awaited->sleepers);
}

/* The next sleep of a member that has waited since `began` and may sleep for `most` ns. A lost
 * arrival or release wakes no member, so the member is awake when a reading of the registers is
 * due.
 */
static uint64_t wait_nap(const struct gba_team *team, uint64_t most, uint64_t now)
{
    uint64_t patience = gba_watchdog_patience(team, now);

    return patience < most ? patience : most;
}

/* Sleep until the device wakes this member, for at most `most` ns. If it wakes no process, and for
 * the runtime's messages (state: NULL), take a nap. */
static void wait_device(const struct gba_local_state *state, uint64_t waited, uint64_t most)
{
    uint64_t part = waited / NAP_PART;
    const struct timespec nap = {.tv_nsec = part < most ? (long)part : (long)most};

    if (state == NULL || GBA_OK != state->ops->sleep(state->membership, state->sequence, most))
        nanosleep(&nap, NULL);
}

/*
 * Sleep for at most `most` ns, because the runtime's messages need progress. Through shared memory
 * the awaited member wakes this one. A device with interrupts does, too. The runtime's messages do
 * not.
 */
static gba_status_t wait_sleep(struct gba_team *team, uint64_t waited, uint64_t most)
{
    const struct gba_awaited awaited = team->path->ops->awaited(team->path);
    struct gba_awaited now;
    gba_status_t status;
    uint64_t seen;

    if (awaited.word == NULL && awaited.flag == NULL) {
        wait_device(awaited.state, waited, most);
        return barrier_test(team);
    }
    seen = awaited_load(&awaited);
    /* A store before that load would not wake this member. And the barrier may have advanced, and
     * now wait for another location. */
    status = barrier_test(team);
    now = team->path->ops->awaited(team->path);
    if (GBA_INPROGRESS != status || now.word != awaited.word || now.flag != awaited.flag)
        return status;
    awaited_park(&awaited, seen, most);
    return barrier_test(team);
}

/* How a member waits. */
struct manner {
    bool yields;
    bool may_park; /* it may sleep until its node's leader wakes it */
    bool parks;    /* it does so in this wait */
    struct gba_service service;
};

/* Whether only progress delivers the message that the member waits for. */
static bool wait_listens(const struct gba_team *team)
{
    const struct gba_path_hybrid *hybrid = team->path->hybrid;

    return hybrid != NULL && gba_path_hybrid_listens(hybrid);
}

/* The number of tests between two calls of the runtime's progress. */
static uint32_t wait_tests(const struct gba_team *team, const struct manner *manner)
{
    if (manner->parks || wait_listens(team))
        return 1;
    return gba_service_tests(&manner->service, manner->yields,
                             manner->yields ? GBA_WAIT_YIELDS : spins_of(team->path));
}

/* Leave the core to the others, and see how long they keep it. */
static void wait_yield(struct gba_team *team, struct manner *manner)
{
    uint64_t began;

    if (!manner->may_park) {
        sched_yield();
        return;
    }
    began = gba_clock_ns();
    sched_yield();
    manner->parks =
        gba_busy_turn(&team->waiting.busy, gba_team_rounds(team), gba_clock_ns() - began);
}

/*
 * Test until progress is due. The caller tested shortly before. Each test may advance the barrier:
 * a leader that has sent its message to other hosts needs progress from then on, and not after the
 * tests that were right for the gathering of its node.
 */
static gba_status_t wait_look(struct gba_team *team, struct manner *manner)
{
    gba_status_t status;
    uint32_t tests = 0;

    do {
        if (!manner->yields)
            gba_cpu_pause();
        else if (!manner->service.sleeps)
            wait_yield(team, manner);
        status = barrier_test(team);
        tests++;
    } while (GBA_INPROGRESS == status && tests < wait_tests(team, manner));
    return status;
}

/*
 * Wait for the current round, which an attempt did not complete. Returns the first result of a test
 * or of progress that is not GBA_INPROGRESS.
 */
static gba_status_t wait_round(struct gba_team *team)
{
    const gba_runtime_t *runtime = &team->runtime;
    struct manner manner = {.yields = wait_yields(team),
                            .may_park = wait_may_park(team),
                            .service.after = gba_wait_sleep_after(team->waiting.mode)};
    struct gba_service *service = &manner.service;
    uint64_t most = manner.may_park ? PARK_NS : GBA_WAIT_SLEEP_NS, due;
    gba_status_t status;

    manner.parks = manner.may_park && gba_busy_sleeps(&team->waiting.busy, gba_team_rounds(team));
    service->sleeps = manner.parks;
    for (;;) {
        status = wait_look(team, &manner);
        if (GBA_INPROGRESS == status && service->sleeps) {
            status =
                wait_sleep(team, service->now - service->began, wait_nap(team, most, service->now));
            if (most < GBA_WAIT_SLEEP_NS)
                most *= 2;
        }
        if (GBA_INPROGRESS != status)
            return status;
        gba_service_turn(service, runtime->progress, runtime->ctx, manner.parks,
                         wait_listens(team));
        if (service->served > team->waiting.served)
            team->waiting.served = service->served;
        due = team->watchdog.stall.due;
        status = barrier_progress(team);
        if (due != team->watchdog.stall.due)
            service->read = 0; /* a report has read files: not what others have sent */
        if (GBA_INPROGRESS != status)
            return status;
    }
}

/* ---------------------------------------------------------------------- the fast path --- */

/* Replaces a path's attempt when the device has failed: starts nothing. */
static gba_status_t attempt_failed(struct gba_path_base *path)
{
    (void)path;
    return GBA_ERR_BUSY;
}

/* Of GBA_PATH_FALLBACK: gba_barrier_end makes the barrier. */
static gba_status_t attempt_fallback(struct gba_path_base *path)
{
    (void)path;
    return GBA_UNFINISHED;
}

static gba_status_t attempt_left(struct gba_path_base *path)
{
    (void)path;
    return GBA_ERR_STALE;
}

void gba_team_leave(gba_team_t *team)
{
    gba_word_store_relaxed(&team->use.left, 1);
    gba_barrier_init(team);
}

bool gba_team_has_left(const gba_team_t *team)
{
    return 0 != gba_word_load_relaxed(&team->use.left);
}

void gba_barrier_init(struct gba_team *team)
{
    team->attempt = attempt_fallback;
    if (team->path != NULL) {
        team->path->spins = attempt_spins(team);
        gba_failover_attend(team, gba_team_attention(team));
        team->attempt = gba_failover_failed(team) ? attempt_failed : team->path->ops->attempt;
    }
    if (gba_team_has_left(team))
        team->attempt = attempt_left;
}

/* The attempt has not completed the round. */
static gba_status_t __attribute__((noinline))
barrier_long(struct gba_team *team, gba_status_t status)
{
    team->use.steps = false;
    if (GBA_ERR_BUSY == status) { /* the device has failed: the members must notify each other */
        status = barrier_begin(team);
        return GBA_OK == status ? GBA_ERR_DEAD : status;
    }
    if (GBA_INPROGRESS != status)
        return status;
    team->under_way = true; /* the attempt has not set it */
    return wait_round(team);
}

/* The round is complete, and it took long or a further step is due. */
static gba_status_t __attribute__((noinline)) barrier_over(struct gba_team *team)
{
    if (!gba_failover_failed(team))
        return gba_team_attends(team) ? GBA_UNFINISHED : GBA_OK;
    /* This member has sent no notification in this round: notifications of others completed it, or
     * the device did, which may have failed for others only. An answer is due in any case, and an
     * agreement may be due as well. From the next round on this member bypasses the device. */
    gba_barrier_init(team);
    return GBA_UNFINISHED;
}

gba_status_t gba_barrier_wait(gba_team_t *team)
{
    gba_status_t status = team->attempt(team->path);

    if (__builtin_expect(GBA_OK == status, 1)) {
        if (__builtin_expect(gba_team_complete(team) >= gba_word_load_relaxed(&team->attention_at),
                             0))
            return barrier_over(team);
        return GBA_OK;
    }
    status = barrier_long(team, status);
    return GBA_OK == status ? barrier_over(team) : status;
}
