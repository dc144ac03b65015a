/* SPDX-License-Identifier: BSD-3-Clause */
/* A transport that sends nothing, for tests of the agreement alone. */
#ifndef TESTS_UNIT_NO_TRANSPORT_H
#define TESTS_UNIT_NO_TRANSPORT_H

#include <stdlib.h>

#include "gba/runtime.h"
#include "gba/transport/transport.h"

static gba_status_t no_set(struct gba_transport *transport, uint32_t peer, uint32_t slot,
                           uint32_t seq)
{
    (void)transport, (void)peer, (void)slot, (void)seq;
    return GBA_OK;
}

static uint32_t no_load(struct gba_transport *transport, uint32_t slot, uint32_t parity)
{
    (void)transport, (void)slot, (void)parity;
    return 0;
}

static void transport_free(struct gba_transport *transport)
{
    free(transport);
}

static const struct gba_transport_ops no_ops = {
    .name = "none", .set = no_set, .load = no_load, .destroy = transport_free};

static gba_status_t remote_open(void *ctx, const gba_remote_group_t *group,
                                struct gba_transport **transport)
{
    struct gba_transport *s = calloc(1, sizeof *s);

    (void)ctx, (void)group;
    if (s == NULL)
        return GBA_ERR_NOMEM;
    s->ops = &no_ops;
    *transport = s;
    return GBA_OK;
}

static const gba_remote_t some_remote = {.open = remote_open};

#endif
