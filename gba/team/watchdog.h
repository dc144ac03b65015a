/* SPDX-License-Identifier: BSD-3-Clause */
/* The watchdog of a stalled barrier. */
#ifndef GBA_TEAM_WATCHDOG_H
#define GBA_TEAM_WATCHDOG_H

#include "gba/failover/engine.h"

/*
 * Check the current round. To be called now and then; reads the clock and possibly the registers of
 * the device. Returns GBA_INPROGRESS; GBA_ERR_DEAD, at each call while a failed team waits for
 * notifications; or GBA_ERR_TIMEOUT: the deadline of a trial has passed. By the thread that runs
 * the team's barrier.
 */
gba_status_t gba_watchdog_check(struct gba_team *team);

/* The time until the next check that reads the registers, ns; UINT64_MAX: none is due in this
 * round. A member sleeps no longer than that. */
uint64_t gba_watchdog_patience(const struct gba_team *team, uint64_t now);

/* The round has ended: learn its duration, and report the end if the stall was reported. Reads the
 * clock if the round has been checked. */
void gba_watchdog_end(struct gba_team *team);

#endif
