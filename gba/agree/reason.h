/* SPDX-License-Identifier: BSD-3-Clause */
/* The outcome of an agreement, in the words of the team. */
#ifndef GBA_AGREE_REASON_H
#define GBA_AGREE_REASON_H

#include "gba/agree/agree.h"

/* The loop has ended: the team takes the path a->path, of the candidate a->place, or keeps its own.
 * Set the reason and the texts, and plan the renegotiation and the trial. */
void gba_reason_set(struct gba_agreement *a);

/* Set team->words.why from its parts: the path, why there is no group, and the figures of the last
 * trial.
 */
void gba_reason_describe(struct gba_team *team);

#endif
