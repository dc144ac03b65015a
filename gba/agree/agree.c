/* SPDX-License-Identifier: BSD-3-Clause */
/* An agreement from its start to its end. loop.c has the steps between them. */
#include "gba/agree/agree.h"

#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/agree/build.h"
#include "gba/agree/loop.h"
#include "gba/agree/schedule.h"
#include "gba/failover/failover.h"

/* The larger one of the records that the allgathers exchange. */
#define RECORD_MOST                                                \
    (sizeof(struct gba_node_info) > sizeof(struct gba_member_info) \
         ? sizeof(struct gba_node_info)                            \
         : sizeof(struct gba_member_info))

/* In one allocation with the memory of its agreements, so that no later one can lack it. */
struct team_memory {
    struct gba_agreement agreement;
    struct gba_team team; /* the facts of the members are behind it */
};

static struct gba_team *team_new(const gba_team_attr_t *attr, const gba_oob_t *oob)
{
    struct team_memory *memory =
        calloc(1, offsetof(struct team_memory, team) + gba_team_bytes(oob->size));
    struct gba_team *team;

    if (memory == NULL)
        return NULL;
    team = &memory->team;
    team->agreement = &memory->agreement;
    team->rank = oob->rank;
    team->size = oob->size;
    team->waiting.mode = attr->params->wait;
    team->waiting.oversubscribed = attr->oversubscribed;
    team->use.exchange = oob->ctx;
    team->runtime = attr->runtime;
    team->watchdog.report_after = (uint64_t)attr->params->stuck_after * 1000000000u;
    team->watchdog.abort_after = (uint64_t)attr->params->abort_after * 1000000000u;
    team->watchdog.before = attr->barriers;
    gba_retry_init(&team->watchdog.retry, (uint64_t)attr->params->retry_after * 1000000u);
    team->watchdog.deaths_fail = attr->notifies_together;
    team->renegotiation.due = UINT64_MAX;
    snprintf(team->name, sizeof team->name, "%s", attr->name);
    return team;
}

void gba_agree_free(struct gba_team *team)
{
    gba_topology_fini(&team->agreement->topology);
    free(team->agreement); /* the first field of its allocation, which has the team */
}

/* The memory of the runtime for its allgathers; 0: free it. */
static gba_status_t oob_reserve(struct gba_agreement *a, size_t bytes)
{
    return a->oob.reserve == NULL ? GBA_OK : a->oob.reserve(a->oob.ctx, bytes);
}

void gba_agree_end(struct gba_agreement *a)
{
    (void)oob_reserve(a, 0);
    free(a->nodes);
    a->nodes = NULL;
}

static gba_status_t agreement_fail(struct gba_agreement *a, gba_status_t status)
{
    struct gba_team *team = a->team;
    /* Another member may have taken the path, and ask whether this one has arrived: it never does.
     * So the team stays registered, as long as the process. */
    const bool stays = GBA_DUE_TRIAL != a->due && team->failover.link != NULL;

    gba_build_undo(a);
    gba_agree_end(a);
    if (stays) {
        gba_word_store_relaxed(&team->use.left, 1);
        gba_degraded_close(team);
    }
    if (GBA_DUE_TRIAL != a->due) {
        gba_renegotiation_cancel(team);
        gba_trial_cancel(team);
    }
    if (GBA_DUE_CREATE == a->due && !stays)
        gba_agree_free(team);
    return status;
}

gba_status_t gba_agree_start(gba_team_t *team, gba_due_t due, const gba_team_attr_t *attr,
                             const gba_oob_t *oob, gba_agreement_t **agreement)
{
    const size_t each =
        sizeof(struct gba_node_info) + sizeof(struct gba_member_info) + sizeof(uint64_t);
    struct gba_agreement *a;

    if (GBA_DUE_CREATE == due)
        team = team_new(attr, oob);
    /* A member that lacks memory for a few kilobytes cannot take part in the agreement. The runtime
     * must treat this as a failed collective call. */
    if (team == NULL)
        return GBA_ERR_NOMEM;
    a = team->agreement;
    *a = (struct gba_agreement){.team = team,
                                .due = due,
                                .attr = *attr,
                                .params = *attr->params,
                                .oob = *oob,
                                .join_status = GBA_INPROGRESS,
                                .record = a->record,
                                .topology = a->topology};
    a->attr.params = &a->params;
    a->info.size = oob->size;
    a->info.together = attr->notifies_together;
    /* The layout needs memory that grows with the team. A member without that memory must not be
     * missing from it, so all members learn of it in the first exchange. */
    a->nodes = calloc(oob->size, each);
    if (a->nodes != NULL && GBA_OK != oob_reserve(a, RECORD_MOST)) {
        free(a->nodes);
        a->nodes = NULL;
    }
    if (a->nodes != NULL) {
        a->scratch = (uint64_t *)(void *)(a->nodes + oob->size);
        a->members = (struct gba_member_info *)(void *)(a->scratch + oob->size);
    }
    *agreement = a;
    return GBA_OK;
}

gba_status_t gba_agree_advance(struct gba_agreement *a, gba_team_t **team)
{
    gba_status_t status = GBA_OK;

    while (GBA_AGREE_DONE != a->state) {
        /* Nothing is posted before the first step. */
        status = GBA_AGREE_START == a->state ? GBA_OK : a->oob.test(a->oob.ctx);
        if (GBA_INPROGRESS == status)
            return status;
        if (GBA_OK == status)
            status = gba_agree_step(a);
        if (GBA_OK != status)
            return agreement_fail(a, status);
    }
    gba_agree_end(a);
    *team = a->team;
    return GBA_OK;
}

void gba_agree_idle(const struct gba_team *team)
{
    const gba_runtime_t *runtime = &team->runtime;
    const int served = runtime->progress != NULL ? runtime->progress(runtime->ctx) : 0;

    if (team->waiting.oversubscribed && served <= 0)
        sched_yield();
}
