/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gather and release in a node by flags, for many members with a core each: the adds to the counter
 * of node_barrier.h queue up on one line, which every core takes from the one before.
 *
 * The members of a last-level cache are a group. Each stores to a line of its own. The first one of
 * the group loads these lines, and reports to the leader when all have arrived. So only reports
 * cross from cache to cache. The leader, which is member 0, releases each group by a word of its
 * own. Members without a place, and those of large caches, are in groups by their order.
 *
 *   a member:      arrived ------------------------------------------ release
 *   first:         arrived  each arrived of the group  gathered ----- release
 *   leader:        arrived  each arrived of the group  each gathered  (the leaders)  each release
 *
 * Each word has one writer and only grows, and no member runs ahead: a member arrives at a round
 * only after it has seen the release of the round before, which follows all arrivals. A member that
 * leaves owes nothing, because the release follows its report.
 *
 * A member tests its release word as in node_barrier.h, and calls gba_node_flags_gathered until
 * then. No function blocks. One thread at a time on one struct gba_node_flags.
 */
#ifndef GBA_TRANSPORT_NODE_FLAGS_H
#define GBA_TRANSPORT_NODE_FLAGS_H

#include "gba/transport/segment.h"

/* In a node of more members the flags take their place; the slots of a segment for them. */
#define GBA_NODE_FLAGS_ABOVE 8u
#define GBA_NODE_FLAGS_SLOTS 3u

/* The state of one member. */
struct gba_node_flags {
    gba_word_t *arrived;  /* of this member; slot 0, as gba_node_mark */
    gba_word_t *gathered; /* of this member, if it is the first of a group; NULL: another one */
    gba_word_t *release;  /* of its group */
    gba_word_t *sleepers; /* of the segment, for gba_word_park */
    gba_word_t **words;   /* [awaited], then [releases]: what it gathers, and what it releases */
    uint32_t awaited, releases;
    uint32_t seen; /* of awaited; awaited + 1: reported */
    uint32_t seq;
};

/* The first member of the group of a member, by the places in the segment. Pure. */
uint32_t gba_node_flags_first(const struct gba_segment *segment, uint32_t member);

/* Allocate the state of a member, all that can fail. The segment has GBA_NODE_FLAGS_SLOTS slots.
 * Returns GBA_OK or GBA_ERR_NOMEM. gba_node_flags_close frees it; it may be all zero there. */
gba_status_t gba_node_flags_open(struct gba_node_flags *flags, const struct gba_segment *segment,
                                 uint32_t sequence);
void gba_node_flags_close(struct gba_node_flags *flags);

/* Derive the groups, before the first barrier. All members have stored their places, and read the
 * same. */
void gba_node_flags_join(struct gba_node_flags *flags, const struct gba_segment *segment,
                         uint32_t member);

/*
 * Whether all that this member gathers have arrived. The first of a group then reports it, so the
 * other members of the group depend on its calls until then.
 * Acquire on true, and release: pairs with the stores here and in gba_node_flags_gather.
 */
bool gba_node_flags_gathered(struct gba_node_flags *flags);

/* Arrive at round `seq`, the last one + 1. Release: pairs with gba_node_flags_gathered. */
void gba_node_flags_gather(struct gba_node_flags *flags, uint32_t seq);

/* Release all groups, by the leader. Release: pairs with the load of the release word. */
void gba_node_flags_release(struct gba_node_flags *flags);

/* The word that the member waits for; of the leader only while it gathers. */
static inline gba_word_t *gba_node_flags_awaited(const struct gba_node_flags *flags)
{
    return flags->seen < flags->awaited ? flags->words[flags->seen] : flags->release;
}

#endif
