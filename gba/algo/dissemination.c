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

static struct gba_sched_link link(uint32_t rank, uint32_t size, uint32_t radix, uint32_t slot)
{
    (void)radix;
    return gba_sched_link(rank, size, 2, slot);
}

static const struct gba_schedule schedule = {.slots = gba_dissemination_slots, .link = link};

const struct gba_algorithm gba_algo_dissemination = {
    .name = "dissemination (v1)",
    .pulls = false,
    .slots = gba_dissemination_slots,
    .schedule = &schedule,
    .start = start,
    .test = test,
};
