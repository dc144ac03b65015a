/* SPDX-License-Identifier: BSD-3-Clause */
/* The algorithms over any transport; steps.h has their steps. */
#include "gba/algo/steps.h"

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

/* The steps with the transport's own table. */
#define STEPS(choice, steps, ...)                                                                  \
    static gba_status_t steps##_start(struct gba_algo_state *algo,                                 \
                                      struct gba_transport *transport, uint32_t seq)               \
    {                                                                                              \
        return gba_##steps##_start_on(transport->ops, algo, transport, seq);                       \
    }                                                                                              \
    static gba_status_t steps##_test(struct gba_algo_state *algo, struct gba_transport *transport) \
    {                                                                                              \
        return gba_##steps##_test_on(transport->ops, algo, transport);                             \
    }

#define ROW(choice, steps, ...)                    \
    [choice] = {.schedule = &gba_schedule_##steps, \
                .start = steps##_start,            \
                .test = steps##_test,              \
                .awaited = gba_##steps##_awaited,  \
                __VA_ARGS__},

GBA_ALGORITHMS(STEPS)

const struct gba_algorithm gba_algorithms[] = {GBA_ALGORITHMS(ROW)};
