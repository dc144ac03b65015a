/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The expected time of a barrier on each path, by a formula with few terms: the short form of what
 * gba_predict simulates. Pure. The formulas are those of LogGP (Alexandrov, Ionescu, Schauser and
 * Scheiman, 1995) for messages of one size, with a term for processes that share a core. They order
 * candidates; measurement (trial.h) has the last word.
 */
#ifndef GBA_AGREE_COST_H
#define GBA_AGREE_COST_H

#include "gba/base/cluster.h"
#include "gba/path/shape.h"

/* The terms, times in ns. Travels as bytes, in the terms of rank 0. */
struct gba_cost_terms {
    uint32_t turn;    /* a turn of a process on a core that several processes share */
    uint32_t message; /* between two hosts at one switch, from call to call */
    uint32_t send;    /* each further message of the same round: the processors of both ends */
    uint32_t device;  /* from the arrival to the release of a group of one member */
    uint16_t port;    /* each further member of a group */
    uint16_t store;   /* a store of one core, until another core that polls has it */
    uint16_t line;    /* each core that adds to a line, and each that loads it after the release */
    uint16_t cores;   /* of a host */
    uint16_t leaf, pod;          /* hosts of a leaf switch, and of a pod */
    uint16_t pod_more, far_more; /* a message between two leaves of a pod, and between two pods */
    uint16_t store_next;         /* from one store to the next, if other cores poll both lines */
    uint16_t load;               /* the first load of a line that another core has written */
    uint16_t load_next;          /* of a line that no third core reads: such loads overlap */
    uint16_t reserved;           /* 0 */
};

/* Compute the terms of a cluster. gba_cluster_default has the source of each number that nobody has
 * measured. */
void gba_cost_terms_set(struct gba_cost_terms *terms, const struct gba_cluster *cluster);

/* What the members of a team have to do with its cost. */
struct gba_cost_team {
    uint32_t members, hosts;
    uint32_t largest; /* members on one host, at most */
    uint32_t domains; /* of switches, if the leaders have groups */
    bool oversubscribed;
};

/* The expected time of a barrier. hosts: 1 or more. Returns ns; 0: not known, as of the runtime's
 * barrier. */
uint64_t gba_cost(const struct gba_cost_terms *terms, const struct gba_cost_team *team,
                  struct gba_choice choice);

/*
 * The cost with which a path competes that policy prefers: the table of algorithms, or the device
 * on several hosts. Another path takes its place if its expected time is shorter by two fifths,
 * which is more than such formulas err.
 */
static inline uint64_t gba_cost_preferred(uint64_t cost)
{
    return cost - 2 * cost / 5;
}

#endif
