// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Open files. A file belongs to the process that opened it, identified by its address space. A
 * child of fork and the receiver of a passed descriptor cannot use the file. Its memberships and
 * allocations end when the owner closes a descriptor of the file or exits, or when the last
 * descriptor and mapping are gone.
 */
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "device.h"
#include "file.h"
#include "member.h"

static int gba_open(struct inode *inode, struct file *filp)
{
	struct gba_device *gba = container_of(inode->i_cdev, struct gba_device, cdev);
	struct gba_file *file;
	int result;

	if (!current->mm)
		return -EPERM;
	file = gba_zalloc(sizeof(*file));
	if (!file)
		return -ENOMEM;
	file->gba = gba;
	file->owner_files = current->files;
	file->user = filp->f_cred->uid;
	INIT_LIST_HEAD(&file->members);
	INIT_LIST_HEAD(&file->pending);
	init_waitqueue_head(&file->wait);
	result = gba_file_map_init(file, filp);
	if (result)
		goto free_file;
	mmgrab(current->mm);
	atomic_inc(&gba_allocated);
	file->mm = current->mm;
	file->pid = get_pid(task_tgid(current));
	atomic_inc(&gba_allocated);

	mutex_lock(&gba->lock);
	if (gba->removed)
		result = -ENODEV;
	else
		list_add_tail(&file->link, &gba->files);
	/* Under the lock, because the removal cancels this work after it has set `removed`. */
	if (!result)
		queue_delayed_work(system_wq, &gba->health_work, GBA_HEALTH_PERIOD);
	mutex_unlock(&gba->lock);
	if (result)
		goto exit_map;
	filp->private_data = file;
	return stream_open(inode, filp);

exit_map:
	put_pid(file->pid);
	mmdrop(file->mm);
	atomic_sub(2, &gba_allocated);
	gba_file_map_exit(file);
free_file:
	gba_free(file);
	return result;
}

/* Free the allocations of a file that no process has joined. Under lock. */
static void file_free(struct gba_file *file)
{
	struct gba_device *gba = file->gba;

	for (u32 group = 0; group < gba->groups; group++) {
		struct gba_command command = { .command = GBA_CMD_FREE,
					       .group = group,
					       .generation = gba->group[group].generation };

		if (gba->group[group].allocator != file)
			continue;
		gba->group[group].allocator = NULL;
		/* Fails if a member of another host has joined: the members then hold the group. */
		if (!gba_command(gba, &command))
			gba->group[group].held = false;
	}
}

void gba_file_end(struct gba_file *file)
{
	struct gba_member *member, *next;

	lockdep_assert_held(&file->gba->lock);
	list_for_each_entry_safe(member, next, &file->members, file_link)
		gba_member_leave(member, true);
	file_free(file);
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

static int gba_flush(struct file *filp, fl_owner_t id)
{
	struct gba_file *file = filp->private_data;

	if (id != file->owner_files)
		return 0;
	mutex_lock(&file->gba->lock);
	gba_file_end(file);
	mutex_unlock(&file->gba->lock);
	return 0;
}

static int gba_release(struct inode *inode, struct file *filp)
{
	struct gba_file *file = filp->private_data;
	struct gba_device *gba = file->gba;

	mutex_lock(&gba->lock);
	gba_file_end(file);
	list_del(&file->link);
	gba_file_map_exit(file);
	mutex_unlock(&gba->lock);
	put_pid(file->pid);
	mmdrop(file->mm);
	atomic_sub(2, &gba_allocated);
	gba_free(file);
	return 0;
}

static __poll_t gba_poll(struct file *filp, poll_table *table)
{
	struct gba_file *file = filp->private_data;
	__poll_t mask = 0;

	if (current->mm && current->mm != file->mm)
		return EPOLLERR;
	poll_wait(filp, &file->wait, table);
	spin_lock(&file->gba->event_lock);
	if (!list_empty(&file->pending))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (!file->gba->up)
		mask |= EPOLLHUP;
	spin_unlock(&file->gba->event_lock);
	return mask;
}

static long gba_ioctl(struct file *filp, unsigned int command, unsigned long argument)
{
	return gba_call(filp->private_data, command, (void __user *)argument);
}

const struct file_operations gba_fops = {
	.owner = THIS_MODULE,
	.open = gba_open,
	.flush = gba_flush,
	.release = gba_release,
	.read = gba_read,
	.poll = gba_poll,
	.mmap = gba_mmap,
	.unlocked_ioctl = gba_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};
