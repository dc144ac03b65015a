/* SPDX-License-Identifier: BSD-3-Clause */
/* v1: dissemination by push, ceil(log2 N) signals a member. Its steps are in steps.h; here they run
 * over any transport. */
#include "gba/soft/steps.h"

static gba_status_t start(struct gba_soft *soft, struct gba_signals *signals, uint32_t seq)
{
    return gba_dissemination_start_on(signals->ops, soft, signals, seq);
}

static gba_status_t test(struct gba_soft *soft, struct gba_signals *signals)
{
    return gba_dissemination_test_on(signals->ops, soft, signals);
}

const struct gba_algorithm gba_soft_dissemination = {
    .name = "v1",
    .pulls = false,
    .slots = gba_dissemination_slots,
    .start = start,
    .test = test,
};
