/* SPDX-License-Identifier: BSD-3-Clause */
/* The locks of the groups. A process that is killed while it holds one has killed the device. */
#ifndef GBA_SIM_SHM_LOCK_H
#define GBA_SIM_SHM_LOCK_H

#include "sim/shm/layout.h"

/* Initialise a robust lock that processes share. Returns 0 or an errno. */
int gba_sim_lock_init(pthread_mutex_t *lock);

/*
 * Lock a group. Acquire; pairs with the unlock by the previous holder. Returns GBA_OK or
 * GBA_ERR_DEAD: the last holder was killed, and the device is dead from now on. Works on a device
 * that is dead for another reason, too.
 */
gba_status_t gba_sim_group_lock(struct gba_sim_segment *segment, uint32_t group);
/* gba_sim_group_lock, for a call that needs a live device. Returns GBA_ERR_DEAD, without the lock,
 * if the device is dead. */
gba_status_t gba_sim_group_lock_alive(struct gba_sim_segment *segment, uint32_t group);
void gba_sim_group_unlock(struct gba_sim_segment *segment, uint32_t group);

/* Lock all groups, and with them the ports. The caller holds no lock of a group. Returns as
 * gba_sim_group_lock_alive. */
gba_status_t gba_sim_lock_all(struct gba_sim_segment *segment);
void gba_sim_unlock_all(struct gba_sim_segment *segment);

#endif
