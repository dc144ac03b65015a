/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes: how are the processes of other hosts that a waiting group misses? The daemon sees the
 * processes of its own host only, so it asks clients that wait in a barrier on the same host, as
 * the same user. Such clients receive, and a stopped one does not. The answers are for reports
 * only. A client that lies can change the state of a process in a report, and nothing else.
 */
#ifndef GBA_SIM_SWITCH_NET_PROBE_H
#define GBA_SIM_SWITCH_NET_PROBE_H

#include "sim/switch/net/outbox.h"
#include "sim/switch/net/report.h"

/* Time in ms for which a report waits for answers. */
#define GBA_PROBE_MS 700

/* Clients that are asked about one process. The first answer counts. */
#define GBA_PROBE_CLIENTS 4u

/* Take a PROCESS of an open session. A second one ends the session. */
void gba_probe_identify(struct gba_session *session, const struct gba_switch_message *message);

/* Send the probes for a report: at most GBA_PROBE_CLIENTS for each process, and none for a process
 * whose last probe has no answer yet. Returns whether answers may come. */
bool gba_probe_send(struct gba_switchd *daemon);

/* Take a PROBED of an open session. An answer to no probe, or to an earlier one, is ignored.
 * Returns whether it was the last one that reports wait for. */
bool gba_probe_take(struct gba_session *session, const struct gba_switch_message *message);

/* Set the processes of other hosts in the view. */
void gba_probe_show(struct gba_switchd_view *view);

/* The session ends: nothing waits for an answer about its process. */
void gba_probe_forget(struct gba_session *session);

#endif
