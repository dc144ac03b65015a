// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The start and the end of the device, and its periodic check. */
#include <linux/mm.h>

#include "gba_driver.h"

static void set_up(struct gba_device *gba, bool up)
{
	spin_lock(&gba->event_lock);
	gba->up = up;
	spin_unlock(&gba->event_lock);
}

void gba_fail(struct gba_device *gba, const char *reason)
{
	struct gba_flag_page *page;
	struct gba_member *member;
	struct gba_file *file;

	lockdep_assert_held(&gba->lock);
	if (!gba->up)
		return;
	if (list_empty(&gba->files))
		dev_info(&gba->dev, "%s\n", reason);
	else
		dev_err(&gba->dev, "%s; its barriers cannot complete\n", reason);
	set_up(gba, false);
	/* The device makes no store after this, neither to flags nor to freed pages. */
	pci_clear_master(gba->pdev);
	list_for_each_entry(file, &gba->files, link) {
		list_for_each_entry(member, &file->members, file_link) {
			gba_member_revoke_doorbell(member);
			gba_member_mark(member, GBA_REVOKED_DEAD, GBA_EVENT_DEAD);
		}
		list_for_each_entry(page, &file->pages, link)
			page->retired = true;
		wake_up_all(&file->wait);
	}
	/* The allocators stay, because FREE works on a dead device. */
	for (u32 group = 0; group < GBA_GROUPS; group++) {
		gba->group[group].held = false;
		gba->group[group].taken = false;
	}
	gba->freed_count++;
	wake_up_all(&gba->freed);
}

bool gba_check(struct gba_device *gba)
{
	if (!gba->up)
		return false;
	if (readl(gba_reg(gba, GBA_DEVICE_BASE + GBA_DEV_ID)) == GBA_DEV_ID_VALUE)
		return true;
	gba_fail(gba, "the device no longer answers");
	return false;
}

int gba_start(struct gba_device *gba)
{
	int result;

	pci_set_master(gba->pdev);
	result = gba_control_start(gba);
	if (result)
		pci_clear_master(gba->pdev);
	else
		set_up(gba, true);
	return result;
}

void gba_give_back(struct gba_device *gba)
{
	struct gba_member *member;
	struct gba_file *file;

	if (!gba_check(gba))
		return;
	writel(0, gba_reg(gba, GBA_PORT_REG(GBA_PORT_IRQ_MASK)));
	list_for_each_entry(file, &gba->files, link) {
		list_for_each_entry(member, &file->members, file_link) {
			gba_member_revoke_doorbell(member);
			if (member->attached)
				gba_member_detach(member, true);
		}
	}
	/* Fails if a member of another host has joined: the members then hold the group. */
	for (u32 group = 0; group < gba->groups; group++)
		if (gba->group[group].allocator)
			gba_command(gba, &(struct gba_command){
						 .command = GBA_CMD_FREE,
						 .group = group,
						 .generation = gba->group[group].generation });
}

bool gba_check_port(struct gba_device *gba)
{
	lockdep_assert_held(&gba->lock);
	if (!gba_check(gba))
		return false;
	if (gba_port_is_known(gba))
		return true;
	/* End the allocations and memberships since the port is up again, too. */
	gba_give_back(gba);
	gba_fail(gba, "the port was down");
	gba_start(gba);
	return false;
}

void gba_health(struct work_struct *work)
{
	struct gba_device *gba =
		container_of(to_delayed_work(work), struct gba_device, health_work);
	struct gba_file *file;

	mutex_lock(&gba->lock);
	gba_check_port(gba);
	/* After exec without a close the owner's address space is gone, but not the descriptor. */
	list_for_each_entry(file, &gba->files, link)
		if (!atomic_read(&file->mm->mm_users))
			gba_file_end(file);
	if (!list_empty(&gba->files))
		queue_delayed_work(system_wq, &gba->health_work, GBA_HEALTH_PERIOD);
	mutex_unlock(&gba->lock);
}
