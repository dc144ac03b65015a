// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* JOIN. */
#include <linux/mm.h>
#include <linux/slab.h>

#include "device.h"
#include "file.h"
#include "member.h"

/* Bind the member to the port, and give its flag to the device. */
static int attach(struct gba_member *member, u64 key)
{
	struct gba_device *gba = member->file->gba;
	u64 address = member->page->address + member->slot * GBA_FLAG_SLOT_STRIDE;
	int result = gba_member_command(member, GBA_CMD_JOIN, key, 0);

	if (result)
		return result;
	writeq(address, gba_table_entry(member));
	/*
	 * If the port was down since the last check, earlier doorbells are still mapped, and could
	 * arrive for this member. The group is armed only after this check. [PORT-4]
	 */
	if (readq(gba_table_entry(member)) == address && gba_port_is_known(gba))
		return 0;
	if (!gba_check(gba))
		return -ENODEV;
	gba_member_command(member, GBA_CMD_LEAVE, 0, 0);
	return gba_check_port(gba) ? -ESTALE : -ENODEV;
}

/*
 * Acknowledge events of an earlier allocation of the group: they are not for the member that joins.
 * Events of attached members stay. Under irq_lock.
 */
static void drop_old_events(struct gba_device *gba, u32 group)
{
	struct gba_member *member;

	list_for_each_entry(member, &gba->group[group].members, group_link)
		if (member->attached)
			return;
	writel(GBA_IRQ_BITS, gba_reg(gba, GBA_PORT_EVENT(group)));
	/* JOIN is the next write of this port, and the device takes it after this one. */
}

/* Attach a new member, and put it into the lists of memberships. */
static int attach_and_list(struct gba_member *member, u64 key)
{
	struct gba_device *gba = member->file->gba;
	int result;

	/*
	 * Under the lock no event between the JOIN of the device and the lists is lost, and no
	 * event that the interrupt thread has read before is posted to this member.
	 */
	mutex_lock(&gba->irq_lock);
	drop_old_events(gba, member->group);
	result = attach(member, key);
	if (result)
		goto unlock;
	spin_lock(&gba->event_lock);
	member->attached = true;
	list_add_tail(&member->file_link, &member->file->members);
	list_add_tail(&member->group_link, &gba->group[member->group].members);
	spin_unlock(&gba->event_lock);
unlock:
	mutex_unlock(&gba->irq_lock);
	return result;
}

int gba_member_join(struct gba_file *file, struct gba_ioc_join *join)
{
	struct gba_device *gba = file->gba;
	struct gba_member *member;
	int result;

	lockdep_assert_held(&gba->lock);
	if (join->group >= gba->groups)
		return -ESTALE;
	if (join->member >= gba->members_max)
		return -EINVAL;
	if (file->slot_count >= GBA_FILE_SLOTS)
		return -EDQUOT;
	gba_check_port(gba);
	/* Also because a device without driver must not get memory. */
	if (!gba->up)
		return -ENODEV;
	member = gba_zalloc(sizeof(*member));
	if (!member)
		return -ENOMEM;
	kref_init(&member->ref);
	init_waitqueue_head(&member->wait);
	INIT_LIST_HEAD(&member->event_link);
	member->file = file;
	member->group = join->group;
	member->generation = join->generation;
	member->member = join->member;
	result = gba_slot_get(file, &member->page, &member->slot);
	if (result)
		goto put;
	member->doorbell.kind = GBA_MAP_DOORBELL;
	member->doorbell.pfn = PHYS_PFN(gba->bar_address + GBA_DOORBELL(join->group));
	member->doorbell.io = true;
	result = gba_mapping_add(file, &member->doorbell);
	if (result)
		goto put_slot;
	result = attach_and_list(member, join->key);
	if (result)
		goto remove_mapping;
	file->slot_count++;
	/* From the first JOIN on the members hold the group. [DRV-3] */
	if (gba->group[join->group].generation == join->generation)
		gba->group[join->group].allocator = NULL;
	join->doorbell_offset = (u64)member->doorbell.offset << PAGE_SHIFT;
	join->flag_offset = (u64)member->page->map.offset << PAGE_SHIFT;
	join->flag_position = member->slot * GBA_FLAG_SLOT_STRIDE;
	join->map_size = PAGE_SIZE;
	return 0;

remove_mapping:
	gba_mapping_remove(file, &member->doorbell);
put_slot:
	gba_slot_put(member->page, member->slot);
put:
	gba_member_put(member);
	return result;
}
