/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options of the simulator: latency, jitter and faults that are injected by count, so that a
 * failure that was seen once can be had again.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gba/dev/sim.h"

/* As the path spells them (path.h). */
static const struct {
    const char *name;
    size_t offset;
} options[] = {
    {"latency", offsetof(struct gba_sim_options, latency)},
    {"jitter", offsetof(struct gba_sim_options, jitter)},
    {"seed", offsetof(struct gba_sim_options, seed)},
    {"lose_arrival", offsetof(struct gba_sim_options, lose_arrival)},
    {"lose_release", offsetof(struct gba_sim_options, lose_release)},
    {"repeat_release", offsetof(struct gba_sim_options, repeat_release)},
    {"die_after", offsetof(struct gba_sim_options, die_after)},
    {"die_arrival", offsetof(struct gba_sim_options, die_arrival)},
    {"die_release", offsetof(struct gba_sim_options, die_release)},
    {"die_call", offsetof(struct gba_sim_options, die_call)},
    {"groups", offsetof(struct gba_sim_options, groups)},
    {"full", offsetof(struct gba_sim_options, full)},
    {"refuse_rank", offsetof(struct gba_sim_options, refuse_rank)},
    {"version", offsetof(struct gba_sim_options, version)},
};
#define OPTIONS (sizeof options / sizeof options[0])
_Static_assert(OPTIONS * sizeof(uint32_t) == sizeof(struct gba_sim_options),
               "all options are in the table");

static uint32_t option_get(const struct gba_sim_options *set, size_t index)
{
    uint32_t value;

    memcpy(&value, (const char *)set + options[index].offset, sizeof value);
    return value;
}

/* The value as the user wrote it: a rank is stored one higher, since 0 stands for none. */
static void option_print(char text[16], size_t index, uint32_t value)
{
    bool rank = offsetof(struct gba_sim_options, refuse_rank) == options[index].offset;

    if (rank && 0 == value)
        snprintf(text, 16, "none");
    else
        snprintf(text, 16, "%" PRIu32, rank ? value - 1 : value);
}

bool gba_sim_options_differ(const struct gba_sim_options *a, const struct gba_sim_options *b,
                            char *message, size_t len)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        uint32_t value_a = option_get(a, i), value_b = option_get(b, i);
        char text_a[16], text_b[16];

        if (value_a == value_b)
            continue;
        option_print(text_a, i, value_a);
        option_print(text_b, i, value_b);
        snprintf(message, len, "%s is %s, not %s", options[i].name, text_a, text_b);
        return true;
    }
    return false;
}

/* Whether this event of a counted kind is an nth one; n = 0: never. */
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

/* The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): a number from a counter. */
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
    /* One at a time: a second must not take the place of one that is not stale yet. */
    if (0 != set->repeat_release && 0 == count % set->repeat_release &&
        0 == gba_word_load_relaxed(&slot->repeated))
        gba_word_store_relaxed(&slot->repeated, word);
    if (0 == delay) {
        /* The newest store is the last one: none that is still on its way may come after it. */
        gba_word_store_relaxed(&slot->pending, 0);
        gba_sim_flag_store(slot, sequence);
        return;
    }
    /* One that was asked for again does not start anew, or it would never arrive with a member that
     * asks more often than it takes. */
    if (word == gba_word_load_relaxed(&slot->pending))
        return;
    gba_word_store_relaxed(&slot->due, gba_sim_clock_ns() + delay);
    /* Release: pairs with gba_sim_fault_due, for `due` and for all that the members wrote. */
    gba_word_store_release(&slot->pending, word);
}

/*
 * A repeated store is made in a later round, while the member waits: it must be neither let out nor
 * held back by what it sees. Not once its release is there, since that would be a lost release,
 * which is a fault of its own.
 */
static bool repeat_due(struct gba_sim_slot *slot)
{
    uint64_t word = gba_word_load_relaxed(&slot->repeated);
    uint64_t flag = gba_word_load_relaxed(&slot->flag);

    return 0 != word && flag != (uint32_t)word && flag != gba_word_load_relaxed(&slot->awaited);
}

bool gba_sim_fault_due(struct gba_sim_slot *slot)
{
    return (0 != gba_word_load_acquire(&slot->pending) &&
            gba_sim_clock_ns() >= gba_word_load_relaxed(&slot->due)) ||
           repeat_due(slot);
}

void gba_sim_fault_deliver(struct gba_sim_slot *slot)
{
    uint64_t word = gba_word_load_relaxed(&slot->pending);

    if (repeat_due(slot)) {
        gba_word_store_release(&slot->flag, (uint32_t)gba_word_load_relaxed(&slot->repeated));
        gba_word_store_relaxed(&slot->repeated, 0);
    }
    if (0 != word && gba_sim_clock_ns() >= gba_word_load_relaxed(&slot->due)) {
        gba_word_store_release(&slot->flag, (uint32_t)word);
        gba_word_store_relaxed(&slot->pending, 0);
    }
}

void gba_sim_fault_flush(struct gba_sim_slot *slot)
{
    uint64_t word = gba_word_load_relaxed(&slot->pending);

    if (0 != word)
        gba_word_store_release(&slot->flag, (uint32_t)word);
    gba_word_store_relaxed(&slot->pending, 0);
    gba_word_store_relaxed(&slot->repeated, 0);
}
