/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "tests/unit/team/team_harness.h"

#include <sched.h>
#include <time.h>

#include "gba/transport/transport.h"
#include "tests/limit.h"
#include "tests/unit/failover/notification_harness.h"

/* --------------------------------------------------------------------------- one member --- */

static double thread_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static gba_status_t barrier_in_steps(gba_team_t *team)
{
    gba_status_t status = gba_barrier_start(team);

    if (GBA_OK != status)
        return status;
    do {
        sched_yield();
        status = gba_barrier_progress(team);
    } while (GBA_INPROGRESS == status);
    return status;
}

static bool in_steps(const struct harness *w, uint32_t round)
{
    if (0 != w->blocks_every)
        return 0 != round % w->blocks_every;
    return 0 != w->steps_every && 0 == round % w->steps_every;
}

/* A member: the runtime of its team, and its cores. Its own thread is core 0. */
struct member {
    struct harness *w;
    const gba_oob_t *oob;
    gba_team_attr_t attr;
    gba_team_t *team;
    gba_due_t due; /* of the agreement in this barrier */
    uint32_t agreements;
    gba_cores_t *cores; /* NULL: none */
    struct member_core {
        struct member *of;
        uint32_t index;
        pthread_t thread;
    } core[HARNESS_CORES];
};

/* The barrier of the runtime: with cores, and as a candidate of a trial. */
static gba_status_t member_fallback(void *ctx)
{
    return thread_oob_barrier(((const struct member *)ctx)->oob);
}

static gba_status_t member_notify(void *ctx, bool complete)
{
    const struct member *me = ctx;

    notifications_post(me->team, me->oob->rank);
    if (!complete)
        usleep(20);
    return GBA_OK;
}

static gba_status_t member_prepare(void *ctx, gba_due_t due, gba_team_attr_t *attr, gba_oob_t *oob)
{
    struct member *me = ctx;

    (void)due;
    *attr = me->attr;
    *oob = *me->oob;
    /* Each call returns a different id; the ids of the members follow it. */
    if (0 != attr->id)
        attr->id += ++me->agreements * HARNESS_IDS;
    return GBA_OK;
}

static void member_agreed(void *ctx, gba_due_t due, gba_status_t status)
{
    (void)status;
    ((struct member *)ctx)->due = due;
}

static void look(struct harness *w, uint32_t size, uint32_t round);

static void *core_run(void *arg)
{
    struct member_core *core = arg;
    struct member *of = core->of;

    for (uint32_t round = 1; round <= of->w->rounds; round++) {
        gba_word_store_relaxed(&of->w->entered[of->oob->rank][core->index], round);
        if (GBA_OK != gba_cores_barrier(of->cores, core->index))
            gba_word_add_relaxed(&of->w->early, 1);
        look(of->w, of->oob->size, round);
    }
    return NULL;
}

static void cores_start(struct member *of)
{
    const gba_cores_attr_t attr = {.cpus = 1};

    if (0 == of->w->cores)
        return;
    if (GBA_OK != gba_cores_create(of->w->cores, of->team, &attr, &of->cores))
        abort();
    for (uint32_t i = 1; i < of->w->cores; i++) {
        of->core[i] = (struct member_core){.of = of, .index = i};
        if (0 != pthread_create(&of->core[i].thread, NULL, core_run, &of->core[i]))
            abort();
    }
}

static void cores_stop(struct member *of)
{
    for (uint32_t i = 1; i < of->w->cores; i++)
        pthread_join(of->core[i].thread, NULL);
    gba_cores_destroy(of->cores);
}

/* In steps: the members agree after it if its device has failed, and if no barrier is nonblocking.
 */
static gba_status_t barrier_of_steps(struct member *me)
{
    gba_status_t status = barrier_in_steps(me->team);

    if (0 == me->w->blocks_every &&
        (GBA_ERR_DEAD == status || GBA_DUE_RECOVER == gba_team_due(me->team, true)))
        status = gba_barrier_end(me->team, status);
    return status;
}

static gba_status_t barrier_any(struct member *me, bool steps)
{
    const bool fallback = GBA_PATH_FALLBACK == gba_team_path(me->team);
    gba_status_t status;

    me->w->fallback_barriers[me->oob->rank] += fallback;
    if (me->cores != NULL)
        return gba_cores_barrier(me->cores, 0);
    if (!fallback)
        return steps ? barrier_of_steps(me) : gba_barrier(me->team);
    status = thread_oob_barrier(me->oob);
    gba_team_count(me->team);
    return GBA_OK == status && !steps ? gba_barrier_end(me->team, GBA_OK) : status;
}

/* The exchange of a member for which the costs of a trial are made up. Only the vote on a batch has
 * two words, with the complement of the cost. The costs differ too little to drop a candidate. */
static _Thread_local gba_status_t (*real_min)(void *ctx, uint64_t *words, uint32_t count);
static _Thread_local void (*votes)(void);
static _Thread_local uint32_t batches, candidates, fastest;

static gba_status_t made_up_min(void *ctx, uint64_t *words, uint32_t count)
{
    gba_status_t status;

    if (2 == count && votes != NULL)
        votes();
    status = real_min(ctx, words, count);
    if (2 == count && candidates > 0 && words[1] > UINT64_MAX / 2)
        words[1] = batches++ % candidates == fastest ? ~UINT64_C(900) : ~UINT64_C(1000);
    return status;
}

/* After a trial: whether all members have the same path, as the first words of its text show. They
 * must not continue otherwise, because the next barrier would not end. */
static gba_status_t paths_compare(struct harness *w, const gba_team_t *team, const gba_oob_t *oob)
{
    char mine[96], all[HARNESS_MEMBERS][sizeof mine];
    gba_status_t status;

    snprintf(mine, sizeof mine, "%.*s", (int)strcspn(gba_team_why(team), ";"), gba_team_why(team));
    status = oob->allgather(oob->ctx, mine, all, sizeof mine);
    for (uint32_t r = 0; r < oob->size && GBA_OK == status; r++)
        if (0 != strcmp(all[r], all[0]))
            status = GBA_ERR_OTHER_DEVICE;
    if (GBA_ERR_OTHER_DEVICE == status)
        gba_word_add_relaxed(&w->split, 1);
    return status;
}

/* A barrier that continues in software when the device has died. last: the last round. */
static gba_status_t barrier(struct member *me, uint32_t round, uint32_t *last)
{
    struct harness *w = me->w;
    const gba_path_t path = gba_team_path(me->team);
    gba_status_t status;

    me->due = GBA_DUE_NOTHING;
    status = barrier_any(me, in_steps(w, round));
    if (GBA_DUE_NOTHING == me->due)
        return status;
    if (GBA_DUE_RECOVER == me->due) {
        if (w->until_death)
            *last = round + w->rounds;
        return status;
    }
    if (path != gba_team_path(me->team))
        w->moved[me->oob->rank] = round;
    return GBA_OK == status && 0 != w->params.trial_test ? paths_compare(w, me->team, me->oob)
                                                         : status;
}

/* Members that have left may have entered the next round, but not the one after it. */
static void look(struct harness *w, uint32_t size, uint32_t round)
{
    for (uint32_t r = 0; r < size; r++)
        for (uint32_t core = 0; 0 == core || core < w->cores; core++) {
            uint64_t entered = gba_word_load_relaxed(&w->entered[r][core]);

            if (entered < round || entered > round + 1)
                gba_word_add_relaxed(&w->early, 1);
        }
}

static void run_rounds(struct member *me)
{
    struct harness *w = me->w;
    const gba_oob_t *oob = me->oob;
    double began = thread_seconds();
    bool lasts = w->until_death && GBA_PATH_SOFTWARE != gba_team_path(me->team);
    uint32_t last = lasts ? UINT32_MAX : w->rounds;

    for (uint32_t round = 1; round <= last; round++) {
        if (oob->rank == round % oob->size && w->late_ms > 0)
            usleep(1000 * w->late_ms);
        /* Half a minute at most (test_limit), so that a failing test ends. */
        for (unsigned i = 0; i < test_limit(3000) && oob->rank == round % oob->size &&
                             w->late_until != NULL && !w->late_until();
             i++)
            usleep(10000);
        if (0 == oob->rank)
            harness_before_round(w, round);
        gba_word_store_relaxed(&w->entered[oob->rank][0], round);
        w->returned[oob->rank] = barrier(me, round, &last);
        if (GBA_OK != w->returned[oob->rank])
            return;
        if (0 != w->kept[oob->rank]) {
            /* Report at once, because no member would reach the checks at the end of the test. */
            fprintf(stderr, "member %u left round %u with %u messages unsent\n", oob->rank, round,
                    w->kept[oob->rank]);
            _exit(1);
        }
        look(w, oob->size, round);
    }
    w->cpu[oob->rank] = thread_seconds() - began;
}

/* The devices of a member that has several. */
static uint32_t devices_of(void *ctx, gba_device_t **list, uint32_t max)
{
    const struct thread_oob_member *self = ctx;
    const struct harness *w = self->arg;
    uint32_t count = 0;

    for (uint32_t d = 0; d < HARNESS_DEVICES && count < max; d++)
        if (w->reaches[self->rank] >> d & 1)
            list[count++] = w->switches[d];
    return count;
}

void harness_member(struct thread_oob_member *self, const gba_oob_t *oob)
{
    struct harness *w = self->arg;
    gba_remote_t remote = {.ctx = w, .open = harness_net_open};
    gba_params_t params = w->params;
    struct member me = {.w = w, .oob = oob};
    gba_team_attr_t attr = {
        .name = "test",
        .params = &params,
        .device_status = GBA_ERR_NO_DEVICE,
        .id = 0 == oob->rank ? w->id + 1 : 0,
        .remote = oob->rank == w->no_remote ? NULL : &remote,
        .oversubscribed = w->oversubscribed,
        .runtime = {.ctx = &me,
                    .fallback = w->own_barrier || 0 != w->cores ? member_fallback : NULL,
                    .notify = member_notify,
                    .prepare = member_prepare,
                    .agreed = member_agreed},
        .nonblocking = 0 != w->blocks_every};
    gba_oob_t made_up = *oob;
    gba_team_t *team;

    if (w->candidates > 0 || w->votes != NULL) {
        batches = 0;
        candidates = w->candidates;
        fastest = w->fastest[oob->rank];
        votes = w->votes;
        real_min = oob->min;
        made_up.min = made_up_min;
        me.oob = oob = &made_up;
    }
    self->host = 1000 - w->host[oob->rank]; /* so that the order differs from that of the leaders */
    self->no_host = oob->rank == w->no_host;
    self->no_attach = oob->rank == w->no_attach;
    params.sw_enable = oob->rank != w->no_software;
    if (oob->rank != w->no_device)
        attr.device = w->devices[oob->rank] != NULL ? w->devices[oob->rank] : w->device;
    if (0 != w->reaches[oob->rank]) {
        attr.devices = devices_of;
        attr.devices_ctx = self;
    }
    me.attr = attr;
    w->returned[oob->rank] = gba_team_create(&attr, oob, &team);
    if (GBA_OK != w->returned[oob->rank])
        return;
    w->fallback_barriers[oob->rank] = w->moved[oob->rank] = 0;
    me.team = team;
    cores_start(&me);
    if (w->past || GBA_PATH_FALLBACK != gba_team_path(team))
        run_rounds(&me);
    cores_stop(&me);
    w->path[oob->rank] = gba_team_path(team);
    w->reason[oob->rank] = gba_team_reason(team);
    gba_team_stats(team, &w->stats[oob->rank]);
    snprintf(w->why[oob->rank], sizeof w->why[0], "%s", gba_team_why(team));
    thread_oob_barrier(oob); /* memory of the test, not of the team: the other members read it */
    gba_team_destroy(team);
}

/* --------------------------------------------------------------------------- all members --- */

int harness_segments(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    int found = 0;

    while (fgets(line, sizeof line, maps) != NULL)
        found += strstr(line, "gba-team") != NULL;
    fclose(maps);
    return found;
}

/* All but the devices at the switches that gave no group, of which each member may have others. */
static void same_reason(const char *why, const char *first)
{
    const char *devices = strstr(first, "; not at ");
    const bool same = devices == NULL ? 0 == strcmp(why, first)
                                      : 0 == strncmp(why, first, (size_t)(devices - first));

    if (!same)
        fail_msg("\"%s\" and \"%s\"", why, first);
}

static void check_equal_outcomes(const struct harness *w, uint32_t size)
{
    for (uint32_t r = 0; r < size; r++) {
        assert_int_equal(w->returned[r], GBA_OK);
        assert_int_equal(w->path[r], w->path[0]);
        assert_int_equal(w->reason[r], w->reason[0]);
        same_reason(w->why[r], w->why[0]);
        assert_int_equal(w->moved[r], w->moved[0]);
        assert_int_equal(w->stats[r].rounds + w->fallback_barriers[r],
                         w->stats[0].rounds + w->fallback_barriers[0]);
        assert_int_equal(w->stats[r].renegotiations, w->stats[0].renegotiations);
        assert_int_equal(w->stats[r].failovers, w->stats[0].failovers);
        assert_int_equal(w->stats[r].trials, w->stats[0].trials);
    }
}

void harness_run(struct harness *w, uint32_t size, gba_path_t path)
{
    memset(w->entered, 0, sizeof w->entered);
    notifications_start(w, size);
    killer_start(w);
    thread_oob_run(size, 0, harness_member, w);
    killer_join(w);
    notifications_stop(w);
    harness_net_end(w);
    check_equal_outcomes(w, size);
    if (HARNESS_ANY_PATH != path)
        assert_int_equal(w->path[0], path);
    if (GBA_PATH_FALLBACK != path && !w->until_death)
        assert_int_equal(w->stats[0].rounds + w->fallback_barriers[0], w->rounds);
    assert_int_equal(gba_word_load_relaxed(&w->early), 0);
    assert_int_equal(gba_word_load_relaxed(&w->unread), 0);
    if (strstr(w->why[0], w->expected) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", w->expected, w->why[0]);
    assert_int_equal(harness_segments(), 0);
}

void harness_run_moving(struct harness *w, uint32_t size, uint32_t round, uint64_t renegotiations)
{
    harness_run(w, size, GBA_PATH_SIM);
    assert_int_equal(w->moved[0], round);
    assert_int_equal(w->stats[0].renegotiations, renegotiations);
}

int harness_fail_calls(struct harness *(*make)(int way), int way, uint32_t size)
{
    int call = 0;
    bool failed;

    do {
        struct harness *w = make(way);

        notifications_start(w, size);
        thread_oob_run(size, ++call, harness_member, w);
        notifications_stop(w);
        failed = GBA_ERR_OOB == w->returned[0];
        for (uint32_t r = 0; r < size; r++)
            assert_int_equal(w->returned[r], w->returned[0]);
        assert_int_equal(harness_segments(), 0);
        harness_end(w);
    } while (failed);
    return call;
}

uint64_t harness_retries(const struct harness *w, uint32_t size, uint32_t leaders)
{
    uint64_t retries = 0;

    for (uint32_t r = 0; r < size; r++) {
        uint64_t mine = w->stats[r].retries_arrival + w->stats[r].retries_release;

        if (r >= leaders)
            assert_int_equal(mine, 0);
        retries += mine;
    }
    return retries;
}
