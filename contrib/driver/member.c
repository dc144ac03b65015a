// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Memberships: join, leave, revoke. */
#include <linux/mm.h>
#include <linux/slab.h>

#include "gba_driver.h"

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

/* Execute a command about a membership. */
static int member_command(struct gba_member *member, u32 number, u64 key, u32 value)
{
	struct gba_command command = { .command = number,
				       .group = member->group,
				       .generation = member->generation,
				       .member = member->member,
				       .key = key,
				       .value = value };

	return gba_command(member->file->gba, &command);
}

static void __iomem *table_entry(struct gba_member *member)
{
	return gba_reg(member->file->gba, GBA_TABLE_ENTRY(member->group, member->member));
}

bool gba_member_withdrawn(struct gba_member *member)
{
	u64 address = readq(table_entry(member));

	return address == 0;
}

/* Bind the member to the port, and give its flag to the device. */
static int attach(struct gba_member *member, u64 key)
{
	struct gba_device *gba = member->file->gba;
	u64 address = member->page->address + member->slot * GBA_FLAG_SLOT_STRIDE;
	int result = member_command(member, GBA_CMD_JOIN, key, 0);

	if (result)
		return result;
	writeq(address, table_entry(member));
	/*
	 * If the port was down since the last check, earlier doorbells are still mapped, and could
	 * arrive for this member. The group is armed only after this check. [PORT-4]
	 */
	if (readq(table_entry(member)) == address && gba_port_is_known(gba))
		return 0;
	if (!gba_check(gba))
		return -ENODEV;
	/* Only a group that has just been taken back refuses the address. [TAB-4] */
	member_command(member, GBA_CMD_LEAVE, 0, 0);
	return gba_check_port(gba) ? -ESTALE : -ENODEV;
}

/*
 * Acknowledge events of an earlier allocation of the group: they are not for the member that joins.
 * Events of attached members, and those about groups that are taken back, stay. Under irq_lock.
 */
static void drop_old_events(struct gba_device *gba, u32 group)
{
	struct gba_member *member;

	list_for_each_entry(member, &gba->group[group].members, group_link)
		if (member->attached)
			return;
	writel(GBA_IRQ_ERROR | GBA_IRQ_ROUND | GBA_IRQ_DIED | GBA_IRQ_PORT_DOWN,
	       gba_reg(gba, GBA_PORT_EVENT(group)));
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

void gba_member_revoke_doorbell(struct gba_member *member)
{
	lockdep_assert_held(&member->file->gba->lock);
	gba_mapping_replace(member->file, &member->doorbell, page_to_pfn(member->file->dummy));
}

void gba_member_mark(struct gba_member *member, u32 reason, u32 events)
{
	struct gba_device *gba = member->file->gba;
	struct gba_flag_slot *slot = gba_slot(member->page, member->slot);

	lockdep_assert_held(&gba->lock);
	if (member->revoked)
		return;
	spin_lock(&gba->event_lock);
	member->revoked = reason;
	member->attached = false;
	WRITE_ONCE(slot->revoked, cpu_to_le32(reason));
	/* Release: a reader of the mark also reads the reason. The sequence stays. [DRV-14] */
	smp_mb__before_atomic();
	atomic64_or((__force s64)cpu_to_le64(GBA_FLAG_RECLAIMED), (atomic64_t *)&slot->release);
	gba_post(member, GBA_EVENT_REVOKED | events, 0);
	spin_unlock(&gba->event_lock);
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
	member_command(member, GBA_CMD_LEAVE, 0, died ? GBA_LEAVE_DIED : 0);
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
