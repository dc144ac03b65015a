/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for a barrier, for callers that have nothing else to do: spin while that is fast, give
 * the core to others when they need it, and sleep when it takes long.
 */
#include <sched.h>
#include <time.h>

#include "gba/base/clock.h"
#include "gba/base/park.h"
#include "gba/engine.h"

/*
 * Looks between two calls of the runtime's progress, with a core for each process: some 5 us, long
 * against a barrier, short against anything that a message could be waiting for.
 */
#define SPINS 200

/*
 * With fewer cores than processes a look is followed by a yield at once: the one that we wait for
 * is not running. Each process then gets its turn about once a barrier, so progress is due every
 * few turns only; it costs as much as the turn itself.
 */
#define YIELDS 8

/* `auto` begins to sleep after this long: nobody notices then that waking takes a little longer. */
#define SLEEP_AFTER_NS 1000000000u

/* `sleep` begins earlier: no longer than two barriers of a crowded host. */
#define SLEEP_SOON_NS 50000u

/* One sleep: messages are looked after this often. A look with its progress takes about 10 us; from
 * cold caches on a busy machine up to 37 us were seen, which is still below 2% of it. */
#define SLEEP_NS 2000000u

/* The first sleep of a member that leaves the core to its node's leader, see wait_parks: the others
 * of its process that need progress wait no longer. */
#define PARK_NS 50000u

/* A nap where nobody can wake us is this part of the time waited so far, and SLEEP_NS at most: so
 * it makes no wait longer by more than that part. */
#define NAP_PART 8u

static bool wait_yields(const struct gba_team *team)
{
    return GBA_WAIT_YIELD == team->wait ||
           (team->crowded && (GBA_WAIT_AUTO == team->wait || GBA_WAIT_SLEEP == team->wait));
}

/* How long to wait before the first sleep; 0: for ever. */
static uint64_t wait_sleep_after(const struct gba_team *team)
{
    if (GBA_WAIT_AUTO == team->wait)
        return SLEEP_AFTER_NS;
    return GBA_WAIT_SLEEP == team->wait ? SLEEP_SOON_NS : 0;
}

/*
 * The word whose change ends the wait, or brings it on; NULL: nobody would wake us. sleepers: gets
 * the count that whoever stores to it looks at.
 */
static gba_word_t *wait_word(struct gba_team *team, gba_word_t **sleepers)
{
    const struct gba_local_state *state = gba_team_awaits(team);

    if (NULL == state) {
        *sleepers = team->software->shm.sleepers;
        return gba_software_awaited(team->software);
    }
    *sleepers = state->flag + 1;
    return GBA_PATH_SIM == team->path ? state->flag : NULL;
}

/*
 * On a crowded host the leader of a node needs a core to listen to the other hosts. Members of the
 * node that look and yield take it away again and again, and the whole team waits: so they sleep at
 * once until their leader wakes them. (Where all members are on one host, looking is faster.)
 */
static bool wait_parks(const struct gba_team *team)
{
    return NULL != team->software && GBA_SOFTWARE_HYBRID == team->software->kind &&
           !team->software->leader && GBA_WAIT_AUTO == team->wait && wait_yields(team);
}

/*
 * Sleep for `most` ns at most: messages want to be looked after. Through shared memory the one that
 * we wait for wakes us; a device and the messages of the runtime do not.
 */
static gba_status_t wait_sleep(struct gba_team *team, uint64_t waited, uint64_t most)
{
    uint64_t part = waited / NAP_PART;
    const struct timespec nap = {.tv_nsec = part < most ? (long)part : (long)most};
    gba_word_t *sleepers, *again;
    gba_word_t *word = wait_word(team, &sleepers);
    gba_status_t status;
    uint64_t seen;

    if (NULL == word) {
        nanosleep(&nap, NULL);
        return gba_barrier_test(team);
    }
    seen = gba_word_load_relaxed(word);
    /* What was stored before that load would not wake us; and the barrier may be a step further and
     * wait for another word now. */
    status = gba_barrier_test(team);
    if (GBA_INPROGRESS != status || word != wait_word(team, &again))
        return status;
    gba_word_park(word, seen, most, sleepers);
    return gba_barrier_test(team);
}

/* Looks before the runtime's progress is due. */
static int wait_looks(const struct gba_team *team, bool yields)
{
    if (NULL != team->software && gba_software_listens(team->software))
        return 1; /* it is that which brings what we look for */
    if (yields)
        return wait_parks(team) ? 1 : YIELDS;
    return SPINS;
}

/* Look until something must be done besides looking. The last look was not long ago. */
static gba_status_t wait_look(struct gba_team *team, bool yields)
{
    gba_status_t status = GBA_INPROGRESS;

    for (int i = wait_looks(team, yields); i > 0 && GBA_INPROGRESS == status; i--) {
        if (yields)
            sched_yield();
        else
            gba_cpu_pause();
        status = gba_barrier_test(team);
    }
    return status;
}

/* Not there at the first looks: all that takes time, and lets time pass. */
static gba_status_t __attribute__((noinline))
wait_long(struct gba_team *team, void (*progress)(void *), void *arg)
{
    const bool yields = wait_yields(team);
    const bool parks = wait_parks(team);
    const uint64_t sleep_after = wait_sleep_after(team);
    uint64_t began = 0, now = 0, most = parks ? PARK_NS : SLEEP_NS;
    bool sleeps = parks;
    gba_status_t status;

    team->under_way = true; /* the fast path has not counted it */
    for (;;) {
        status = wait_look(team, yields);
        if (GBA_INPROGRESS == status && sleeps)
            status = wait_sleep(team, now - began, most);
        if (GBA_INPROGRESS != status)
            return status;
        if (NULL != progress)
            progress(arg);
        status = gba_barrier_progress(team);
        if (GBA_INPROGRESS != status)
            return status;
        if (0 == sleep_after)
            continue;
        now = gba_clock_ns();
        began = 0 == began ? now : began;
        if (sleeps && most < SLEEP_NS)
            most *= 2;
        sleeps = parks || now - began >= sleep_after;
    }
}

/* The fast paths: what start and test do, without their choices. */

static gba_status_t attempt_group(struct gba_team *team)
{
    struct gba_local_state *state = team->state;
    gba_status_t status;

    state->sequence++;
    gba_state_arrive(state);
    status = gba_state_poll(state);
    for (uint32_t looks = team->looks; GBA_INPROGRESS == status && looks > 1; looks--) {
        gba_cpu_pause();
        status = gba_state_poll(state);
    }
    return status;
}

static gba_status_t attempt_node(struct gba_team *team)
{
    struct gba_software *software = team->software;
    gba_status_t status;

    software->sequence++;
    gba_software_node_start(software);
    status = gba_node_test(&software->node);
    for (uint32_t looks = team->looks; GBA_INPROGRESS == status && looks > 1; looks--) {
        gba_cpu_pause();
        status = gba_node_test(&software->node);
    }
    return status;
}

static gba_status_t attempt_flat(struct gba_team *team)
{
    struct gba_software *software = team->software;

    return software->algorithm->attempt(&software->soft, software->signals, ++software->sequence,
                                        team->looks);
}

/* Messages: they take longer than any call. */
static gba_status_t attempt_steps(struct gba_team *team)
{
    gba_status_t status = gba_software_start(team->software);

    return GBA_OK == status ? gba_software_test(team->software) : status;
}

/* A lost device: the caller has to tell the others. */
static gba_status_t attempt_lost(struct gba_team *team)
{
    gba_status_t status = gba_barrier_start(team);

    return GBA_OK == status ? GBA_ERR_DEAD : status;
}

void gba_wait_init(struct gba_team *team)
{
    const struct gba_software *software = team->software;

    team->looks = wait_yields(team) ? 1 : SPINS;
    if (gba_recovery_lost(team))
        team->attempt = attempt_lost;
    else if (NULL == software)
        team->attempt = attempt_group;
    else if (GBA_SOFTWARE_NODE == software->kind)
        team->attempt = attempt_node;
    else if (GBA_SOFTWARE_FLAT == software->kind && NULL != software->algorithm->attempt)
        team->attempt = attempt_flat;
    else
        team->attempt = attempt_steps;
}

/* A call, for a jump that is not taken: inline it becomes arithmetic that every barrier does. */
static gba_status_t __attribute__((noinline)) wait_meet(void)
{
    return GBA_MEET;
}

gba_status_t gba_barrier_wait(gba_team_t *team, void (*progress)(void *), void *arg)
{
    gba_status_t status = team->attempt(team);

    if (__builtin_expect(GBA_OK == status, 1)) {
        if (__builtin_expect(gba_team_complete(team) >= team->meet_at, 0))
            return wait_meet();
        return GBA_OK;
    }
    if (GBA_INPROGRESS == status)
        status = wait_long(team, progress, arg);
    if (GBA_OK != status)
        return status;
    /* Ended by notices before this member had anything to tell: there may be an agreement due. */
    if (gba_recovery_lost(team))
        return GBA_ERR_DEAD;
    return gba_team_rounds(team) >= team->meet_at ? GBA_MEET : GBA_OK;
}
