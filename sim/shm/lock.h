/* SPDX-License-Identifier: BSD-3-Clause */
/* Robust locks, and the journal of a group. */
#ifndef GBA_SIM_SHM_LOCK_H
#define GBA_SIM_SHM_LOCK_H

#include "sim/shm/layout.h"

/* Initialise a robust lock that processes share. Returns 0 or an errno. */
int gba_sim_lock_init(pthread_mutex_t *lock);

/*
 * Lock a group. If the last holder was killed, its unfinished change is undone first. Acquire;
 * pairs with the unlock by the previous holder. Returns GBA_OK or GBA_ERR_IO (logged: the segment
 * is damaged).
 */
gba_status_t gba_sim_group_lock(struct gba_sim_segment *segment, uint32_t group);
/* gba_sim_group_lock, for a call that needs a live device. Returns GBA_ERR_DEAD, without the lock,
 * if the device is dead. */
gba_status_t gba_sim_group_lock_alive(struct gba_sim_segment *segment, uint32_t group);
void gba_sim_group_unlock(struct gba_sim_segment *segment, uint32_t group);

gba_status_t gba_sim_device_lock(struct gba_sim_segment *segment);
void gba_sim_device_unlock(struct gba_sim_segment *segment);

/*
 * The journal of a group. begin: from here on changes can be undone. end: commit them. undo: undo
 * them. what: GBA_SIM_JOURNAL_*, or 0 if nothing changes. Under the group's lock.
 */
void gba_sim_journal_begin(struct gba_sim_segment *segment, uint32_t group, uint32_t what);
void gba_sim_journal_end(struct gba_sim_segment *segment, uint32_t group);
void gba_sim_journal_undo(struct gba_sim_segment *segment, uint32_t group);

#endif
