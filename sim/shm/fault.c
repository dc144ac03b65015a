/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options of the simulator: latency, jitter and injected faults. Faults are injected by count, so
 * that a failure can be reproduced.
 */
#include "gba/base/clock.h"
#include "sim/shm/fault.h"

/* Count an event. Returns whether it is an nth one; n = 0: never. */
static bool count_nth(gba_word_t *counter, uint32_t n)
{
    return 0 != n && 0 == (gba_word_add_relaxed(counter, 1) + 1) % n;
}

bool gba_sim_fault_lose_arrival(struct gba_sim_segment *segment)
{
    return count_nth(&segment->arrivals, segment->header.options.lose_arrival);
}

bool gba_sim_fault_die_arrival(struct gba_sim_segment *segment)
{
    uint32_t limit = segment->header.options.die_arrival;

    if (0 == limit || gba_word_add_relaxed(&segment->taken, 1) + 1 < limit)
        return false;
    gba_word_store_relaxed(&segment->dead, 1);
    return true;
}

void gba_sim_fault_call(struct gba_sim_segment *segment)
{
    uint32_t limit = segment->header.options.die_call;

    if (0 != limit && gba_word_add_relaxed(&segment->calls, 1) + 1 == limit)
        gba_word_store_relaxed(&segment->dead, 1);
}

bool gba_sim_fault_die(struct gba_sim_segment *segment)
{
    const struct gba_sim_options *set = &segment->header.options;

    if (0 == (set->die_after | set->die_release) ||
        gba_word_add_relaxed(&segment->rounds, 1) < set->die_after)
        return false;
    gba_word_store_relaxed(&segment->dead, 1);
    return true;
}

/* The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): a pseudorandom number from a
 * counter. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

uint64_t gba_sim_fault_delay(const struct gba_sim_options *set, uint64_t count)
{
    uint64_t jitter = 0;

    if (0 != set->jitter)
        jitter = mix((uint64_t)set->seed << 32 ^ count) % ((uint64_t)set->jitter + 1);
    return set->latency + jitter;
}

void gba_sim_fault_release(struct gba_sim_segment *segment, struct gba_sim_slot *slot,
                           uint32_t sequence)
{
    const struct gba_sim_options *set = &segment->header.options;
    uint64_t count = gba_word_add_relaxed(&segment->stores, 1) + 1;
    uint64_t word = GBA_SIM_SLOT_FULL | sequence;
    uint64_t delay = gba_sim_fault_delay(set, count);

    if (0 != set->lose_release && 0 == count % set->lose_release)
        return;
    if (0 == delay) {
        /* A newer store must be the last one: no pending store may follow it. */
        gba_word_store_relaxed(&slot->pending, 0);
        gba_sim_flag_store(slot, sequence);
        return;
    }
    /* A repeated request does not restart the delay. Otherwise the release would never arrive at a
     * member that repeats its arrival faster than the delay passes. */
    if (word == gba_word_load_relaxed(&slot->pending))
        return;
    gba_word_store_relaxed(&slot->due, gba_clock_ns() + delay);
    /* Release: pairs with gba_sim_fault_due, for `due` and for the writes of the members. */
    gba_word_store_release(&slot->pending, word);
}

bool gba_sim_fault_due(struct gba_sim_slot *slot)
{
    return 0 != gba_word_load_acquire(&slot->pending) &&
           gba_clock_ns() >= gba_word_load_relaxed(&slot->due);
}

void gba_sim_fault_deliver(struct gba_sim_slot *slot)
{
    if (!gba_sim_fault_due(slot)) /* another thread was faster */
        return;
    gba_flag_store_release(&slot->flag, (uint32_t)gba_word_load_relaxed(&slot->pending));
    gba_word_store_relaxed(&slot->pending, 0);
}
