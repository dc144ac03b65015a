/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers of a team that has lost its device, until its members can agree on another path: that
 * takes a call that may block, and a program may make nonblocking barriers only. Notices end the
 * round in which the loss is found, and with N members there are N * N of them, so they are no way
 * to go on. All members know in the same round that it is time to leave the device (recover.c);
 * from the next one on they go over messages, by v1.
 */
#ifndef GBA_INTERIM_H
#define GBA_INTERIM_H

#include "gba/gba.h"
#include "gba/soft/algorithm.h"

struct gba_interim {
    struct gba_signals *signals; /* NULL: the team has no such barriers */
    struct gba_soft soft;
    uint32_t sequence;
    bool under_way; /* the team's round is one of these */
};

/*
 * Make them ready, if attr asks for them (`nonblocking`); nothing if they are. Not collective,
 * sends nothing. GBA_OK; GBA_ERR_UNSUPPORTED: this member has no remote; GBA_ERR_NOMEM and what
 * else the runtime says. If it is not GBA_OK, no member may take the device.
 */
gba_status_t gba_interim_open(struct gba_team *team, const gba_team_attr_t *attr);
void gba_interim_close(struct gba_team *team);

/* Whether the next round of a lost team is one of these: the same on all members. */
bool gba_interim_due(const struct gba_team *team);

/* As gba_barrier_start and _test, of such a round. GBA_ERR_IO: a connection is lost. */
gba_status_t gba_interim_start(struct gba_team *team);
gba_status_t gba_interim_test(struct gba_team *team);

/* The member whose first signal this one waits for, UINT32_MAX: it has come. */
uint32_t gba_interim_late_source(const struct gba_team *team);

#endif
