/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the switch: the answer to STATUS. */
#ifndef GBA_SIM_SWITCH_REPORT_H
#define GBA_SIM_SWITCH_REPORT_H

#include <stddef.h>

#include "sim/switch/daemon.h"

/*
 * The state as JSON. Returns the text, to be freed by the caller, and its length; NULL if memory is
 * short.
 *
 * "ports": each port that is up, with its user. "groups": each group that is allocated, with its
 * members. The state of a member is one of:
 *   "never came"   no process has joined as this member
 *   "joined"       without a flag yet
 *   "ready"        mapped; the group is not armed, or no member has arrived in the current round
 *   "arrived"      in the current round
 *   "missing"      others have arrived in the current round, this member has not
 *   "left", "died", "link down"    how its membership ended
 * "process" of a port of this host: "running", "stopped" or "gone".
 */
char *gba_switchd_report(const struct gba_switchd *daemon, size_t *length);

/* The same for people: a line for each group, and for each member that is absent. */
char *gba_switchd_report_text(const struct gba_switchd *daemon, size_t *length);

/* Members that are absent, of all groups: without a membership, or missing. */
uint32_t gba_switchd_absent(const struct gba_switchd *daemon);

/* A report that is being made. */
struct gba_switchd_view {
    const struct gba_switchd *daemon;
    const char *process[GBA_PORTS_MAX]; /* of a port: what its process does; NULL: not asked yet */
};

/* What is known about a member. */
struct gba_switchd_member {
    const char *state;   /* as above */
    const char *process; /* "running", "stopped", "gone"; NULL: not of this host */
    const char *host;
    uint32_t port, pid;
    bool known;  /* port, pid and host are */
    bool absent; /* the group waits for it, or would */
};

/* group: allocated. number: below its members. */
void gba_switchd_member(struct gba_switchd_view *view, uint32_t group, uint32_t number,
                        struct gba_switchd_member *member);

/* What the process of a port does: "running", "stopped" or "gone"; NULL: it is of another host. The
 * kernel is asked once in a report: with a file a member, a report would take some hundred
 * milliseconds, and all sessions wait for it. port: in use. */
const char *gba_switchd_process(struct gba_switchd_view *view, uint32_t port);

/* The name of GBA_LIFE_*. */
const char *gba_switchd_life(uint32_t life);

#endif
