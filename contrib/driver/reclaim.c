// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* ALLOC: limits of users and jobs, and the reclaim of groups with a low barrier rate. */
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>

#include "device.h"
#include "member.h"
#include "rate.h"

#define GBA_FASTER	4	    /* ratio of barrier rates for a reclaim [DRV-12] */
#define GBA_SAMPLE_NS	(50 * NSEC_PER_MSEC) /* between two samples of a rate [DRV-13] */
#define GBA_FREED_WAIT	(2 * HZ)    /* for the other hosts to confirm */

static unsigned int user_groups_max;
module_param(user_groups_max, uint, 0644);
MODULE_PARM_DESC(user_groups_max, "Most groups that one user may hold on this host; 0: no limit");

u32 gba_user_groups_max(void)
{
	return READ_ONCE(user_groups_max);
}

static int group_command(struct gba_device *gba, u32 group, u32 generation, u32 number)
{
	struct gba_command command = { .command = number,
				       .group = group,
				       .generation = generation };

	return gba_command(gba, &command);
}

void gba_refresh_held(struct gba_device *gba)
{
	lockdep_assert_held(&gba->lock);
	/*
	 * The device reports only the end of groups that are taken back. Another group ends with
	 * its last member, perhaps on another host, and its generation is then stale. [CMD-1]
	 */
	for (u32 group = 0; group < gba->groups; group++)
		if (gba->group[group].held && list_empty(&gba->group[group].members) &&
		    group_command(gba, group, gba->group[group].generation,
				  GBA_CMD_MEMBER) == -ESTALE)
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

/* --- Rates --- */

void gba_sample_first(struct gba_device *gba, u32 number)
{
	struct gba_group *group = &gba->group[number];

	group->sample_rounds = gba_rounds(gba, number);
	group->sample_ns = ktime_get_ns();
	group->sampled = true;
	group->rated = false;
}

static void sample(struct gba_device *gba, u32 number)
{
	struct gba_group *group = &gba->group[number];
	u64 rounds, elapsed;

	/* Armed from another host: this is the first sample. */
	if (!group->sampled) {
		gba_sample_first(gba, number);
		return;
	}
	elapsed = ktime_get_ns() - group->sample_ns;
	if (elapsed < GBA_SAMPLE_NS)
		return;
	rounds = gba_rounds(gba, number);
	group->rated = gba_rate(rounds - group->sample_rounds, elapsed, &group->rate);
	group->sample_rounds = rounds;
	group->sample_ns += elapsed;
}

/* The group with the lowest rate that may be taken back, or gba->groups. */
static u32 slowest(struct gba_file *file, const struct gba_ioc_alloc *alloc, bool of_job)
{
	struct gba_device *gba = file->gba;
	u32 best = gba->groups;

	for (u32 number = 0; number < gba->groups; number++) {
		struct gba_group *group = &gba->group[number];
		u32 status;

		if (!group->held || !uid_eq(group->user, file->user) ||
		    (of_job && group->job != alloc->job))
			continue;
		status = readl(gba_reg(gba, GBA_GROUP_REG(number, GBA_REG_STATUS)));
		if (!(status & GBA_STATUS_READY))
			continue;
		sample(gba, number);
		/* When it disarms the group, the device checks again that no member has arrived. */
		if (status & GBA_STATUS_ACTIVE || !group->rated ||
		    group->rate > U32_MAX / GBA_FASTER ||
		    group->rate * GBA_FASTER >= alloc->barrier_rate)
			continue;
		if (best == gba->groups || group->rate < gba->group[best].rate)
			best = number;
	}
	return best;
}

/* --- Taking back --- */

void gba_taken(struct gba_device *gba, u32 number)
{
	struct gba_command confirm = { .command = GBA_CMD_CONFIRM, .group = number };
	struct gba_member *member;
	bool found = false;

	lockdep_assert_held(&gba->lock);
	if (!gba->up)
		return;
	/*
	 * The device has withdrawn the members. A membership that has its address is of a later
	 * allocation: the event was handled before.
	 */
	list_for_each_entry(member, &gba->group[number].members, group_link) {
		if (!member->attached || !gba_member_withdrawn(member))
			continue;
		gba_member_revoke_doorbell(member);
		confirm.generation = member->generation;
		found = true;
	}
	if (!found || !gba_check(gba))
		return;
	/* The doorbells are revoked. This read pushes earlier arrivals to the device. [DRV-16] */
	list_for_each_entry(member, &gba->group[number].members, group_link)
		if (member->attached && member->generation == confirm.generation &&
		    gba_member_withdrawn(member))
			gba_member_mark(member, GBA_REVOKED_TAKEN, 0);
	gba_command(gba, &confirm);
}

/*
 * Start to take a group back, and confirm for this host. Returns the error of the device. On
 * -ESTALE the group has ended with its last member, perhaps on another host: it is not held.
 */
static int take_back(struct gba_device *gba, u32 number)
{
	int result = group_command(gba, number, gba->group[number].generation, GBA_CMD_TAKE_BACK);

	if (result == -ESTALE)
		gba->group[number].held = false;
	if (result)
		return result;
	gba_taken(gba, number);
	gba->group[number].held = false;
	gba->group[number].taken = true;
	gba->group[number].stalled = false;
	gba->group[number].taken_at = jiffies;
	return 0;
}

/*
 * A group that was taken back from this user, and that another host has not confirmed, or
 * gba->groups. While there is one, no other group of the user is taken back. So a host that does
 * not confirm costs a user one group, and not all of them. [DRV-12]
 */
static u32 unconfirmed(struct gba_file *file)
{
	struct gba_device *gba = file->gba;

	for (u32 number = 0; number < gba->groups; number++) {
		struct gba_group *group = &gba->group[number];

		if (!group->taken || !uid_eq(group->user, file->user))
			continue;
		if (group_command(gba, number, group->generation, GBA_CMD_MEMBER) != -ESTALE)
			return number;
		group->taken = false;
	}
	return gba->groups;
}

/* Report once that a group which was taken back is not confirmed. */
static void report_stalled(struct gba_device *gba, u32 number, u32 generation)
{
	struct gba_group *group = &gba->group[number];

	if (!group->taken || group->generation != generation || group->stalled)
		return;
	group->stalled = true;
	dev_warn_ratelimited(&gba->dev,
			     "group %u was taken back, but another host does not confirm\n",
			     number);
}

/* --- ALLOC --- */

static int command_alloc(struct gba_file *file, struct gba_ioc_alloc *alloc, u32 number)
{
	struct gba_device *gba = file->gba;
	struct gba_command command = { .command = GBA_CMD_ALLOC,
				       .group = number,
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
	group->sampled = false;
	group->rated = false;
	group->taken = false;
	alloc->group = command.group;
	alloc->generation = command.generation;
	alloc->key = command.key;
	return 0;
}

/* Check the limits. Returns 0, or the error of the limit that the allocation would exceed. */
static int limits(struct gba_file *file, const struct gba_ioc_alloc *alloc, bool *at_limit)
{
	struct gba_device *gba = file->gba;
	u32 job, user, most = gba_user_groups_max();

	if (alloc->groups_max || most)
		gba_refresh_held(gba);
	job = job_groups(gba, file->user, alloc->job);
	*at_limit = job == alloc->groups_max;
	if (alloc->groups_max && job >= alloc->groups_max)
		return -EDQUOT;
	user = gba_user_groups(gba, file->user);
	return most && user >= most ? -EUSERS : 0;
}

/*
 * Allocate the group that was taken back when the other hosts have confirmed. Waits without the
 * lock, at most until GBA_FREED_WAIT after the group was taken back.
 */
static int alloc_when_free(struct gba_file *file, struct gba_ioc_alloc *alloc, u32 number)
{
	struct gba_device *gba = file->gba;
	u32 generation = gba->group[number].generation;
	unsigned long end = gba->group[number].taken_at + GBA_FREED_WAIT;
	bool at_limit;

	for (;;) {
		u32 seen = READ_ONCE(gba->freed.count);
		/* Another process of the job may have allocated a group meanwhile. [DRV-11] */
		int result = limits(file, alloc, &at_limit);
		long left;

		if (!result)
			result = command_alloc(file, alloc, number);
		if (result != -ENOSPC)
			return result;
		/* Another process or host has the group now, so no event follows. */
		if (group_command(gba, number, generation, GBA_CMD_MEMBER) == -ESTALE)
			return command_alloc(file, alloc, GBA_GROUP_ANY);
		left = end - jiffies;
		if (left <= 0) {
			report_stalled(gba, number, generation);
			return result;
		}
		if (fatal_signal_pending(current))
			return result;
		mutex_unlock(&gba->lock);
		wait_event_killable_timeout(gba->freed.wait, READ_ONCE(gba->freed.count) != seen, left);
		mutex_lock(&gba->lock);
	}
}

int gba_alloc(struct gba_file *file, struct gba_ioc_alloc *alloc)
{
	struct gba_device *gba = file->gba;
	bool at_limit, of_job;
	u32 number;
	int result, error;

	lockdep_assert_held(&gba->lock);
	if (alloc->members < 1 || alloc->members > gba->members_max)
		return -EINVAL;
	gba_check_port(gba);
	if (!gba->up)
		return -ENODEV;
	result = limits(file, alloc, &at_limit);
	if (!result)
		result = command_alloc(file, alloc, GBA_GROUP_ANY);
	if (!alloc->barrier_rate || (result != -ENOSPC && !(result == -EDQUOT && at_limit)))
		return result;
	of_job = result == -EDQUOT;
	number = unconfirmed(file);
	if (number < gba->groups) {
		result = alloc_when_free(file, alloc, number);
		/* If another process got that group, this call can take back one more. */
		if (result != -ENOSPC || unconfirmed(file) < gba->groups)
			return result;
	}
	do {
		number = slowest(file, alloc, of_job);
		if (number == gba->groups)
			return result;
		error = take_back(gba, number);
	} while (error == -ESTALE);
	return error ? result : alloc_when_free(file, alloc, number);
}
