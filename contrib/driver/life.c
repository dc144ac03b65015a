// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The start and the end of the device, and the check of its port. */
#include "device.h"
#include "member.h"

int gba_start(struct gba_device *gba)
{
	int result;

	pci_set_master(gba->pdev);
	result = gba_control_start(gba);
	if (result) {
		pci_clear_master(gba->pdev);
		return result;
	}
	spin_lock(&gba->event_lock);
	gba->up = true;
	spin_unlock(&gba->event_lock);
	return 0;
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
