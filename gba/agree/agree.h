/* SPDX-License-Identifier: BSD-3-Clause */
/* The collective choice of a path: agree.c, which lists all collective calls, and agree_nodes.c. */
#ifndef GBA_AGREE_AGREE_H
#define GBA_AGREE_AGREE_H

#include "gba/failover/engine.h"

/*
 * The first agreement of a team; gba_team_renegotiate and gba_team_recover are the later ones. On
 * GBA_OK the team has a kind, a reason, and a path unless its kind is GBA_PATH_FALLBACK. It holds a
 * group only if that group is armed.
 * Returns GBA_OK or GBA_ERR_OOB. Collective over oob. Thread-safe on different teams.
 */
gba_status_t gba_agree(struct gba_team *team, const gba_team_attr_t *attr, const gba_oob_t *oob);

/* As gba_team_renegotiate, without a trial and without gba_barrier_init. */
gba_status_t gba_agree_again(struct gba_team *team, const gba_team_attr_t *attr,
                             const gba_oob_t *oob);

/* As gba_team_recover, without gba_barrier_init. */
gba_status_t gba_agree_recover(struct gba_team *team, const gba_team_attr_t *attr,
                               const gba_oob_t *oob);

#endif
