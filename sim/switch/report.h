/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the switch as JSON: the answer to STATUS. */
#ifndef GBA_SIM_SWITCH_REPORT_H
#define GBA_SIM_SWITCH_REPORT_H

#include <stddef.h>

#include "sim/switch/daemon.h"

/*
 * Returns the text, to be freed by the caller, and its length; NULL if memory is short.
 *
 * "ports": each port that is up, with its user. "groups": each group that is allocated, with its
 * members. The state of a member is one of:
 *   "never came"   nobody has joined as this member
 *   "joined"       without a flag yet
 *   "ready"        mapped; the group is not armed, or no member has arrived in the current round
 *   "arrived"      in the current round
 *   "missing"      others have arrived in the current round, this member has not
 *   "left", "died", "link down"    how its membership ended
 * "process" of a port of this host: "running", "stopped" or "gone".
 */
char *gba_switchd_report(const struct gba_switchd *daemon, size_t *length);

#endif
