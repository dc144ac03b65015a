/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Memberships and groups. */
#ifndef GBA_DRIVER_MEMBER_H
#define GBA_DRIVER_MEMBER_H

#include "gba_driver.h"

/* --- event.c --- */

/* Post events for a membership, and wake its waiters. Under event_lock. */
void gba_post(struct gba_member *member, u32 events, u32 last_error);

/* Remove a membership from the pending ones. Under event_lock. */
u32 gba_take_events(struct gba_member *member);

/* --- revoke.c --- */

/*
 * Revoke a membership that is not left: the doorbell, then mark the flag with the reason, unless it
 * has one, and post events. Under lock.
 */
void gba_member_revoke_doorbell(struct gba_member *member);
void gba_member_mark(struct gba_member *member, u32 reason, u32 events);

/* --- member.c --- */

/*
 * The membership of a file, or NULL. member: or GBA_MEMBER_NONE for any. Under lock or
 * event_lock.
 */
struct gba_member *gba_member_find(struct gba_file *file, u32 group, u32 generation, u32 member);

/* Execute a command about a membership, and return as gba_command. Under lock. */
int gba_member_command(struct gba_member *member, u32 number, u64 key, u32 value);

/*
 * End a membership. died: the owner of the file ended. The caller's pointer is invalid after. Under
 * lock.
 */
void gba_member_leave(struct gba_member *member, bool died);

/* End a membership at a device that answers. The record stays. Under lock. */
void gba_member_detach(struct gba_member *member, bool died);

/* The member's address in the release table of the device. */
static inline void __iomem *gba_table_entry(struct gba_member *member)
{
	return member->file->gba->bar + GBA_TABLE_ENTRY(member->group, member->member);
}

/*
 * Whether the device has withdrawn the member. Pushes all earlier stores of the device to its flag,
 * and all earlier arrivals of this host. Under lock.
 */
bool gba_member_withdrawn(struct gba_member *member);
void gba_member_put(struct gba_member *member);

/* --- join.c --- */

int gba_member_join(struct gba_file *file, struct gba_ioc_join *join);

/* --- wait.c --- */

int gba_wait(struct gba_file *file, struct gba_ioc_wait *wait);
ssize_t gba_read(struct file *filp, char __user *buffer, size_t size, loff_t *offset);

/* --- alloc.c --- */

/* Groups that a user holds on this host. Under lock. */
u32 gba_user_groups(struct gba_device *gba, kuid_t user);
u32 gba_user_groups_max(void);
int gba_alloc(struct gba_file *file, struct gba_ioc_alloc *alloc);

/* Update gba_group.held of all groups. Under lock. */
void gba_refresh_held(struct gba_device *gba);

#endif
