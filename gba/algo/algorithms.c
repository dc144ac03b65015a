/* SPDX-License-Identifier: BSD-3-Clause */
/* The algorithms over any transport; steps.h has their steps. */
#include "gba/algo/steps.h"

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

#define ROW(choice, steps, ...)                   \
    [choice] = {.start = steps##_start,           \
                .test = steps##_test,             \
                .awaited = gba_##steps##_awaited, \
                __VA_ARGS__},

GBA_ALGORITHMS(STEPS)

const struct gba_algorithm gba_algorithms[] = {GBA_ALGORITHMS(ROW)};
