/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The outcome of an agreement: the path of the team, and its reason in words. None of these
 * functions is collective; all members call them alike.
 */
#ifndef GBA_AGREE_OUTCOME_H
#define GBA_AGREE_OUTCOME_H

#include "gba/agree/agree_nodes.h"
#include "gba/agree/alloc.h"
#include "gba/failover/engine.h"

/* The state that the steps of one agreement about a group share. */
struct gba_agreement {
    struct gba_team *team;
    const gba_team_attr_t *attr;
    gba_team_attr_t steered; /* attr, with this member's device at the switch of the proposal */
    const gba_oob_t *oob;
    struct gba_proposal proposal;
    struct gba_tried tried; /* the switches that yielded no group */
    gba_status_t mine;      /* GBA_OK, or why this member can join no group */
    struct gba_refusal no;  /* why there is no group; the same on all members */
    uint64_t pause;         /* barriers until the next renegotiation, if one follows */
    uint64_t round;         /* the first failed round; 0: no device failed */
    const char *text;       /* replaces the text of the reason, if not NULL */
};

/* Replace the path of the team. path: may be NULL. */
void gba_outcome_path(struct gba_team *team, struct gba_path_base *path);

/* The team has an armed group. */
void gba_outcome_take(struct gba_team *team, gba_path_t kind, struct gba_path_base *path,
                      const char *text);

/* The team continues without a group. */
void gba_outcome_refused(const struct gba_agreement *t);

/* Set team->why from its parts: the path, why there is no group, and the figures of the last trial.
 */
void gba_trial_describe(struct gba_team *team);

/* All members have the outcome: set the path without a group, and its reason. */
void gba_outcome_settle(const struct gba_agreement *t, struct gba_path_base *path,
                        const struct gba_nodes_outcome *outcome);

/* Append the switches that were tried to a text for the user. */
void gba_outcome_tried(const struct gba_agreement *t, char *text, size_t len);

/* Prefer the reason of a switch that was tried first, if that reason passes and the present one
 * does not: a group of that switch may become free. */
void gba_outcome_reason_keep(struct gba_agreement *t);

#endif
