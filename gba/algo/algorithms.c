/* SPDX-License-Identifier: BSD-3-Clause */
/* The algorithms over any transport; steps.h has their steps. */
#include "gba/algo/steps.h"

/* name_start and name_test: the steps with the transport's own table. */
#define OVER_ANY_TRANSPORT(name)                                                                   \
    static gba_status_t name##_start(struct gba_algo_state *algo, struct gba_transport *transport, \
                                     uint32_t seq)                                                 \
    {                                                                                              \
        return gba_##name##_start_on(transport->ops, algo, transport, seq);                        \
    }                                                                                              \
    static gba_status_t name##_test(struct gba_algo_state *algo, struct gba_transport *transport)  \
    {                                                                                              \
        return gba_##name##_test_on(transport->ops, algo, transport);                              \
    }

OVER_ANY_TRANSPORT(dissemination)
OVER_ANY_TRANSPORT(radix)
OVER_ANY_TRANSPORT(central)
OVER_ANY_TRANSPORT(tree)

static struct gba_sched_link dissemination_link(uint32_t rank, uint32_t size, uint32_t radix,
                                                uint32_t slot)
{
    (void)radix;
    return gba_sched_link(rank, size, 2, slot);
}

const struct gba_schedule gba_schedule_dissemination = {gba_dissemination_slots,
                                                        dissemination_link};
const struct gba_schedule gba_schedule_radix = {gba_sched_slots, gba_sched_link};
const struct gba_schedule gba_schedule_central = {.slots = gba_central_slots};
const struct gba_schedule gba_schedule_tree = {gba_sched_tree_slots, gba_sched_tree_link};

/* Push, ceil(log2 N) signals per member. */
const struct gba_algorithm gba_algo_dissemination = {
    .name = "dissemination (v1)",
    .slots = gba_dissemination_slots,
    .schedule = &gba_schedule_dissemination,
    .start = dissemination_start,
    .test = dissemination_test,
    .awaited = gba_dissemination_awaited,
};

/* Push, ceil(log_k N) rounds of up to k - 1 signals. */
const struct gba_algorithm gba_algo_radix = {
    .name = "radix (v2)",
    .slots = gba_sched_slots,
    .schedule = &gba_schedule_radix,
    .start = radix_start,
    .test = radix_test,
    .awaited = gba_radix_awaited,
};

/* Pull: one store to the own flag, N - 1 reads, no remote write. */
const struct gba_algorithm gba_algo_central = {
    .name = "central (v3)",
    .pulls = true,
    .slots = gba_central_slots,
    .schedule = &gba_schedule_central,
    .start = central_start,
    .test = central_test,
    .awaited = gba_central_awaited,
};

/* Arrivals gathered along a tree to member 0, releases back along it. */
const struct gba_algorithm gba_algo_tree = {
    .name = "tree",
    .tree = true,
    .slots = gba_sched_tree_slots,
    .schedule = &gba_schedule_tree,
    .start = tree_start,
    .test = tree_test,
    .awaited = gba_tree_awaited,
};
