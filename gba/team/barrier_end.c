/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a blocking barrier that gba_barrier_wait has not ended: libgba drives the runtime by
 * its table (gba_runtime_t). Above the barriers and the trials, which are made of barriers.
 */
#include "gba/agree/agree.h"
#include "gba/failover/failover.h"

static gba_status_t end_fallback(struct gba_team *team)
{
    const gba_runtime_t *runtime = &team->runtime;
    gba_status_t status = GBA_ERR_UNSUPPORTED;

    if (runtime->fallback != NULL)
        status = runtime->fallback(runtime->ctx);
    if (GBA_OK == status)
        gba_team_count(team);
    return status;
}

/* The device has failed. Other members may have completed this round and wait in another call, or
 * they are in the round and have not detected the failure. So this member notifies its neighbours,
 * and waits for their notifications and answers. */
static gba_status_t end_failed(struct gba_team *team)
{
    const gba_runtime_t *runtime = &team->runtime;
    gba_status_t status = GBA_ERR_DEAD;

    if (runtime->notify == NULL)
        return status;
    while (GBA_ERR_DEAD == status || GBA_INPROGRESS == status) {
        if (GBA_ERR_DEAD == status)
            status = runtime->notify(runtime->ctx, false);
        if (status < GBA_OK)
            return status;
        gba_agree_idle(team);
        /* Not gba_barrier_test: this one also reports a stalled barrier. */
        status = gba_barrier_progress(team);
    }
    return status;
}

/* The barrier is complete at this member: wait until the notifications that it owes have left it,
 * because it may compute for long before its next call. */
static gba_status_t end_notify(struct gba_team *team)
{
    const gba_runtime_t *runtime = &team->runtime;
    gba_status_t status = GBA_OK;

    if (!gba_failover_failed(team) || runtime->notify == NULL || gba_team_has_left(team))
        return GBA_OK;
    while (GBA_INPROGRESS == (status = runtime->notify(runtime->ctx, true)))
        gba_agree_idle(team);
    return status;
}

static gba_status_t end_agree(struct gba_team *team)
{
    const gba_runtime_t *runtime = &team->runtime;
    const gba_due_t due = gba_team_due(team, true);
    gba_team_attr_t attr = {.name = ""};
    gba_oob_t oob = {.size = 0};
    gba_status_t status;

    if (GBA_DUE_NOTHING == due || runtime->prepare == NULL)
        return GBA_OK;
    status = runtime->prepare(runtime->ctx, due, &attr, &oob);
    if (GBA_OK == status)
        status = gba_team_agree(&team, due, &attr, &oob);
    if (runtime->agreed != NULL)
        runtime->agreed(runtime->ctx, due, status);
    return status;
}

gba_status_t gba_barrier_end(gba_team_t *team, gba_status_t status)
{
    if (team == NULL)
        return status;
    if (GBA_UNFINISHED == status)
        status = GBA_PATH_FALLBACK == team->kind ? end_fallback(team) : GBA_OK;
    else if (GBA_ERR_DEAD == status)
        status = end_failed(team);
    if (GBA_OK == status)
        status = end_notify(team);
    if (GBA_OK == status)
        status = end_agree(team);
    if (GBA_OK != status)
        gba_team_leave(team);
    return status > GBA_OK ? GBA_ERR_IO : status; /* the runtime's, no status of libgba */
}

gba_status_t gba_barrier(gba_team_t *team)
{
    gba_status_t status = gba_barrier_wait(team);

    return __builtin_expect(GBA_OK == status, 1) ? GBA_OK : gba_barrier_end(team, status);
}
