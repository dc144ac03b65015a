/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/interim.h"

#include <string.h>

#include "gba/engine.h"

static const struct gba_algorithm *const algorithm = &gba_soft_dissemination;

gba_status_t gba_interim_open(struct gba_team *team, const gba_team_attr_t *attr)
{
    struct gba_interim *interim = &team->interim;
    const gba_remote_group_t all = {
        .size = team->size, .rank = team->rank, .radix = 2, .channel = 1};

    if (NULL != interim->signals || !attr->nonblocking)
        return GBA_OK;
    if (NULL == attr->remote)
        return GBA_ERR_UNSUPPORTED;
    memset(interim, 0, sizeof *interim);
    gba_soft_init(&interim->soft, team->rank, team->size, all.radix, all.sequence);
    return attr->remote->open(attr->remote->ctx, &all, &interim->signals);
}

void gba_interim_close(struct gba_team *team)
{
    struct gba_signals *signals = team->interim.signals;

    if (NULL != signals && NULL != signals->ops->destroy)
        signals->ops->destroy(signals);
    memset(&team->interim, 0, sizeof team->interim);
}

bool gba_interim_due(const struct gba_team *team)
{
    return NULL != team->interim.signals && gba_team_recover_due(team);
}

gba_status_t gba_interim_start(struct gba_team *team)
{
    struct gba_interim *interim = &team->interim;

    interim->under_way = true;
    return algorithm->start(&interim->soft, interim->signals, ++interim->sequence);
}

gba_status_t gba_interim_test(struct gba_team *team)
{
    struct gba_signals *signals = team->interim.signals;
    gba_status_t status = GBA_OK;

    if (NULL != signals->ops->progress)
        status = signals->ops->progress(signals);
    return GBA_OK == status ? algorithm->test(&team->interim.soft, signals) : status;
}

uint32_t gba_interim_late_source(const struct gba_team *team)
{
    const struct gba_interim *interim = &team->interim;
    uint32_t word =
        interim->signals->ops->mine(interim->signals, 0, gba_signal_parity(interim->sequence));

    if (GBA_SEQ_REACHED(word, interim->sequence))
        return UINT32_MAX;
    return gba_sched_source(team->rank, 1, team->size);
}
