/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/algo/sched.h"

uint32_t gba_sched_rounds(uint32_t size, uint32_t radix)
{
    uint32_t rounds = 0;

    for (uint32_t distance = 1; distance < size; distance *= radix)
        rounds++;
    return rounds;
}

uint32_t gba_sched_slots(uint32_t size, uint32_t radix)
{
    uint32_t slots = 0;

    /* Every round but the last uses all of its lanes, so the numbering has no holes. */
    for (uint32_t distance = 1; distance < size; distance *= radix)
        slots += gba_sched_lanes(distance, size, radix);
    return slots;
}
