/* SPDX-License-Identifier: BSD-3-Clause */
/* The connections of dead processes. */
#ifndef GBA_SIM_SWITCH_NET_DEAD_H
#define GBA_SIM_SWITCH_NET_DEAD_H

#include "sim/switch/net/outbox.h"
#include "sim/switch/net/report.h"

/*
 * End the sessions whose process is dead, for `caller`. The kernel closes the connection of a
 * process that dies, unless a child of fork still has its descriptor. The groups of such a process
 * would stay allocated, and the other members would wait. Their ports go down at the next flush.
 *
 * Only the process that made the connection may use it (client.h), so no living process loses
 * anything. The caller must have a Unix socket, and be root or have the user of the process or of
 * this daemon. A vfio-user device is not freed: a manager can make that connection for a virtual
 * machine, and end before it.
 *
 * Returns a text, to be freed by the caller, and its length; NULL: out of memory. view->faults: the
 * ports of dead processes that remain.
 */
char *gba_session_free_dead(const struct gba_session *caller, struct gba_switchd_view *view,
                            size_t *length);

#endif
