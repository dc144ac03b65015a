/* SPDX-License-Identifier: BSD-3-Clause */
/* Radix-k dissemination (v2): push, ceil(log_k N) rounds. steps.h has the steps; here they run over
 * any transport. */
#include "gba/algo/steps.h"

static gba_status_t start(struct gba_algo_state *algo, struct gba_transport *transport,
                          uint32_t seq)
{
    return gba_radix_start_on(transport->ops, algo, transport, seq);
}

static gba_status_t test(struct gba_algo_state *algo, struct gba_transport *transport)
{
    return gba_radix_test_on(transport->ops, algo, transport);
}

static const struct gba_schedule schedule = {.slots = gba_sched_slots, .link = gba_sched_link};

const struct gba_algorithm gba_algo_radix = {
    .name = "radix (v2)",
    .pulls = false,
    .slots = gba_sched_slots,
    .schedule = &schedule,
    .start = start,
    .test = test,
};
