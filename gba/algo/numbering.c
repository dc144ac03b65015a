/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/algo/numbering.h"

#include <stdlib.h>

#define FIELDS 4 /* of a place: package, NUMA node, cache, core */
#define LEVELS 3 /* the fields with a border around them */

static uint64_t field(uint64_t place, uint32_t level)
{
    return place >> (16 * (FIELDS - 1 - level)) & 0xffff;
}

/* By key, then by member: qsort is not stable. */
static int compare(const void *left, const void *right)
{
    const struct gba_numbered *a = left, *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->member > b->member) - (a->member < b->member);
}

static void sort_by_place(struct gba_numbered *members, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        members[i].key = members[i].place;
    qsort(members, count, sizeof *members, compare);
}

/* Replace each field by an ordinal within the field above it. The last one counts the members of a
 * cache, so that all places differ. */
static void number_places(struct gba_numbered *members, uint32_t count)
{
    uint64_t at[FIELDS] = {0};

    sort_by_place(members, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t level = 0;

        if (i > 0) {
            while (level < FIELDS - 1 &&
                   field(members[i].key, level) == field(members[i - 1].key, level))
                level++;
            at[level]++;
            while (++level < FIELDS)
                at[level] = 0;
        }
        members[i].place = at[0] << 48 | at[1] << 32 | at[2] << 16 | at[3];
    }
}

/*
 * Sort by the fields in another order. turns: a bit for each level whose parts take turns; the
 * parts of the other levels have consecutive numbers. So those go first, the outermost foremost,
 * and those that take turns go behind the core, the outermost last.
 */
static void sort_by_turns(struct gba_numbered *members, uint32_t count, uint32_t turns)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t place = members[i].place;
        uint64_t key = 0;

        for (uint32_t level = 0; level < LEVELS; level++)
            if (0 == (turns >> level & 1))
                key = key << 16 | field(place, level);
        key = key << 16 | field(place, LEVELS);
        for (uint32_t level = LEVELS; level-- > 0;)
            if (0 != (turns >> level & 1))
                key = key << 16 | field(place, level);
        members[i].key = key;
    }
    qsort(members, count, sizeof *members, compare);
}

static void sort_by_member(struct gba_numbered *members, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        members[i].key = members[i].member;
    qsort(members, count, sizeof *members, compare);
}

static uint32_t borders(uint64_t a, uint64_t b)
{
    for (uint32_t level = 0; level < LEVELS; level++)
        if (field(a, level) != field(b, level))
            return LEVELS - level;
    return 0;
}

uint64_t gba_numbering_crossings(const struct gba_numbered *members, uint32_t count,
                                 const struct gba_schedule *schedule, uint32_t radix)
{
    const uint32_t slots = schedule->slots(count, radix);
    uint64_t crossings = 0;

    for (uint32_t number = 0; number < count && schedule->link != NULL; number++)
        for (uint32_t slot = 0; slot < slots; slot++) {
            const uint32_t target = schedule->link(number, count, radix, slot).target;

            if (GBA_SCHED_NONE != target)
                crossings += borders(members[number].place, members[target].place);
        }
    return crossings;
}

void gba_numbering_make(struct gba_numbered *members, uint32_t count,
                        const struct gba_schedule *schedule, uint32_t radix)
{
    uint64_t least, crossings;
    uint32_t best = UINT32_MAX; /* by members */

    for (uint32_t i = 0; i < count; i++)
        if (GBA_PLACE_NONE == members[i].place)
            return;
    least = gba_numbering_crossings(members, count, schedule, radix);
    if (0 == least)
        return;
    number_places(members, count);
    for (uint32_t turns = 0; turns < 1u << LEVELS; turns++) {
        sort_by_turns(members, count, turns);
        crossings = gba_numbering_crossings(members, count, schedule, radix);
        if (crossings < least) {
            least = crossings;
            best = turns;
        }
    }
    if (UINT32_MAX == best)
        sort_by_member(members, count);
    else
        sort_by_turns(members, count, best);
}

uint32_t gba_numbering_find(const struct gba_numbered *members, uint32_t count, uint32_t member)
{
    uint32_t number = 0;

    while (number < count && members[number].member != member)
        number++;
    return number;
}
