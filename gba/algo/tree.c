/* SPDX-License-Identifier: BSD-3-Clause */
/* Tree: push, 2 (N - 1) signals altogether. steps.h has the steps; here they run over any
 * transport. */
#include "gba/algo/steps.h"

static gba_status_t start(struct gba_algo_state *algo, struct gba_transport *transport,
                          uint32_t seq)
{
    return gba_tree_start_on(transport->ops, algo, transport, seq);
}

static gba_status_t test(struct gba_algo_state *algo, struct gba_transport *transport)
{
    return gba_tree_test_on(transport->ops, algo, transport);
}

static const struct gba_schedule schedule = {.slots = gba_sched_tree_slots,
                                             .link = gba_sched_tree_link};

const struct gba_algorithm gba_algo_tree = {
    .name = "tree",
    .pulls = false,
    .slots = gba_sched_tree_slots,
    .schedule = &schedule,
    .start = start,
    .test = test,
};
