/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the switch: the answer to STATUS. */
#ifndef GBA_SIM_SWITCH_NET_REPORT_H
#define GBA_SIM_SWITCH_NET_REPORT_H

#include <stddef.h>
#include <stdio.h>

#include "sim/switch/net/daemon.h"

/* The input and the result of a report. */
struct gba_switchd_view {
    const struct gba_switchd *daemon;
    uint32_t late_ms; /* time after which a late member is a fault; 0: never */
    uint32_t faults;  /* found so far */
    const struct gba_switch_identity *viewer; /* see gba_switch_sees */
    /* What is known of the process of a port; NULL: not read yet. */
    const char *process[GBA_PORTS_MAX];
};

/*
 * The state as JSON. view: with daemon and late_ms, else 0. Sets view->faults. Returns the text, to
 * be freed by the caller, and its length; NULL: out of memory.
 *
 * "ports": each port that is up, with its user, process and job if the viewer may know them.
 * "groups": each group that is allocated, with its members, and the time for which it waits in
 * "waiting_ms". The state of a member is one of: "not joined"   no process has joined as this
 * member "joined"       the flag is not mapped yet "ready"        mapped; the group is not armed,
 * or no member has arrived in the current round "arrived"      in the current round "missing" has
 * not arrived in the current round, in which another member has "left", "died", "link down"    how
 * its membership ended "process" of a port of this host is "running", "stopped" or "gone"; there is
 * none if the daemon cannot tell, for example because the host hides the processes of other users,
 * and none for the port of a virtual machine, because the process that made its connection may have
 * handed it over.
 *
 * A member that is not there has an "absence":
 *   "not joined", "left", "died", "link down"    as its state
 *   "late"               missing, and its process is not known to be stopped or gone
 *   "is stopped"         missing, and its process is stopped
 *   "has ended"          its process is dead, but another process keeps its connection open
 * "fault" tells whether that absence is a fault. A member that is late or has not joined may still
 * come, however slow its program is, so it is a fault only when the group has waited for late_ms. A
 * member that left is a fault only while another member waits, because the members of a group leave
 * one after the other. All others are faults.
 */
char *gba_switchd_report(struct gba_switchd_view *view, size_t *length);

/* The same as text: a line for each group, and for each member with an absence. */
char *gba_switchd_report_text(struct gba_switchd_view *view, size_t *length);

/* Make a report with `print`. Returns as gba_switchd_report. */
char *gba_switchd_print(struct gba_switchd_view *view,
                        void (*print)(FILE *out, struct gba_switchd_view *view), size_t *length);

/* The state of a member, for a report. */
struct gba_switchd_member {
    const char *state;   /* as above */
    const char *absence; /* as above; NULL: none */
    const char *process; /* "running", "stopped", "gone"; NULL: not known */
    const char *host;
    uint32_t port, pid; /* pid 0: not known, or the viewer may not know it */
    bool known;         /* port and host are */
    bool fault;         /* the absence is one */
};

/* Get the state of a member, and count it in view->faults if it is a fault. group: allocated.
 * number: below its members. */
void gba_switchd_member(struct gba_switchd_view *view, uint32_t group, uint32_t number,
                        struct gba_switchd_member *member);

/* The state of the process of a port: "running", "stopped" or "gone"; NULL: not known, because it
 * is on another host, the daemon cannot see it, or the port is one of
 * a virtual machine. Reads each process once in a report: with a read for each member a report
 * would take some hundred milliseconds, for which all sessions wait. port: in use. */
const char *gba_switchd_process(struct gba_switchd_view *view, uint32_t port);

/* The name of GBA_LIFE_*. */
const char *gba_switchd_life(uint32_t life);

#endif
