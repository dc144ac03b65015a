/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/transport/node_flags.h"

#include <stdlib.h>

#include "gba/base/park.h"
#include "gba/base/place.h"
#include "gba/spec/gba_regs.h"

/* Up to 16 members one that loads the flags of all is as fast as any barrier of one cache; of
 * members without a place nobody knows how far they are. */
#define GROUP_MOST         16u
#define GROUP_MOST_UNKNOWN 8u

enum slot { ARRIVED, GATHERED, RELEASE, SLOTS };
_Static_assert(GBA_NODE_FLAGS_SLOTS == SLOTS, "one line for each");

static gba_word_t *word_of(const struct gba_segment *segment, uint32_t member, enum slot slot)
{
    return gba_segment_slots(segment, member) + slot * (GBA_SLOT_SIZE / sizeof(gba_word_t));
}

/* The place of a member, with any core of the cache. */
static uint64_t cache_of(const struct gba_segment *segment, uint32_t member)
{
    const uint64_t place = gba_word_load_acquire(gba_segment_place(segment, member));

    return GBA_PLACE_NONE == place ? place : place | gba_place_make(0, 0, 0, UINT16_MAX);
}

uint32_t gba_node_flags_first(const struct gba_segment *segment, uint32_t member)
{
    const uint64_t cache = cache_of(segment, member);
    const uint32_t most = GBA_PLACE_NONE == cache ? GROUP_MOST_UNKNOWN : GROUP_MOST;
    uint32_t first = member, before = 0; /* members of the cache */

    for (uint32_t i = 0; i < member; i++)
        if (cache_of(segment, i) == cache && 0 == before++ % most)
            first = i;
    return 0 == before % most ? member : first;
}

gba_status_t gba_node_flags_open(struct gba_node_flags *flags, const struct gba_segment *segment,
                                 uint32_t sequence)
{
    /* The leader gathers at most all others, and releases at most as many groups as members. */
    gba_word_t **words = malloc(2 * segment->members * sizeof(gba_word_t *));

    if (words == NULL)
        return GBA_ERR_NOMEM;
    *flags = (struct gba_node_flags){.words = words,
                                     .sleepers = gba_segment_word(segment, GBA_SEGMENT_SLEEPERS),
                                     .seq = sequence};
    return GBA_OK;
}

void gba_node_flags_close(struct gba_node_flags *flags)
{
    free(flags->words);
    flags->words = NULL;
}

static bool is_first(const struct gba_segment *segment, uint32_t member)
{
    return gba_node_flags_first(segment, member) == member;
}

void gba_node_flags_join(struct gba_node_flags *flags, const struct gba_segment *segment,
                         uint32_t member)
{
    const uint32_t first = gba_node_flags_first(segment, member), size = segment->members;

    flags->arrived = word_of(segment, member, ARRIVED);
    flags->release = word_of(segment, first, RELEASE);
    flags->gathered = first == member && 0 != member ? word_of(segment, member, GATHERED) : NULL;
    flags->awaited = flags->releases = 0;
    for (uint32_t i = member + 1; i < size && first == member; i++)
        if (gba_node_flags_first(segment, i) == member)
            flags->words[flags->awaited++] = word_of(segment, i, ARRIVED);
    if (0 != member)
        return;
    for (uint32_t i = 1; i < size; i++)
        if (is_first(segment, i))
            flags->words[flags->awaited++] = word_of(segment, i, GATHERED);
    for (uint32_t i = 0; i < size; i++)
        if (is_first(segment, i))
            flags->words[flags->awaited + flags->releases++] = word_of(segment, i, RELEASE);
}

bool gba_node_flags_gathered(struct gba_node_flags *flags)
{
    for (; flags->seen < flags->awaited; flags->seen++)
        if (!GBA_SEQ_REACHED((uint32_t)gba_word_load_acquire(flags->words[flags->seen]),
                             flags->seq))
            return false;
    if (flags->gathered != NULL && flags->seen == flags->awaited) {
        flags->seen++;
        gba_word_store_release(flags->gathered, flags->seq);
        gba_word_unpark(flags->gathered, flags->sleepers);
    }
    return true;
}

void gba_node_flags_gather(struct gba_node_flags *flags, uint32_t seq)
{
    flags->seq = seq;
    flags->seen = 0;
    gba_word_store_release(flags->arrived, seq);
    gba_word_unpark(flags->arrived, flags->sleepers);
    (void)gba_node_flags_gathered(flags); /* alone in its group: nothing is awaited */
}

void gba_node_flags_release(struct gba_node_flags *flags)
{
    for (uint32_t i = 0; i < flags->releases; i++) {
        gba_word_t *word = flags->words[flags->awaited + i];

        gba_word_store_release(word, flags->seq);
        gba_word_unpark(word, flags->sleepers);
    }
}
