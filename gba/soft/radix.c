/* SPDX-License-Identifier: BSD-3-Clause */
/* v2: radix-k dissemination by push, ceil(logk N) rounds. Its steps are in steps.h; here they run
 * over any transport. */
#include "gba/soft/steps.h"

static gba_status_t start(struct gba_soft *soft, struct gba_signals *signals, uint32_t seq)
{
    return gba_radix_start_on(signals->ops, soft, signals, seq);
}

static gba_status_t test(struct gba_soft *soft, struct gba_signals *signals)
{
    return gba_radix_test_on(signals->ops, soft, signals);
}

const struct gba_algorithm gba_soft_radix = {
    .name = "v2",
    .pulls = false,
    .slots = gba_sched_slots,
    .start = start,
    .test = test,
};
