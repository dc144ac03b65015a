// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * /sys/class/gba/gbaN: what the device is and has counted, for monitoring. The host cannot change any of it: the
 * switch has the quota.
 */
#include <linux/sysfs.h>

#include "device.h"

static struct gba_device *gba_of(struct device *dev)
{
	return container_of(dev, struct gba_device, dev);
}

/* A register of 32 bits. Returns false if the device does not answer. */
static bool read_register(struct gba_device *gba, u32 address, u32 *value)
{
	bool answers;

	mutex_lock(&gba->lock);
	answers = gba->up;
	if (answers) {
		*value = readl(gba_reg(gba, address));
		answers = gba_check(gba);
	}
	mutex_unlock(&gba->lock);
	return answers;
}

static ssize_t groups_show(struct device *dev, struct device_attribute *attribute, char *buffer)
{
	return sysfs_emit(buffer, "%u\n", gba_of(dev)->groups);
}
static DEVICE_ATTR_RO(groups);

static ssize_t groups_used_show(struct device *dev, struct device_attribute *attribute,
				char *buffer)
{
	struct gba_device *gba = gba_of(dev);
	u32 unused;

	if (!read_register(gba, GBA_DEVICE_BASE + GBA_DEV_GROUPS_FREE, &unused))
		return -ENODEV;
	return sysfs_emit(buffer, "%u\n", gba->groups - unused);
}
static DEVICE_ATTR_RO(groups_used);

static ssize_t ports_show(struct device *dev, struct device_attribute *attribute, char *buffer)
{
	return sysfs_emit(buffer, "%u\n", gba_of(dev)->ports);
}
static DEVICE_ATTR_RO(ports);

static ssize_t port_show(struct device *dev, struct device_attribute *attribute, char *buffer)
{
	return sysfs_emit(buffer, "%u\n", gba_of(dev)->port);
}
static DEVICE_ATTR_RO(port);

static ssize_t quota_show(struct device *dev, struct device_attribute *attribute, char *buffer)
{
	u32 quota;

	if (!read_register(gba_of(dev), GBA_PORT_REG(GBA_PORT_QUOTA), &quota))
		return -ENODEV;
	return sysfs_emit(buffer, "%u\n", quota);
}
static DEVICE_ATTR_RO(quota);

static ssize_t state_show(struct device *dev, struct device_attribute *attribute, char *buffer)
{
	struct gba_device *gba = gba_of(dev);
	const char *state = "dead";

	mutex_lock(&gba->lock);
	if (gba->up && gba_check(gba))
		state = gba_port_is_known(gba) ? "up" : "port down";
	mutex_unlock(&gba->lock);
	return sysfs_emit(buffer, "%s\n", state);
}
static DEVICE_ATTR_RO(state);

static ssize_t counters_show(struct device *dev, struct device_attribute *attribute, char *buffer)
{
	static const char *const names[GBA_COUNTERS] = {
		[GBA_COUNTER_ARRIVALS] = "arrivals",
		[GBA_COUNTER_RELEASES] = "releases",
		[GBA_COUNTER_ROUNDS] = "rounds",
		[GBA_COUNTER_REPEATS] = "repeated_arrivals",
		[GBA_COUNTER_LATE] = "late_arrivals",
		[GBA_COUNTER_ERR_ACCESS] = "access_errors",
		[GBA_COUNTER_ERR_SEQUENCE] = "sequence_errors",
		[GBA_COUNTER_ERR_MEMBER] = "member_errors",
		[GBA_COUNTER_ERR_DISABLED] = "disabled_errors",
		[GBA_COUNTER_ERR_CONFIG] = "configuration_errors",
	};
	struct gba_device *gba = gba_of(dev);
	u64 counters[GBA_COUNTERS] = {}, bad_accesses = 0;
	bool answers;
	int length;

	mutex_lock(&gba->lock);
	answers = gba->up;
	if (answers) {
		for (u32 group = 0; group < gba->groups; group++)
			gba_read_counters(gba, group, counters, true);
		bad_accesses = readq(gba_reg(gba, GBA_DEVICE_BASE + GBA_DEV_BAD_ACCESS));
		answers = gba_check(gba);
	}
	mutex_unlock(&gba->lock);
	if (!answers)
		return -ENODEV;
	length = sysfs_emit(buffer, "bad_accesses %llu\n", bad_accesses);
	for (u32 i = 0; i < GBA_COUNTERS; i++)
		length += sysfs_emit_at(buffer, length, "%s %llu\n", names[i], counters[i]);
	return length;
}
static DEVICE_ATTR_RO(counters);

static struct attribute *gba_attrs[] = {
	&dev_attr_groups.attr, &dev_attr_groups_used.attr, &dev_attr_ports.attr,
	&dev_attr_port.attr,   &dev_attr_quota.attr,	   &dev_attr_state.attr,
	&dev_attr_counters.attr, NULL,
};

static const struct attribute_group gba_group = {
	.attrs = gba_attrs,
};

const struct attribute_group *gba_attribute_groups[] = { &gba_group, NULL };
