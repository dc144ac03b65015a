/* SPDX-License-Identifier: BSD-3-Clause */
/* The shape of a path: what its members derive from their information, and build their parts from.
 */
#ifndef GBA_PATH_SHAPE_H
#define GBA_PATH_SHAPE_H

#include "gba/algo/algorithm.h"
#include "gba/algo/domains.h"

/* The kinds of path other than a group of all. The last one may have groups of the node leaders. */
enum gba_shape_kind {
    GBA_SHAPE_COUNTER,  /* one host: a counter in shared memory */
    GBA_SHAPE_SHARED,   /* one host: an algorithm over shared memory */
    GBA_SHAPE_MESSAGES, /* an algorithm over messages, among all members */
    GBA_SHAPE_HYBRID    /* gather in the node, node leaders among themselves, release in the node */
};

/* Algorithms of one path through shared memory, each with slots of its own, so that a member can
 * change from one to the other between two barriers (path_shared.h). */
#define GBA_SCHEDULES_MOST 4u

/* The shape, the same on all members but for their place in it. */
struct gba_shape {
    const struct gba_topology *topology; /* of the team */
    enum gba_shape_kind kind;
    const struct gba_algorithm *algorithm; /* of all members, of node leaders or domain leaders */
    bool replaced; /* not the requested central (v3), which reads the flags of other members */
    uint32_t radix, sequence;
    uint64_t epoch;                      /* of the path, see gba_remote_group_t */
    uint32_t slots;                      /* of each member of a node */
    uint32_t schedules;                  /* of a path through shared memory; 0: one, which stays */
    uint8_t radices[GBA_SCHEDULES_MOST]; /* of these; 0: dissemination. [0]: the first one */
    struct gba_domains domains;          /* count: 0, or the node leaders are to have groups */
};

/* A path as the values of the parameters that lead to it. */
struct gba_choice {
    int32_t hierarchy; /* gba_hierarchy_t: FLAT or NODE; on one host NODE is the counter */
    int32_t algorithm; /* gba_algorithm_choice_t; of a software barrier */
    bool group;        /* barrier groups: of all members, or of the node leaders */
    bool fallback;     /* the runtime's barrier; the other fields mean nothing */
    uint8_t radix;     /* of radix, and the children of a tree's member; 0: it has none */
};

static inline bool gba_choices_equal(struct gba_choice a, struct gba_choice b)
{
    return a.fallback == b.fallback &&
           (a.fallback || (a.hierarchy == b.hierarchy && a.algorithm == b.algorithm &&
                           a.group == b.group && a.radix == b.radix));
}

#endif
