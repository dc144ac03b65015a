// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The revocation of memberships, and the death of a device. Below the commands, because a command
 * can find that the device is dead.
 */
#include <linux/mm.h>

#include "device.h"
#include "file.h"
#include "member.h"

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
	/* Release: a reader of the mark also reads the reason. The sequence stays. [DRV-17] */
	smp_mb__before_atomic();
	atomic64_or((__force s64)cpu_to_le64(GBA_FLAG_REVOKED), (atomic64_t *)&slot->release);
	gba_post(member, GBA_EVENT_REVOKED | events, 0);
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
	spin_lock(&gba->event_lock);
	gba->up = false;
	spin_unlock(&gba->event_lock);
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
	for (u32 group = 0; group < GBA_GROUPS; group++)
		gba->group[group].held = false;
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
