// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The calls of gba_ioctl.h, with one check of sizes and flags for all calls.
 *
 * A call with results first copies its arguments back to user space. If the memory is read-only,
 * the call fails there, before it has an effect. If storing the results fails later, the call is
 * undone.
 */
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/uidgid.h>
#include <linux/uaccess.h>

#include "device.h"
#include "file.h"
#include "member.h"

union gba_argument {
	struct {
		u32 size, flags;
	} head;
	struct gba_ioc_query query;
	struct gba_ioc_alloc alloc;
	struct gba_ioc_free free;
	struct gba_ioc_join join;
	struct gba_ioc_configure configure;
	struct gba_ioc_leave leave;
	struct gba_ioc_inspect inspect;
	struct gba_ioc_wait wait;
	struct gba_ioc_owner owner;
};

/* Each call_ function runs under gba_device.lock, except that of WAIT. */
static int call_query(struct gba_file *file, union gba_argument *argument)
{
	struct gba_device *gba = file->gba;
	struct gba_ioc_query *query = &argument->query;
	u32 size = query->size, flags = query->flags;

	if (gba->up)
		gba_refresh_held(gba);
	*query = (struct gba_ioc_query){ .size = size,
					 .flags = flags,
					 .abi_version = GBA_ABI_VERSION,
					 .regs_version = gba->regs_version,
					 .features = GBA_FEATURE_WAIT | GBA_FEATURE_EVENTS |
						     GBA_FEATURE_OWNER,
					 .groups = gba->groups,
					 .members_max = gba->members_max,
					 .state = GBA_DEV_STATE_DEAD,
					 .port = gba->port,
					 .ports = gba->ports,
					 .user_groups = gba_user_groups(gba, current_uid()),
					 .user_groups_max = gba_user_groups_max() };
	memcpy(query->uuid, gba->uuid, sizeof(query->uuid));
	if (!gba->up)
		return 0;
	query->groups_free = readl(gba_reg(gba, GBA_DEVICE_BASE + GBA_DEV_GROUPS_FREE));
	query->bad_access = readq(gba_reg(gba, GBA_DEVICE_BASE + GBA_DEV_BAD_ACCESS));
	if (flags & GBA_QUERY_COUNTERS)
		for (u32 group = 0; group < gba->groups; group++)
			gba_read_counters(gba, group, query->counters, true);
	if (gba_check(gba)) {
		query->state = GBA_DEV_STATE_UP;
		return 0;
	}
	/* The values that a dead device returned are invalid. */
	query->groups_free = 0;
	query->bad_access = 0;
	memset(query->counters, 0, sizeof(query->counters));
	return 0;
}

static int call_alloc(struct gba_file *file, union gba_argument *argument)
{
	return argument->alloc.reserved ? -EINVAL : gba_alloc(file, &argument->alloc);
}

static int free_group(struct gba_file *file, u32 number, u32 generation)
{
	struct gba_device *gba = file->gba;
	struct gba_command command = { .command = GBA_CMD_FREE,
				       .group = number,
				       .generation = generation };
	struct gba_group *group;
	int result;

	if (number >= gba->groups)
		return -ESTALE;
	group = &gba->group[number];
	if (group->generation != generation || group->allocator != file) {
		/* A JOIN on this host has ended the allocation. */
		if (gba_member_find(file, number, generation, GBA_MEMBER_NONE))
			return -EBUSY;
		return -ESTALE;
	}
	result = gba_command(gba, &command);
	/* On -ENODEV the device itself frees the groups of a dead host. */
	if (result == -ENODEV)
		result = 0;
	if (!result)
		group->held = false;
	if (!result || result == -ESTALE)
		group->allocator = NULL;
	return result;
}

static int call_free(struct gba_file *file, union gba_argument *argument)
{
	return free_group(file, argument->free.group, argument->free.generation);
}

static void undo_alloc(struct gba_file *file, union gba_argument *argument)
{
	free_group(file, argument->alloc.group, argument->alloc.generation);
}

static int call_join(struct gba_file *file, union gba_argument *argument)
{
	return argument->join.reserved ? -EINVAL : gba_member_join(file, &argument->join);
}

static void undo_join(struct gba_file *file, union gba_argument *argument)
{
	const struct gba_ioc_join *join = &argument->join;
	struct gba_member *member =
		gba_member_find(file, join->group, join->generation, join->member);

	if (member)
		gba_member_leave(member, false);
}

/* A membership of the group in this file that is not revoked; else an error. */
static struct gba_member *find_live(struct gba_file *file, u32 group, u32 generation)
{
	struct gba_member *member = gba_member_find(file, group, generation, GBA_MEMBER_NONE);

	if (!member)
		return ERR_PTR(-ESTALE);
	if (member->revoked)
		return ERR_PTR(-ENODEV);
	return member;
}

static int call_configure(struct gba_file *file, union gba_argument *argument)
{
	const struct gba_ioc_configure *configure = &argument->configure;
	struct gba_command arm = { .command = GBA_CMD_ARM,
				   .group = configure->group,
				   .generation = configure->generation,
				   .value = configure->sequence };
	struct gba_device *gba = file->gba;
	struct gba_member *member;
	u32 status;
	int result;

	if (configure->reserved)
		return -EINVAL;
	member = find_live(file, configure->group, configure->generation);
	if (IS_ERR(member))
		return PTR_ERR(member);
	result = gba_command(gba, &arm);
	if (result != -EBUSY)
		return result;
	status = readl(gba_reg(gba, GBA_GROUP_REG(configure->group, GBA_REG_STATUS)));
	return status & GBA_STATUS_READY ? -EBUSY : -EAGAIN;
}

static int call_leave(struct gba_file *file, union gba_argument *argument)
{
	const struct gba_ioc_leave *leave = &argument->leave;
	struct gba_member *member;

	if (leave->reserved)
		return -EINVAL;
	if (leave->member == GBA_MEMBER_NONE)
		return -ESTALE;
	member = gba_member_find(file, leave->group, leave->generation, leave->member);
	if (!member)
		return -ESTALE;
	gba_member_leave(member, false);
	return 0;
}

static int call_inspect(struct gba_file *file, union gba_argument *argument)
{
	struct gba_ioc_inspect *inspect = &argument->inspect;
	struct gba_device *gba = file->gba;
	struct gba_member *member;

	if (inspect->reserved)
		return -EINVAL;
	member = find_live(file, inspect->group, inspect->generation);
	if (IS_ERR(member))
		return PTR_ERR(member);
	gba_read_group(gba, inspect);
	return gba_check(gba) ? 0 : -ENODEV;
}

/*
 * The process of a group that this host has allocated: its allocator, and after the first JOIN the
 * lowest member of this host. Counts the members of this host.
 */
static struct pid *owner_process(struct gba_group *group, u32 *present)
{
	struct gba_member *member, *lowest = NULL;

	list_for_each_entry(member, &group->members, group_link) {
		if (member->generation != group->generation)
			continue;
		++*present;
		if (!lowest || member->member < lowest->member)
			lowest = member;
	}
	if (group->allocator)
		return group->allocator->pid;
	return lowest ? lowest->file->pid : NULL;
}

static int call_owner(struct gba_file *file, union gba_argument *argument)
{
	struct gba_ioc_owner *owner = &argument->owner;
	u32 size = owner->size, flags = owner->flags, number = owner->group;
	struct gba_device *gba = file->gba;
	struct gba_group *group;

	if (number >= gba->groups)
		return -EINVAL;
	if (!gba->up)
		return -ENODEV;
	group = &gba->group[number];
	gba_refresh_held(gba);
	if (!gba_check(gba))
		return -ENODEV;
	if (!group->held)
		return -ENOENT;
	if (!uid_eq(group->user, current_uid()) && !capable(CAP_SYS_ADMIN))
		return -EACCES;
	*owner = (struct gba_ioc_owner){
		.size = size,
		.flags = flags,
		.group = number,
		.generation = group->generation,
		.members = readl(gba_reg(gba, GBA_GROUP_REG(number, GBA_REG_MEMBER_COUNT))),
		.user = from_kuid_munged(current_user_ns(), group->user),
		.job = group->job
	};
	owner->process = pid_vnr(owner_process(group, &owner->present));
	return gba_check(gba) ? 0 : -ENODEV;
}

static int call_wait(struct gba_file *file, union gba_argument *argument)
{
	return argument->wait.member == GBA_MEMBER_NONE ? -ESTALE :
							  gba_wait(file, &argument->wait);
}

static void undo_wait(struct gba_file *file, union gba_argument *argument)
{
	const struct gba_ioc_wait *wait = &argument->wait;
	struct gba_member *member;

	spin_lock(&file->gba->event_lock);
	member = gba_member_find(file, wait->group, wait->generation, wait->member);
	if (member && wait->events)
		gba_post(member, wait->events, wait->last_error);
	spin_unlock(&file->gba->event_lock);
}

struct gba_call {
	u32 size, flags;
	bool results, unlocked, anybody;
	int (*call)(struct gba_file *file, union gba_argument *argument);
	void (*undo)(struct gba_file *file, union gba_argument *argument);
};

#define SIZE(name) .size = sizeof(struct gba_ioc_##name), .call = call_##name
static const struct gba_call calls[] = {
	[_IOC_NR(GBA_IOC_QUERY)] = { SIZE(query), .flags = GBA_QUERY_COUNTERS, .results = true,
				     .anybody = true },
	[_IOC_NR(GBA_IOC_ALLOC)] = { SIZE(alloc), .results = true, .undo = undo_alloc },
	[_IOC_NR(GBA_IOC_FREE)] = { SIZE(free) },
	[_IOC_NR(GBA_IOC_JOIN)] = { SIZE(join), .results = true, .undo = undo_join },
	[_IOC_NR(GBA_IOC_CONFIGURE)] = { SIZE(configure) },
	[_IOC_NR(GBA_IOC_LEAVE)] = { SIZE(leave) },
	[_IOC_NR(GBA_IOC_INSPECT)] = { SIZE(inspect), .results = true },
	[_IOC_NR(GBA_IOC_WAIT)] = { SIZE(wait), .results = true, .unlocked = true,
				    .undo = undo_wait },
	[_IOC_NR(GBA_IOC_OWNER)] = { SIZE(owner), .results = true },
};

static int locked(struct gba_file *file, bool lock)
{
	if (!lock)
		return 0;
	return mutex_lock_interruptible(&file->gba->lock) ? -EINTR : 0;
}

static void unlocked(struct gba_file *file, bool lock)
{
	if (lock)
		mutex_unlock(&file->gba->lock);
}

/* Copy the arguments. user_size: set to the caller's size of the structure. */
static int copy_in(union gba_argument *argument, const struct gba_call *call,
		   const void __user *user, u32 *user_size)
{
	int result;

	if (get_user(*user_size, (const u32 __user *)user))
		return -EFAULT;
	if (*user_size < call->size)
		return -EINVAL;
	if (*user_size > 4096)
		return -E2BIG;
	result = copy_struct_from_user(argument, call->size, user, *user_size);
	if (result)
		return result;
	argument->head.size = *user_size; /* the caller may have changed it since */
	return argument->head.flags & ~call->flags ? -EINVAL : 0;
}

/*
 * QUERY of versions 1 and 2, so that an old library can report the versions. The first fields of
 * the structure were size, flags, abi_version, regs_version.
 */
#define GBA_IOC_QUERY_2 _IOC(_IOC_READ | _IOC_WRITE, 0xBA, 0, 136)
static int call_query_2(struct gba_file *file, u32 __user *user)
{
	u32 head[4], zero[30] = {};

	if (copy_from_user(head, user, sizeof(head)))
		return -EFAULT;
	if (head[0] != sizeof(head) + sizeof(zero) || head[1])
		return -EINVAL;
	head[2] = GBA_ABI_VERSION;
	head[3] = file->gba->regs_version;
	if (copy_to_user(user, head, sizeof(head)) || copy_to_user(user + 4, zero, sizeof(zero)))
		return -EFAULT;
	return 0;
}

long gba_call(struct gba_file *file, unsigned int number, void __user *user)
{
	union gba_argument argument = {};
	const struct gba_call *call;
	u32 user_size;
	int result;

	if (number == GBA_IOC_QUERY_2)
		return call_query_2(file, user);
	if (_IOC_NR(number) >= ARRAY_SIZE(calls) || number != _IO(GBA_IOC_MAGIC, _IOC_NR(number)))
		return -ENOTTY;
	call = &calls[_IOC_NR(number)];
	if (!call->anybody && current->mm != file->mm)
		return -EPERM;
	result = copy_in(&argument, call, user, &user_size);
	if (result)
		return result;
	if (call->results && copy_to_user(user, &argument, call->size))
		return -EFAULT;
	result = locked(file, !call->unlocked);
	if (result)
		return result;
	result = call->call(file, &argument);
	unlocked(file, !call->unlocked);
	if (result || !call->results || !copy_to_user(user, &argument, call->size))
		return result;
	if (call->undo) {
		if (!call->unlocked)
			mutex_lock(&file->gba->lock);
		call->undo(file, &argument);
		unlocked(file, !call->unlocked);
	}
	return -EFAULT;
}
