/* SPDX-License-Identifier: BSD-3-Clause */
/* Dissemination (v1): push, ceil(log2 N) signals per member. steps.h has the steps; here they run
 * over any transport. */
#include "gba/algo/steps.h"

static gba_status_t start(struct gba_algo_state *algo, struct gba_transport *transport,
                          uint32_t seq)
{
    return gba_dissemination_start_on(transport->ops, algo, transport, seq);
}

static gba_status_t test(struct gba_algo_state *algo, struct gba_transport *transport)
{
    return gba_dissemination_test_on(transport->ops, algo, transport);
}

const struct gba_algorithm gba_algo_dissemination = {
    .name = "dissemination (v1)",
    .pulls = false,
    .slots = gba_dissemination_slots,
    .start = start,
    .test = test,
};
