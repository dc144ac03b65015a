// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Interrupts: acknowledge the events of the port, and post them to the members of this host. */
#include <linux/delay.h>
#include <linux/mm.h>

#include "device.h"
#include "member.h"

/*
 * The number of interrupts in a window of time above which the thread sleeps after each. A process
 * can cause an interrupt with each store to its doorbell page.
 */
#define GBA_IRQ_BURST  250
#define GBA_IRQ_WINDOW msecs_to_jiffies(10)

static u32 member_events(u32 irq)
{
	return (irq & GBA_IRQ_ROUND ? GBA_EVENT_ROUND : 0) |
	       (irq & GBA_IRQ_ERROR ? GBA_EVENT_ERROR : 0) |
	       (irq & (GBA_IRQ_DIED | GBA_IRQ_PORT_DOWN) ? GBA_EVENT_DIED : 0);
}

/* Acknowledge the events of a group, then post them. [IRQ-3] Under irq_lock. */
static void group_event(struct gba_device *gba, u32 group)
{
	u32 irq = readl(gba_reg(gba, GBA_PORT_EVENT(group))), events, last_error = 0;
	struct gba_member *member;

	if (irq & ~GBA_IRQ_BITS)
		return; /* the device is gone */
	writel(irq, gba_reg(gba, GBA_PORT_EVENT(group)));
	/*
	 * The write is posted. It also acknowledges an event that comes before the write arrives,
	 * which then does not interrupt again. After this read the members see such an event.
	 */
	(void)readl(gba_reg(gba, GBA_PORT_EVENT(group)));
	if (irq & GBA_IRQ_ERROR)
		last_error = readl(gba_reg(gba, GBA_GROUP_REG(group, GBA_REG_LAST_ERROR)));
	events = member_events(irq);
	spin_lock(&gba->event_lock);
	if (events)
		list_for_each_entry(member, &gba->group[group].members, group_link)
			if (member->attached)
				gba_post(member, events, last_error);
	spin_unlock(&gba->event_lock);
}

/* Limit the rate of interrupts. All events that come during the sleep are one interrupt. */
static void limit_rate(struct gba_device *gba)
{
	if (time_after(jiffies, gba->irq_rate.window + GBA_IRQ_WINDOW)) {
		gba->irq_rate.window = jiffies;
		gba->irq_rate.count = 0;
	}
	if (++gba->irq_rate.count > GBA_IRQ_BURST)
		usleep_range(50, 100);
}

/* Runs in a thread, because reads of a device may take long. */
irqreturn_t gba_interrupt(int irq, void *data)
{
	struct gba_device *gba = data;
	unsigned long cause;
	unsigned int group;

	/* A device that is down may be in a reset, so do not access it. */
	if (!READ_ONCE(gba->up))
		return IRQ_NONE;
	cause = readl(gba_reg(gba, GBA_PORT_REG(GBA_PORT_IRQ_CAUSE)));
	for_each_set_bit(group, &cause, gba->groups) {
		mutex_lock(&gba->irq_lock);
		group_event(gba, group);
		mutex_unlock(&gba->irq_lock);
	}
	limit_rate(gba);
	/* Also without a cause: a JOIN may have acknowledged the events. */
	return IRQ_HANDLED;
}
