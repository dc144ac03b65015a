/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Degraded mode: the barriers of a team whose device has failed, until its members agree on another
 * path. They agree at the end of a blocking barrier, or, if the runtime can, before a nonblocking
 * one. A round by notifications costs several times the messages of a barrier (facts.h), so it is
 * for the rounds of the failure only. All members learn in the same round that they leave the
 * device (failover.c). From the next round on their barriers run by dissemination over messages.
 */
#ifndef GBA_FAILOVER_DEGRADED_H
#define GBA_FAILOVER_DEGRADED_H

#include "gba/failover/engine.h"

/*
 * Prepare degraded mode if attr requests it (`nonblocking`). Does nothing if it is ready. Not
 * collective; sends nothing. Returns GBA_OK; GBA_ERR_UNSUPPORTED: this member has no remote;
 * GBA_ERR_NOMEM; or an error of the runtime. On an error of one member no member may take the
 * device.
 */
gba_status_t gba_degraded_open(struct gba_team *team, const gba_team_attr_t *attr);
void gba_degraded_close(struct gba_team *team);

/* Whether degraded mode is ready: the same on all members. */
bool gba_degraded_ready(const struct gba_team *team);

/* As gba_barrier_start and gba_barrier_test, of a round in degraded mode. GBA_ERR_IO: the runtime
 * lost a connection. */
gba_status_t gba_degraded_start(struct gba_team *team);
gba_status_t gba_degraded_test(struct gba_team *team);

#endif
