/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the members of a team end the rounds of a dead device, and agree when to leave it: what the
 * parts of the engine know of recover.c. Only teams with an id (gba_team_attr_t) have this; all
 * functions take a team without one, and do nothing for it.
 */
#ifndef GBA_RECOVER_H
#define GBA_RECOVER_H

#include "gba/gba.h"

struct gba_recovery;

/* Bytes of a recovery, which the team has behind it: so there is one allocation to fail. */
size_t gba_recovery_bytes(uint32_t size);

/*
 * From now on notices for this team are taken. Called before the agreement's first exchange that no
 * member can leave before all have joined it: so that whoever has a device path, and gets stuck on
 * it, finds every other member's team, or one that has come to its end. id: another one each time.
 */
void gba_recovery_register(struct gba_team *team, uint64_t id);

/* The team leaves its device, or ends. */
void gba_recovery_end(struct gba_team *team);

/* The device is dead for this team. By the thread that has the team's barrier. */
void gba_recovery_lose(struct gba_team *team);
bool gba_recovery_lost(const struct gba_team *team);

/* A round begins without an arrival at the lost device. */
void gba_recovery_begin(struct gba_team *team);

/* The round under way of a lost team: GBA_OK when notices say that it is over, or GBA_INPROGRESS.
 * Acquire on GBA_OK, as gba_poll_release. */
gba_status_t gba_recovery_test(struct gba_team *team);

/* Whether a member of a lost team has arrived in the round under way, as far as it has said so. By
 * the thread that has the team's barrier. */
bool gba_recovery_arrived(const struct gba_team *team, uint32_t member);

#endif
