/* SPDX-License-Identifier: BSD-3-Clause */
/* The shape of a path: what its members derive from their information, and build their parts from.
 */
#ifndef GBA_PATH_SHAPE_H
#define GBA_PATH_SHAPE_H

#include "gba/algo/algorithm.h"
#include "gba/algo/domains.h"

/* The kinds of software path. The last one may have barrier groups among the node leaders. */
enum gba_software_kind {
    GBA_SOFTWARE_NODE,  /* all members on one host: a counter in shared memory */
    GBA_SOFTWARE_FLAT,  /* an algorithm among all members: shared memory on one host, else messages
                         */
    GBA_SOFTWARE_HYBRID /* gather in the node, node leaders among themselves, release in the node */
};

/* The shape, the same on all members but for their place in it. */
struct gba_shape {
    struct gba_topology topology;
    enum gba_software_kind kind;
    const struct gba_algorithm *algorithm;
    int32_t chosen; /* gba_algorithm_choice_t; AUTO: the kind is GBA_SOFTWARE_NODE */
    bool replaced;  /* not the requested central (v3), which reads the flags of other members */
    uint32_t radix, sequence;
    uint32_t slots; /* of each member of a node */
    /* If the node leaders are to have groups: */
    struct gba_domains domains;
    bool upper_replaced;               /* upper replaces the requested algorithm, as above */
    const struct gba_algorithm *upper; /* among several domain leaders */
};

/* A candidate: values of the parameters from which agree/plan.c derives a path, or the runtime's
 * barrier.
 */
struct gba_choice {
    int32_t hierarchy; /* gba_hierarchy_t */
    int32_t algorithm; /* gba_algorithm_choice_t */
    bool fallback;     /* the runtime's barrier; the other fields mean nothing */
};

#endif
