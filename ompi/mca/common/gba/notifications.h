/* SPDX-License-Identifier: BSD-3-Clause */
/* Failure notifications between the members of a team. */
#ifndef GBA_COMMON_NOTIFICATIONS_H
#define GBA_COMMON_NOTIFICATIONS_H

#include "ompi/mca/common/gba/module.h"

/* Answer failure notifications from now on. To be called before the first team that can need them.
 * Returns OMPI_SUCCESS or an error. Thread-safe. */
int gba_common_notifications_start(void);

/*
 * To be called before _stop, while messages still flow and all members have completed their last
 * round. Receives the notifications that no member needs any more, and waits for the outstanding
 * answers, because some PMLs report messages that are left when they end. Blocks for half a second
 * at most.
 */
void gba_common_notifications_drain(void);

/* Stop: no messages from now on, because the communicator ends. */
void gba_common_notifications_stop(void);

/*
 * Whether all failure notifications of a module's team that this process owes have left it: those
 * that it has posted, and the answers to those that it has received. A barrier of a failed team
 * completes at this member only then, because the member may compute for long afterwards without a
 * call of Open MPI, while another member waits for a notification. A notification that its receiver
 * no longer needs is not waited for. Moves messages; costs nothing for a team that has not failed.
 * Never blocks. Thread-safe; to be called with the lock of ibarrier.c held, or with no lock.
 */
bool gba_common_notifications_out(const struct gba_common_module *m);

/* For gba_team_attr_t: the id of a new team whose rank 0 is this process. Thread-safe. */
uint64_t gba_common_notifications_id(void);

/*
 * Post the notifications that this member owes to other members of a team whose device has failed.
 * To be called again and again during a round, and after it before _out. Returns whether all are
 * posted; false: out of memory, and the next call continues. Sends nothing itself, so any lock may
 * be held. By the thread that runs the team's barrier.
 */
bool gba_common_notifications_post(const struct gba_common_module *m);

/*
 * For gba_runtime_t, with a module: post notifications, and send what is posted; if not complete,
 * also receive what has come, now and not at the next turn of progress. To be called with the lock
 * of ibarrier.c held, or with no lock. Thread-safe. Never blocks.
 */
gba_status_t gba_common_notify(void *module, bool complete);

#endif
