// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* ALLOC, and the limits of users and jobs. */
#include <linux/module.h>

#include "device.h"
#include "member.h"

static unsigned int user_groups_max;
module_param(user_groups_max, uint, 0644);
MODULE_PARM_DESC(user_groups_max, "Most groups that one user may hold on this host; 0: no limit");

u32 gba_user_groups_max(void)
{
	return READ_ONCE(user_groups_max);
}

/* Whether this host's allocation of the group has ended. Under lock. */
static bool has_ended(struct gba_device *gba, u32 group)
{
	struct gba_command command = { .command = GBA_CMD_MEMBER,
				       .group = group,
				       .generation = gba->group[group].generation };

	return gba_command(gba, &command) == -ESTALE;
}

void gba_refresh_held(struct gba_device *gba)
{
	lockdep_assert_held(&gba->lock);
	/*
	 * The device does not report the end of a group. It ends with its last member, perhaps on
	 * another host, and its generation is then stale. [CMD-1]
	 */
	for (u32 group = 0; group < gba->groups; group++)
		if (gba->group[group].held && list_empty(&gba->group[group].members) &&
		    has_ended(gba, group))
			gba->group[group].held = false;
}

u32 gba_user_groups(struct gba_device *gba, kuid_t user)
{
	u32 count = 0;

	lockdep_assert_held(&gba->lock);
	for (u32 group = 0; group < gba->groups; group++)
		count += gba->group[group].held && uid_eq(gba->group[group].user, user);
	return count;
}

static u32 job_groups(struct gba_device *gba, kuid_t user, u64 job)
{
	u32 count = 0;

	for (u32 group = 0; group < gba->groups; group++)
		count += gba->group[group].held && uid_eq(gba->group[group].user, user) &&
			 gba->group[group].job == job;
	return count;
}

static int command_alloc(struct gba_file *file, struct gba_ioc_alloc *alloc)
{
	struct gba_device *gba = file->gba;
	struct gba_command command = { .command = GBA_CMD_ALLOC,
				       .group = GBA_GROUP_ANY,
				       .value = alloc->members };
	int result = gba_command(gba, &command);
	struct gba_group *group;

	if (result)
		return result;
	if (command.group >= gba->groups)
		return gba_check(gba) ? -EIO : -ENODEV;
	group = &gba->group[command.group];
	group->held = true;
	group->generation = command.generation;
	group->allocator = file;
	group->user = file->user;
	group->job = alloc->job;
	alloc->group = command.group;
	alloc->generation = command.generation;
	alloc->key = command.key;
	return 0;
}

/* Check the limits. Returns 0, or the error of the limit that the allocation would exceed. */
static int limits(struct gba_file *file, const struct gba_ioc_alloc *alloc)
{
	struct gba_device *gba = file->gba;
	u32 most = gba_user_groups_max();

	if (alloc->groups_max || most)
		gba_refresh_held(gba);
	if (alloc->groups_max && job_groups(gba, file->user, alloc->job) >= alloc->groups_max)
		return -EDQUOT;
	return most && gba_user_groups(gba, file->user) >= most ? -EUSERS : 0;
}

int gba_alloc(struct gba_file *file, struct gba_ioc_alloc *alloc)
{
	struct gba_device *gba = file->gba;
	int result;

	lockdep_assert_held(&gba->lock);
	if (alloc->members < 1 || alloc->members > gba->members_max)
		return -EINVAL;
	gba_check_port(gba);
	if (!gba->up)
		return -ENODEV;
	result = limits(file, alloc);
	return result ? result : command_alloc(file, alloc);
}
