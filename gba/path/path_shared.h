/* SPDX-License-Identifier: BSD-3-Clause */
/* The path through shared memory: a counter, or an algorithm, among members on one host. */
#ifndef GBA_PATH_PATH_SHARED_H
#define GBA_PATH_PATH_SHARED_H

#include "gba/path/node.h"

/* Create this member's part, with a node without memory. shape: of kind GBA_SHAPE_COUNTER or
 * GBA_SHAPE_SHARED. rank: this member. Returns GBA_OK or GBA_ERR_NOMEM. Not collective. */
gba_status_t gba_path_shared_create(const struct gba_shape *shape, uint32_t rank,
                                    struct gba_path_base **path);

/*
 * All members are ready: give them their numbers in the schedule, by their places.
 * Every member has called gba_node_create or gba_node_attach before an exchange of all members that
 * this member has completed. That exchange orders the stores of the places before the loads here,
 * so all members read the same places, and compute the same numbers.
 */
void gba_path_shared_finish(struct gba_path_base *path);

/* The slots of a member for one schedule of a path (struct gba_shape). */
static inline uint32_t gba_shared_slots(uint32_t size, uint8_t radix)
{
    return gba_sched_slots(size, 0 == radix ? 2 : radix);
}

/*
 * The schedules of a path. A member uses another one from the next barrier on, at the same barrier
 * as all others, without an exchange, because:
 *
 * - Each schedule has slots of its own, so each slot has one writer. A signal of the last barrier
 * of one schedule that is still on its way overwrites none of the next barrier.
 * - The sequence continues, so what an earlier barrier has left in a slot is older.
 * - The sequence wraps, and then a value that was left long ago would look like a new one. So all
 *   members prepare, and then complete a barrier of the current schedule, before any of them takes
 *   another one that was not in use since. No peer stores to the other slots in between: its
 * earlier signals were stored before it arrived at the last barrier.
 */

/* Get the schedules of a path: radices, 0: dissemination, valid as long as the path. current: the
 * index of the one in use. Returns their number; 0: the path has one that stays, or is of another
 * kind. On 0 nothing is set. */
uint32_t gba_path_shared_schedules(const struct gba_path_base *path, const uint8_t **radices,
                                   uint32_t *current);

/* Set this member's slots of all schedules but the current one to the sequence of the last barrier,
 * which is complete. Not collective. */
void gba_path_shared_prepare(struct gba_path_base *path);

/* Take the schedule of that index, between two barriers. Not collective. */
void gba_path_shared_take(struct gba_path_base *path, uint32_t schedule);

#endif
