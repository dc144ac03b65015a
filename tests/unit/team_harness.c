/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "tests/unit/team_harness.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "gba/base/host.h"
#include "gba/transport/segment.h"
#include "gba/transport/transport.h"
#include "tests/unit/notification_harness.h"

static _Thread_local struct harness *my_harness;
static _Thread_local uint32_t my_rank;

gba_status_t __wrap_gba_host_get(struct gba_host *host);
gba_status_t __real_gba_shm_segment_attach(const struct gba_segment_handle *handle,
                                           struct gba_segment *segment);
gba_status_t __wrap_gba_shm_segment_attach(const struct gba_segment_handle *handle,
                                           struct gba_segment *segment);

gba_status_t __wrap_gba_host_get(struct gba_host *host)
{
    if (my_rank == my_harness->no_host)
        return GBA_ERR_IO;
    memset(host, 0, sizeof *host);
    /* Descending, so that the order of hosts differs from that of their leaders. */
    host->word[0] = 1000 - my_harness->host[my_rank];
    return GBA_OK;
}

gba_status_t __wrap_gba_shm_segment_attach(const struct gba_segment_handle *handle,
                                           struct gba_segment *segment)
{
    if (my_rank == my_harness->no_attach)
        return GBA_ERR_PERM;
    return __real_gba_shm_segment_attach(handle, segment);
}

/* ------------------------------------------------------------------- messages in memory --- */

struct net {
    struct gba_transport base;
    struct harness *harness;
    uint32_t rank[HARNESS_MEMBERS]; /* of the team, by number in the group */
    uint32_t mine;
    gba_word_t (*word)[HARNESS_SLOTS][2]; /* of all members, of its channel */
    uint32_t calls, kept; /* calls of progress and sent since the last set; sets not sent yet */
    struct {
        gba_word_t *word;
        uint32_t seq;
    } set[HARNESS_SLOTS];
};

static gba_status_t net_set(struct gba_transport *transport, uint32_t peer, uint32_t slot,
                            uint32_t seq)
{
    struct net *net = (struct net *)transport;

    gba_word_add_relaxed(&net->harness->sent, 1);
    gba_word_add_relaxed(&net->harness->owed[net->mine], 1);
    gba_word_add_relaxed(&net->harness->owed[net->rank[peer]], UINT64_MAX);
    net->set[net->kept].word = &net->word[net->rank[peer]][slot][gba_slot_parity(seq)];
    net->set[net->kept++].seq = seq;
    net->harness->kept[net->mine]++;
    net->calls = 0;
    return GBA_OK;
}

/* Sets leave this member after a few of its calls, and without a call never. */
static gba_status_t net_sent(struct gba_transport *transport)
{
    struct net *net = (struct net *)transport;

    if (net->kept > 0 && ++net->calls < net->harness->keeps)
        return GBA_INPROGRESS;
    net->harness->kept[net->mine] -= net->kept;
    while (net->kept > 0) {
        net->kept--;
        gba_word_store_release(net->set[net->kept].word, net->set[net->kept].seq);
    }
    return GBA_OK;
}

static gba_status_t net_progress(struct gba_transport *transport)
{
    (void)net_sent(transport);
    return GBA_OK;
}

static uint32_t net_mine(struct gba_transport *transport, uint32_t slot, uint32_t parity)
{
    struct net *net = (struct net *)transport;

    return (uint32_t)gba_word_load_acquire(&net->word[net->mine][slot][parity]);
}

/* In dissemination and radix a member sends as many messages in a barrier as it receives. */
static void net_destroy(struct gba_transport *transport)
{
    struct net *net = (struct net *)transport;

    if (net->harness->accounts && 0 != gba_word_load_relaxed(&net->harness->owed[net->mine]))
        gba_word_add_relaxed(&net->harness->unread, 1);
    free(transport);
}

static const struct gba_transport_ops net_ops = {.name = "net",
                                                 .set = net_set,
                                                 .mine = net_mine,
                                                 .sent = net_sent,
                                                 .progress = net_progress,
                                                 .destroy = net_destroy};

static gba_status_t net_open(void *ctx, const gba_remote_group_t *group,
                             struct gba_transport **transport)
{
    struct net *net;

    if (my_rank == my_harness->no_open)
        return GBA_ERR_NOMEM;
    net = calloc(1, sizeof *net);
    net->base.ops = &net_ops;
    net->harness = ctx;
    for (uint32_t i = 0; i < group->size; i++)
        net->rank[i] = NULL == group->ranks ? i : group->ranks[i];
    net->mine = net->rank[group->rank];
    net->word = net->harness->word[group->channel];
    for (uint32_t slot = 0; slot < HARNESS_SLOTS; slot++)
        for (uint32_t parity = 0; parity < 2; parity++)
            gba_word_store_relaxed(&net->word[net->mine][slot][parity], group->sequence);
    *transport = &net->base;
    return GBA_OK;
}

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

/* In one of the possible ways. GBA_RENEGOTIATE only from a blocking barrier. */
static gba_status_t barrier_any(struct harness *w, gba_team_t *team, const gba_oob_t *oob,
                                uint32_t round)
{
    bool steps = in_steps(w, round);
    gba_status_t status;

    if (GBA_PATH_FALLBACK != gba_team_path(team))
        return steps ? barrier_in_steps(team) : gba_barrier_wait(team, NULL, NULL);
    w->elsewhere[oob->rank]++;
    status = oob->barrier(oob->ctx);
    if (GBA_OK == status)
        status = gba_team_count(team);
    return steps && GBA_RENEGOTIATE == status ? GBA_OK : status;
}

/* A barrier that continues in software when the device has died. last: the last round. */
static gba_status_t barrier(struct harness *w, gba_team_t *team, const gba_team_attr_t *attr,
                            const gba_oob_t *oob, uint32_t round, uint32_t *last)
{
    gba_path_t path = gba_team_path(team);
    gba_status_t status = barrier_any(w, team, oob, round);
    gba_team_stats_t stats;

    if (GBA_RENEGOTIATE == status) {
        gba_team_attr_t next = *attr;

        gba_team_stats(team, &stats);
        /* A different id each time; the members' ids follow it. */
        if (0 != next.id)
            next.id += (stats.renegotiations + 1) * HARNESS_IDS;
        status = gba_team_renegotiate(team, &next, oob);
        if (path != gba_team_path(team))
            w->moved[oob->rank] = round;
    }
    if (GBA_ERR_DEAD == status)
        status = notifications_outlive(team, oob->rank);
    else if (GBA_NOTIFY == status)
        status = GBA_OK;
    if (GBA_OK != status || !gba_team_recover_due(team) ||
        (0 != w->blocks_every && in_steps(w, round)))
        return status;
    if (w->until_death)
        *last = round + w->rounds;
    return gba_team_recover(team, attr, oob);
}

/* Members that have left, too, may have entered the next round, but not the one after it. */
static void look(struct harness *w, uint32_t size, uint32_t round)
{
    for (uint32_t r = 0; r < size; r++) {
        uint64_t entered = gba_word_load_relaxed(&w->entered[r]);

        if (entered < round || entered > round + 1)
            gba_word_add_relaxed(&w->early, 1);
    }
}

static void run_rounds(struct harness *w, gba_team_t *team, const gba_team_attr_t *attr,
                       const gba_oob_t *oob)
{
    double began = thread_seconds();
    bool lasts = w->until_death && GBA_PATH_SOFTWARE != gba_team_path(team);
    uint32_t last = lasts ? UINT32_MAX : w->rounds;

    for (uint32_t round = 1; round <= last; round++) {
        if (oob->rank == round % oob->size && w->late_ms > 0)
            usleep(1000 * w->late_ms);
        /* At most half a minute: a test that fails is more useful than one that waits for ever. */
        for (int i = 0; i < 3000 && oob->rank == round % oob->size && NULL != w->late_until &&
                        !w->late_until();
             i++)
            usleep(10000);
        if (0 == oob->rank && NULL != w->before)
            w->before(w, round);
        gba_word_store_relaxed(&w->entered[oob->rank], round);
        w->returned[oob->rank] = barrier(w, team, attr, oob, round, &last);
        if (GBA_OK != w->returned[oob->rank])
            return;
        if (0 != w->kept[oob->rank]) {
            /* At once, because no member would reach the end of the test, where the other checks
             * are made. */
            fprintf(stderr, "member %u left round %u with %u messages unsent\n", oob->rank, round,
                    w->kept[oob->rank]);
            _exit(1);
        }
        look(w, oob->size, round);
    }
    w->cpu[oob->rank] = thread_seconds() - began;
}

void harness_member(struct thread_oob_member *self, const gba_oob_t *oob)
{
    struct harness *w = self->arg;
    gba_remote_t remote = {.ctx = w, .open = net_open};
    gba_params_t params = w->params;
    gba_team_attr_t attr = {.name = "test",
                            .params = &params,
                            .device_status = GBA_ERR_NO_DEVICE,
                            .id = 0 == oob->rank ? w->id + 1 : 0,
                            .remote = oob->rank == w->no_remote ? NULL : &remote,
                            .oversubscribed = w->oversubscribed,
                            .nonblocking = 0 != w->blocks_every};
    gba_team_t *team;

    my_harness = w;
    my_rank = oob->rank;
    params.sw_enable = oob->rank != w->no_software;
    if (oob->rank != w->no_device)
        attr.device = NULL != w->devices[oob->rank] ? w->devices[oob->rank] : w->device;
    w->returned[oob->rank] = gba_team_create(&attr, oob, &team);
    if (GBA_OK != w->returned[oob->rank])
        return;
    w->elsewhere[oob->rank] = w->moved[oob->rank] = 0;
    if (w->past || GBA_PATH_FALLBACK != gba_team_path(team))
        run_rounds(w, team, &attr, oob);
    w->path[oob->rank] = gba_team_path(team);
    gba_team_stats(team, &w->stats[oob->rank]);
    snprintf(w->why[oob->rank], sizeof w->why[0], "%s", gba_team_why(team));
    oob->barrier(oob->ctx); /* memory of the test, not of the team: the other members read it */
    gba_team_destroy(team);
}

/* ------------------------------------------------------------------------------- worlds --- */

struct harness *harness_new(void)
{
    struct harness *w = calloc(1, sizeof *w);

    gba_params_default(&w->params);
    w->params.wait = GBA_WAIT_YIELD; /* more threads than cores, and yet not only the counter */
    w->rounds = 60;
    w->keeps = 3;
    w->no_software = w->no_host = w->no_attach = w->no_remote = w->no_open = NOBODY;
    w->no_device = NOBODY;
    return w;
}

int harness_segments(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    int found = 0;

    while (NULL != fgets(line, sizeof line, maps))
        found += NULL != strstr(line, "gba-team");
    fclose(maps);
    return found;
}

void harness_run(struct harness *w, uint32_t size, gba_path_t path)
{
    for (uint32_t r = 0; r < size; r++)
        gba_word_store_relaxed(&w->entered[r], 0);
    notifications_start(w, size);
    thread_oob_run(size, 0, harness_member, w);
    notifications_stop(w);
    for (uint32_t r = 0; r < size; r++) {
        assert_int_equal(w->returned[r], GBA_OK);
        assert_int_equal(w->path[r], path);
        assert_string_equal(w->why[r], w->why[0]);
        if (GBA_PATH_FALLBACK != path)
            assert_int_equal(w->stats[r].rounds + w->elsewhere[r], w->rounds);
        assert_int_equal(w->moved[r], w->moved[0]);
        assert_int_equal(w->stats[r].renegotiations, w->stats[0].renegotiations);
    }
    assert_int_equal(gba_word_load_relaxed(&w->early), 0);
    assert_int_equal(gba_word_load_relaxed(&w->unread), 0);
    if (NULL == strstr(w->why[0], w->expected))
        fail_msg("\"%s\" is not in \"%s\"", w->expected, w->why[0]);
    assert_int_equal(harness_segments(), 0);
}
