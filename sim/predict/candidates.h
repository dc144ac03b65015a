/* SPDX-License-Identifier: BSD-3-Clause */
/* The candidates of a team on a cluster, by gba/agree/plan, and what each is expected to cost. */
#ifndef GBA_PREDICT_CANDIDATES_H
#define GBA_PREDICT_CANDIDATES_H

#include "gba/agree/plan.h"
#include "gba/params.h"
#include "sim/predict/engine.h"

struct predict_candidate {
    char name[GBA_CHOICE_NAME];
    struct gba_choice choice;
    gba_status_t refused; /* GBA_OK: it is simulated; else the reason; GBA_ERR_UNSUPPORTED: the
                             runtime's own, before predict_own */
    char words[96];       /* the reason in words */
    uint64_t formula;     /* the expected time by gba/agree/cost, ps; 0: none */
    struct predict_result result;
};

struct predict_list {
    uint32_t hosts, ranks;
    uint32_t count;
    struct predict_candidate candidates[GBA_LIST_MOST];
};

/* The question: the cluster, the parameters of the plugin, and how to simulate. `choice`, `hosts`
 * and `ranks` of the setup are not used. */
struct predict_question {
    struct predict_setup setup;
    const gba_params_t *params;
    uint64_t signals; /* of a candidate at least, if `barriers` of the setup is 0 */
    uint32_t steady;  /* up to so many ranks the barriers that count are in steady state */
};

/*
 * Simulate all candidates of a team of hosts x ranks in the order of the list.
 * barriers of the setup: 0: as many as have that many signals, 1 to 1000, and as a steady state
 * needs.
 * Returns GBA_OK, or GBA_ERR_NOMEM.
 */
gba_status_t predict_candidates(const struct predict_question *question, uint32_t hosts,
                                uint32_t ranks, struct predict_list *list);

/* Whether the figures of so many ranks do not depend on how the first barriers begin. */
bool predict_is_steady(const struct predict_question *question, uint32_t size);

/* Simulate the runtime's own barrier, the last candidate of the list, as Open MPI's coll/tuned has
 * it. Returns GBA_OK or GBA_ERR_NOMEM. */
gba_status_t predict_own(const struct predict_question *question, struct predict_list *list);

/* The time of a device between a member's store and the release, if no other member arrives: ps. */
uint64_t predict_device_time(const struct gba_cluster *cluster);

/*
 * The device time with which this candidate, which has a group, takes `wanted` ps: from a
 * simulation with a slower device, because the time of the candidate is linear in that of the
 * device. found: ps; 0: none. Returns GBA_OK or GBA_ERR_NOMEM.
 */
gba_status_t predict_break_even(const struct predict_question *question,
                                const struct predict_list *list,
                                const struct predict_candidate *device, uint64_t wanted,
                                uint64_t *found);

/* The fastest candidate with a group, or without, but for the runtime's own; NULL: there is none.
 */
const struct predict_candidate *predict_fastest(const struct predict_list *list, bool group);

/*
 * The least number of hosts, 1 to `most`, from which on the device is faster: for twice as many
 * hosts again and again, and then between the last two.
 * found: 0: not up to `most`. Returns GBA_OK, or GBA_ERR_NOMEM.
 */
gba_status_t predict_crossover(const struct predict_question *question, uint32_t ranks,
                               uint32_t most, uint32_t *found);

#endif
