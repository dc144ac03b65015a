// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Reads of events, and the sleep of a member until its round is complete. */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "device.h"
#include "file.h"
#include "member.h"

/* --- read --- */

static bool take_oldest(struct gba_file *file, struct gba_event *event)
{
	struct gba_member *member;

	spin_lock(&file->gba->event_lock);
	member = list_first_entry_or_null(&file->pending, struct gba_member, event_link);
	if (member)
		*event = (struct gba_event){ .last_error = member->last_error,
					     .events = gba_take_events(member),
					     .group = member->group,
					     .generation = member->generation,
					     .member = member->member };
	spin_unlock(&file->gba->event_lock);
	return member;
}

/* Post an event again that could not be copied to user space. */
static void put_back(struct gba_file *file, const struct gba_event *event)
{
	struct gba_member *member;

	spin_lock(&file->gba->event_lock);
	member = gba_member_find(file, event->group, event->generation, event->member);
	if (member)
		gba_post(member, event->events, event->last_error);
	spin_unlock(&file->gba->event_lock);
}

static bool has_events(struct gba_file *file)
{
	return !list_empty_careful(&file->pending) || !READ_ONCE(file->gba->up);
}

ssize_t gba_read(struct file *filp, char __user *buffer, size_t size, loff_t *offset)
{
	struct gba_file *file = filp->private_data;
	struct gba_event event;
	ssize_t done = 0;

	if (current->mm != file->mm)
		return -EPERM;
	if (size < sizeof(event))
		return -EINVAL;
	while (!done) {
		for (; size - done >= sizeof(event) && take_oldest(file, &event);
		     done += sizeof(event))
			if (copy_to_user(buffer + done, &event, sizeof(event))) {
				put_back(file, &event);
				return done ?: -EFAULT;
			}
		if (done)
			break;
		if (!READ_ONCE(file->gba->up))
			return 0; /* no event follows */
		if (filp->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(file->wait, has_events(file)))
			return -EINTR;
	}
	return done;
}

/* --- WAIT --- */

/* Between two reads of the status of a group that is not armed yet, ns. */
#define GBA_UNARMED_PERIOD (10 * NSEC_PER_MSEC)
/* Between two looks at the flag, ns. On a bus that does not order writes the interrupt may overtake the
 * release [NOTE-1], and none follows. */
#define GBA_LOOK_PERIOD	   (100 * NSEC_PER_MSEC)

/* The last round in the flag of a membership. Under event_lock. */
static u32 reached_by(struct gba_member *member)
{
	return lower_32_bits(le64_to_cpu(READ_ONCE(gba_slot(member->page, member->slot)->release)));
}

/* Whether a wait is complete. Sets wait->events to its result, or to 0. */
static bool is_over(struct gba_member *member, struct gba_ioc_wait *wait)
{
	struct gba_device *gba = member->file->gba;
	bool over = true;
	u32 events = 0;

	spin_lock(&gba->event_lock);
	if (member->left)
		goto unlock;
	if (GBA_SEQ_REACHED(reached_by(member), wait->sequence))
		events = gba_take_events(member) | GBA_EVENT_ROUND;
	else if (member->events & ~GBA_EVENT_ROUND)
		events = gba_take_events(member) & ~GBA_EVENT_ROUND;
	else if (member->revoked) /* the event was taken before */
		events = GBA_EVENT_REVOKED |
			 (member->revoked == GBA_REVOKED_DEAD ? GBA_EVENT_DEAD : 0);
	else
		over = false;
unlock:
	spin_unlock(&gba->event_lock);
	wait->events = events;
	return over;
}

/*
 * Set member->armed if the device takes NOTIFY, or if an event will end the membership. A group whose
 * port was down is not armed, and the device has no address of the flag. Neither state changes until
 * the membership ends: a group is armed once, its members keep it allocated, and a member that was
 * withdrawn gets no new address. A device that is gone answers with all ones. Under lock.
 */
static void look(struct gba_member *member)
{
	struct gba_device *gba = member->file->gba;
	u32 status = readl(gba_reg(gba, GBA_GROUP_REG(member->group, GBA_REG_STATUS)));

	if (status == U32_MAX) {
		gba_check(gba);
		return;
	}
	if (!(status & GBA_STATUS_READY) && !gba_member_withdrawn(member))
		return;
	spin_lock(&gba->event_lock);
	member->armed = true;
	spin_unlock(&gba->event_lock);
}

/*
 * Read the status unless the group was found armed, because a read of a device may take long. For
 * the same reason no spinlock is held. Returns 0 or -EINTR.
 */
static int look_unless_armed(struct gba_member *member)
{
	struct gba_device *gba = member->file->gba;

	if (READ_ONCE(member->armed) || !READ_ONCE(member->attached))
		return 0;
	if (mutex_lock_interruptible(&gba->lock))
		return -EINTR;
	if (member->attached && !member->armed)
		look(member);
	mutex_unlock(&gba->lock);
	return 0;
}

/*
 * Request the interrupt of a round. armed: set to false if the group is not armed yet. Returns
 * whether the sequence can be waited for.
 */
static bool notify(struct gba_member *member, u32 sequence, bool *armed)
{
	struct gba_device *gba = member->file->gba;
	u32 reached;

	spin_lock(&gba->event_lock);
	reached = reached_by(member);
	*armed = !member->attached || member->armed;
	/* If the release has come meanwhile, the device answers NOTIFY at once. [NOTE-2] */
	if (member->attached && member->armed && sequence - reached <= 1)
		writeq(GBA_ARRIVAL(sequence, member->generation, member->member),
		       gba_reg(gba, GBA_DOORBELL(member->group) + GBA_BELL_NOTIFY));
	spin_unlock(&gba->event_lock);
	return sequence - reached <= 1 || GBA_SEQ_REACHED(reached, sequence);
}

static struct gba_member *member_get(struct gba_file *file, const struct gba_ioc_wait *wait)
{
	struct gba_member *member;

	spin_lock(&file->gba->event_lock);
	member = gba_member_find(file, wait->group, wait->generation, wait->member);
	if (member)
		kref_get(&member->ref);
	spin_unlock(&file->gba->event_lock);
	return member;
}

/* Sleep until the wait is complete. timeout: not 0. */
static int sleep_until_over(struct gba_member *member, struct gba_ioc_wait *wait, ktime_t timeout)
{
	const ktime_t end = ktime_add_safe(ktime_get(), timeout);
	ktime_t slice;
	bool armed;
	int result;

	do {
		result = look_unless_armed(member);
		if (result)
			return result;
		if (!notify(member, wait->sequence, &armed))
			return -EINVAL;
		/* Another host may arm the group, and the device has no event for that. */
		slice = min_t(ktime_t, timeout, armed ? GBA_LOOK_PERIOD : GBA_UNARMED_PERIOD);
		result = wait_event_interruptible_hrtimeout(member->wait, is_over(member, wait),
							    slice);
		timeout = ktime_sub(end, ktime_get()); /* a slice ends late */
	} while (result == -ETIME && timeout > 0);
	return result;
}

int gba_wait(struct gba_file *file, struct gba_ioc_wait *wait)
{
	struct gba_member *member = member_get(file, wait);
	ktime_t timeout = KTIME_MAX;
	int result = 0;

	if (!member)
		return -ESTALE;
	if (wait->timeout < KTIME_MAX)
		timeout = ns_to_ktime(wait->timeout);
	if (is_over(member, wait))
		goto out;
	result = -ETIMEDOUT;
	if (wait->timeout == 0)
		goto out;
	result = sleep_until_over(member, wait, timeout);
	if (result == -ETIME)
		result = -ETIMEDOUT;
	else if (result && result != -EINVAL)
		result = -EINTR; /* the timeout is relative: do not restart */
out:
	if (!result && member->left)
		result = -ESTALE;
	wait->last_error = member->last_error;
	gba_member_put(member);
	return result;
}
