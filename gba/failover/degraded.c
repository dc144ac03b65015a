/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/failover/degraded.h"

#include <string.h>

gba_status_t gba_degraded_open(struct gba_team *team, const gba_team_attr_t *attr)
{
    const gba_remote_group_t all = {.size = team->size, .rank = team->rank, .channel = 1};

    if (gba_degraded_ready(team) || !attr->nonblocking)
        return GBA_OK;
    team->degraded.sequence = all.sequence;
    return gba_message_barrier_open(&team->degraded.messages, attr->remote, all,
                                    &gba_algo_dissemination, 2);
}

bool gba_degraded_ready(const struct gba_team *team)
{
    return team->degraded.messages.transport != NULL;
}

void gba_degraded_close(struct gba_team *team)
{
    gba_message_barrier_close(&team->degraded.messages);
    memset(&team->degraded, 0, sizeof team->degraded);
}

gba_status_t gba_degraded_start(struct gba_team *team)
{
    return gba_message_barrier_start(&team->degraded.messages, ++team->degraded.sequence);
}

gba_status_t gba_degraded_test(struct gba_team *team)
{
    gba_status_t status = gba_message_barrier_progress(&team->degraded.messages);

    return GBA_OK == status ? gba_message_barrier_test(&team->degraded.messages) : status;
}
