/* SPDX-License-Identifier: BSD-3-Clause */
/* Central (v3): pull; one store to the own flag, N - 1 reads, no remote write. steps.h has the
 * steps; here they run over any transport. */
#include "gba/algo/steps.h"

static gba_status_t start(struct gba_algo_state *algo, struct gba_transport *transport,
                          uint32_t seq)
{
    return gba_central_start_on(transport->ops, algo, transport, seq);
}

static gba_status_t test(struct gba_algo_state *algo, struct gba_transport *transport)
{
    return gba_central_test_on(transport->ops, algo, transport);
}

static const struct gba_schedule schedule = {.slots = gba_central_slots};

const struct gba_algorithm gba_algo_central = {
    .name = "central (v3)",
    .pulls = true,
    .slots = gba_central_slots,
    .schedule = &schedule,
    .start = start,
    .test = test,
};
