/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A runtime that carries failure notifications (gba_notification_t) between members that are
 * threads, for team_harness.h. One thread delivers them, late and out of order, and answers them,
 * independently of the members. The linker substitutes a function of this harness for
 * gba_failover_register (-Wl,--wrap), because all members are in one process here, and each needs
 * its own id.
 */
#ifndef GBA_TESTS_NOTIFICATION_HARNESS_H
#define GBA_TESTS_NOTIFICATION_HARNESS_H

#include "tests/unit/team/team_harness.h"

/* The members of w may run once between the two calls. harness_run makes them; other tests call
 * them. */
void notifications_start(struct harness *w, uint32_t size);
void notifications_stop(struct harness *w);

/* Send the notifications that a member owes. */
void notifications_post(gba_team_t *team, uint32_t rank);

/* The number of notifications sent since notifications_start, answers included. */
unsigned notifications_sent(void);

#endif
