/* SPDX-License-Identifier: BSD-3-Clause */
/* v3: centralized, by pull: one store to an own flag, N - 1 reads, no remote write. Its steps are
 * in steps.h; here they run over any transport. */
#include "gba/soft/steps.h"

static gba_status_t start(struct gba_soft *soft, struct gba_signals *signals, uint32_t seq)
{
    return gba_central_start_on(signals->ops, soft, signals, seq);
}

static gba_status_t test(struct gba_soft *soft, struct gba_signals *signals)
{
    return gba_central_test_on(signals->ops, soft, signals);
}

const struct gba_algorithm gba_soft_central = {
    .name = "v3",
    .pulls = true,
    .slots = gba_central_slots,
    .start = start,
    .test = test,
};
