/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers of a team. gba_barrier_wait is the fast path: one call of the path's attempt, which
 * stores the arrival and polls the release, and one count. The rest is for barriers that take
 * longer, run in steps, or have a failed device.
 */
#include "gba/team/barrier.h"

#include "gba/failover/failover.h"
#include "gba/team/wait.h"
#include "gba/team/watchdog.h"

static gba_status_t barrier_begin(gba_team_t *team)
{
    team->under_way = true;
    if (__builtin_expect(gba_failover_failed(team), 0))
        return gba_failover_start(team);
    return team->path->ops->start(team->path);
}

gba_status_t gba_barrier_start(gba_team_t *team)
{
    if (team->use.left)
        return GBA_ERR_STALE;
    team->use.stepped = true;
    return barrier_begin(team);
}

/* Whether the current round has ended. */
static gba_status_t barrier_look(struct gba_team *team)
{
    if (__builtin_expect(gba_failover_failed(team), 0))
        return gba_failover_test(team);
    return team->path->ops->test(team->path);
}

gba_status_t gba_barrier_test(gba_team_t *team)
{
    gba_status_t status = barrier_look(team);

    /* The round is counted once, however often the caller tests. gba_team_recover compares these
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

gba_status_t gba_barrier_progress(gba_team_t *team)
{
    struct gba_path_base *path = team->path;
    gba_status_t status = GBA_OK;

    if (path->ops->progress != NULL)
        status = path->ops->progress(path);
    if (GBA_OK == status)
        status = gba_barrier_test(team);
    return GBA_INPROGRESS == status ? gba_watchdog_check(team) : status;
}

/* Replaces a path's attempt when the device has failed: starts nothing. */
static gba_status_t attempt_failed(struct gba_path_base *path)
{
    (void)path;
    return GBA_ERR_BUSY;
}

static gba_status_t attempt_left(struct gba_path_base *path)
{
    (void)path;
    return GBA_ERR_STALE;
}

void gba_team_leave(gba_team_t *team)
{
    team->use.left = true;
    gba_barrier_init(team);
}

void gba_barrier_init(struct gba_team *team)
{
    if (team->path == NULL)
        return;
    team->path->spins = gba_wait_spins(team);
    gba_failover_attend(team, gba_team_attention(team));
    team->attempt = gba_failover_failed(team) ? attempt_failed : team->path->ops->attempt;
    if (team->use.left)
        team->attempt = attempt_left;
}

/* The arguments of gba_barrier_wait that only a long barrier needs. They are passed by address: on
 * the stack they cost the fast path fewer instructions than in registers, which it would save. */
struct runtime {
    int (*progress)(void *);
    void *arg;
};

/* The attempt has not completed the round. */
static gba_status_t __attribute__((noinline))
barrier_long(struct gba_team *team, gba_status_t status, const struct runtime *runtime)
{
    static const struct gba_wait_steps steps = {gba_barrier_test, gba_barrier_progress};

    if (GBA_ERR_BUSY ==
        status) { /* the device has failed: the caller must notify the other members */
        status = barrier_begin(team);
        return GBA_OK == status ? GBA_ERR_DEAD : status;
    }
    if (GBA_INPROGRESS != status)
        return status;
    team->under_way = true; /* the attempt has not set it */
    return gba_wait(team, &steps, runtime->progress, runtime->arg);
}

/* The round is complete, and it took long or a further step is due. */
static gba_status_t __attribute__((noinline)) barrier_over(struct gba_team *team)
{
    /* This member has sent no notification in this round: notifications of others completed it, or
     * the device did, which may have failed for others only. An answer is due in any case, and an
     * agreement may be due as well. From the next round on this member bypasses the device. */
    if (gba_failover_failed(team)) {
        gba_barrier_init(team);
        return GBA_NOTIFY;
    }
    return gba_team_attends(team) ? GBA_RENEGOTIATE : GBA_OK;
}

gba_status_t gba_barrier_wait(gba_team_t *team, int (*progress)(void *), void *arg)
{
    const struct runtime runtime = {progress, arg};
    gba_status_t status = team->attempt(team->path);

    if (__builtin_expect(GBA_OK == status, 1)) {
        if (__builtin_expect(gba_team_complete(team) >= gba_word_load_relaxed(&team->attention_at),
                             0))
            return barrier_over(team);
        return GBA_OK;
    }
    status = barrier_long(team, status, &runtime);
    return GBA_OK == status ? barrier_over(team) : status;
}
