/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the switch: the answer to STATUS. */
#ifndef GBA_SIM_SWITCH_REPORT_H
#define GBA_SIM_SWITCH_REPORT_H

#include <stddef.h>
#include <stdio.h>

#include "sim/switch/daemon.h"

/*
 * The state as JSON. Returns the text, to be freed by the caller, and its length; NULL: out of
 * memory.
 *
 * "ports": each port that is up, with its user. "groups": each group that is allocated, with its
 * members. The state of a member is one of:
 *   "not joined"   no process has joined as this member
 *   "joined"       the flag is not mapped yet
 *   "ready"        mapped; the group is not armed, or no member has arrived in the current round
 *   "arrived"      in the current round
 *   "missing"      has not arrived in the current round, in which another member has
 *   "left", "died", "link down"    how its membership ended
 * "process" of a port of this host is "running", "stopped" or "gone".
 */
char *gba_switchd_report(const struct gba_switchd *daemon, size_t *length);

/* The state as text: a line for each group, and for each member that is absent. */
char *gba_switchd_report_text(const struct gba_switchd *daemon, size_t *length);

/* Number of members of all groups that are absent: without a membership, or missing. */
uint32_t gba_switchd_absent(const struct gba_switchd *daemon);

/* The state of making a report. */
struct gba_switchd_view {
    const struct gba_switchd *daemon;
    const char *process[GBA_PORTS_MAX]; /* state of the port's process; NULL: not read yet */
};

/* Make a report with `print`. Returns as gba_switchd_report. */
char *gba_switchd_print(const struct gba_switchd *daemon,
                        void (*print)(FILE *out, struct gba_switchd_view *view), size_t *length);

/* The state of a member, for a report. */
struct gba_switchd_member {
    const char *state;   /* as above */
    const char *process; /* "running", "stopped", "gone"; NULL: not of this host */
    const char *host;
    uint32_t port, pid;
    bool known;  /* port, pid and host are */
    bool absent; /* without a membership, or missing */
};

/* group: allocated. number: below its members. */
void gba_switchd_member(struct gba_switchd_view *view, uint32_t group, uint32_t number,
                        struct gba_switchd_member *member);

/* The state of the process of a port: "running", "stopped" or "gone"; NULL: on another host. Reads
 * each process once in a report: with a read for each member a report would take some hundred
 * milliseconds, for which all sessions wait. port: in use. */
const char *gba_switchd_process(struct gba_switchd_view *view, uint32_t port);

/* The name of GBA_LIFE_*. */
const char *gba_switchd_life(uint32_t life);

#endif
