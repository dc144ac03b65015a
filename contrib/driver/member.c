// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Memberships: their commands, and their end. */
#include "device.h"
#include "file.h"
#include "member.h"

static void member_free(struct kref *ref)
{
	gba_free(container_of(ref, struct gba_member, ref));
}

void gba_member_put(struct gba_member *member)
{
	kref_put(&member->ref, member_free);
}

struct gba_member *gba_member_find(struct gba_file *file, u32 group, u32 generation, u32 number)
{
	struct gba_member *member;

	list_for_each_entry(member, &file->members, file_link)
		if (member->group == group && member->generation == generation &&
		    (number == GBA_MEMBER_NONE || member->member == number))
			return member;
	return NULL;
}

int gba_member_command(struct gba_member *member, u32 number, u64 key, u32 value)
{
	struct gba_command command = { .command = number,
				       .group = member->group,
				       .generation = member->generation,
				       .member = member->member,
				       .key = key,
				       .value = value };

	return gba_command(member->file->gba, &command);
}

bool gba_member_withdrawn(struct gba_member *member)
{
	return readq(gba_table_entry(member)) == 0;
}

/* Post DIED to the members of this host. The device sends it to the other ports. */
static void post_died(struct gba_member *dead)
{
	struct gba_device *gba = dead->file->gba;
	struct gba_member *member;

	spin_lock(&gba->event_lock);
	list_for_each_entry(member, &gba->group[dead->group].members, group_link)
		if (member != dead && member->attached)
			gba_post(member, GBA_EVENT_DIED, 0);
	spin_unlock(&gba->event_lock);
}

void gba_member_detach(struct gba_member *member, bool died)
{
	struct gba_device *gba = member->file->gba;

	lockdep_assert_held(&gba->lock);
	/*
	 * The doorbell is revoked, and the processors have made all earlier stores. This read
	 * pushes them to the device before the group can be free. [DRV-16]
	 */
	(void)readl(gba_reg(gba, GBA_DEVICE_BASE + GBA_DEV_ID));
	gba_member_command(member, GBA_CMD_LEAVE, 0, died ? GBA_LEAVE_DIED : 0);
	/* The reply pushes earlier releases to the flag. [HOST-6] */
	(void)gba_member_withdrawn(member);
	spin_lock(&gba->event_lock);
	member->attached = false;
	spin_unlock(&gba->event_lock);
}

void gba_member_leave(struct gba_member *member, bool died)
{
	struct gba_file *file = member->file;
	struct gba_device *gba = file->gba;

	lockdep_assert_held(&gba->lock);
	gba_mapping_remove(file, &member->doorbell);
	if (member->attached && gba->up) {
		gba_member_detach(member, died);
		if (died)
			post_died(member);
	}
	if (died)
		gba_member_mark(member, GBA_REVOKED_ENDED, 0);
	spin_lock(&gba->event_lock);
	member->attached = false;
	member->left = true;
	gba_take_events(member);
	list_del(&member->file_link);
	list_del(&member->group_link);
	wake_up_all(&member->wait);
	spin_unlock(&gba->event_lock);
	/*
	 * A process may still poll a marked flag, so its slot is not used again, and counts until
	 * the file is closed. Else a file could use any amount of memory.
	 */
	if (!died) {
		gba_slot_put(member->page, member->slot);
		file->slot_count--;
	}
	gba_member_put(member);
}
