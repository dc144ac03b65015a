/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/failover/degraded.h"

gba_status_t gba_degraded_open(struct gba_team *team, const gba_team_attr_t *attr)
{
    const gba_remote_group_t all = {.size = team->size, .rank = team->rank, .channel = 1};

    if (gba_degraded_ready(team) || !attr->nonblocking)
        return GBA_OK;
    return gba_message_barrier_open(&team->degraded, attr->remote, all, &gba_algo_dissemination, 2);
}

bool gba_degraded_ready(const struct gba_team *team)
{
    return team->degraded.transport != NULL;
}

void gba_degraded_close(struct gba_team *team)
{
    gba_message_barrier_close(&team->degraded);
}

gba_status_t gba_degraded_start(struct gba_team *team)
{
    return gba_message_barrier_start(&team->degraded, team->degraded.algo.seq + 1);
}

gba_status_t gba_degraded_test(struct gba_team *team)
{
    gba_status_t status = gba_message_barrier_progress(&team->degraded);

    return GBA_OK == status ? gba_message_barrier_test(&team->degraded) : status;
}
