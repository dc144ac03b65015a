// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Commands of the control unit, and registers. The device completes a command before it answers the
 * next access, so nothing waits. [CMD-1]
 */
#include "device.h"

static const int results[] = {
	[GBA_RESULT_OK] = 0,
	[GBA_RESULT_PARAM] = -EINVAL,
	[GBA_RESULT_STALE] = -ESTALE,
	[GBA_RESULT_BUSY] = -EBUSY,
	[GBA_RESULT_NO_GROUP] = -ENOSPC,
	[GBA_RESULT_LIMIT] = -EUSERS,
};

int gba_command(struct gba_device *gba, struct gba_command *command)
{
	u32 result;

	lockdep_assert_held(&gba->lock);
	if (!gba->up)
		return -ENODEV;
	writel(command->group, gba_reg(gba, GBA_PORT_REG(GBA_PORT_GROUP)));
	writel(command->generation, gba_reg(gba, GBA_PORT_REG(GBA_PORT_GENERATION)));
	writeq(command->key, gba_reg(gba, GBA_PORT_REG(GBA_PORT_KEY)));
	writel(command->member, gba_reg(gba, GBA_PORT_REG(GBA_PORT_MEMBER)));
	writel(command->value, gba_reg(gba, GBA_PORT_REG(GBA_PORT_VALUE)));
	writel(command->command, gba_reg(gba, GBA_PORT_REG(GBA_PORT_COMMAND)));
	result = readl(gba_reg(gba, GBA_PORT_REG(GBA_PORT_RESULT)));
	if (result >= ARRAY_SIZE(results))
		return gba_check(gba) ? -EIO : -ENODEV;
	if (result != GBA_RESULT_OK)
		return results[result];
	command->group = readl(gba_reg(gba, GBA_PORT_REG(GBA_PORT_GROUP)));
	command->generation = readl(gba_reg(gba, GBA_PORT_REG(GBA_PORT_GENERATION)));
	command->key = readq(gba_reg(gba, GBA_PORT_REG(GBA_PORT_KEY)));
	command->value = readl(gba_reg(gba, GBA_PORT_REG(GBA_PORT_VALUE)));
	return 0;
}

/* Check that the driver supports the device. */
static int identify(struct gba_device *gba)
{
	struct device *dev = &gba->pdev->dev;
	u32 id = readl(gba_reg(gba, GBA_DEVICE_BASE + GBA_DEV_ID));
	u32 version, groups, members_max, ports;

	if (id != GBA_DEV_ID_VALUE)
		return dev_err_probe(dev, -ENODEV, "not a GBA: identity %#x\n", id);
	version = readl(gba_reg(gba, GBA_DEVICE_BASE + GBA_DEV_VERSION));
	if (version >> 16 != GBA_REGS_MAJOR)
		return dev_err_probe(dev, -ENODEV, "registers %u.%u; this driver needs %u.x\n",
				     version >> 16, version & 0xFFFF, GBA_REGS_MAJOR);
	groups = readl(gba_reg(gba, GBA_DEVICE_BASE + GBA_DEV_GROUPS));
	members_max = readl(gba_reg(gba, GBA_DEVICE_BASE + GBA_DEV_MEMBERS_MAX));
	ports = readl(gba_reg(gba, GBA_DEVICE_BASE + GBA_DEV_PORTS));
	if (groups < 1 || groups > GBA_GROUPS || members_max < 1 || members_max > GBA_MEMBERS_MAX)
		return dev_err_probe(dev, -ENODEV, "invalid size: %u groups of %u members\n",
				     groups, members_max);
	if (ports < 1 || ports > GBA_PORTS_MAX)
		return dev_err_probe(dev, -ENODEV, "no ports; the driver needs a control unit\n");
	/* Keep only valid sizes, because they limit indices also while the device is dead. */
	gba->regs_version = version;
	gba->groups = groups;
	gba->members_max = members_max;
	gba->ports = ports;
	return 0;
}

int gba_control_start(struct gba_device *gba)
{
	int result = identify(gba);

	if (result)
		return result;
	gba->port = readl(gba_reg(gba, GBA_PORT_REG(GBA_PORT_NUMBER)));
	for (int i = 0; i < 2; i++) {
		u64 value = readq(gba_reg(gba, GBA_DEVICE_BASE + GBA_DEV_UUID + i * 8));
		__le64 half = cpu_to_le64(value);

		memcpy(gba->uuid + i * 8, &half, sizeof(half));
	}
	/* Clear the events of an earlier driver. */
	for (u32 group = 0; group < gba->groups; group++)
		writel(GBA_IRQ_BITS, gba_reg(gba, GBA_PORT_EVENT(group)));
	writel(GENMASK(gba->groups - 1, 0), gba_reg(gba, GBA_PORT_REG(GBA_PORT_IRQ_MASK)));
	return 0;
}

void gba_read_counters(struct gba_device *gba, u32 group, u64 counters[GBA_COUNTERS], bool add)
{
	for (u32 i = 0; i < GBA_COUNTERS; i++) {
		u64 value = readq(gba_reg(gba, GBA_GROUP_REG(group, GBA_REG_COUNTERS + 8 * i)));

		counters[i] = add ? counters[i] + value : value;
	}
}

void gba_read_group(struct gba_device *gba, struct gba_ioc_inspect *inspect)
{
	u32 group = inspect->group;
	u64 arrival = readq(gba_reg(gba, GBA_GROUP_REG(group, GBA_REG_ARRIVAL)));

	inspect->sequence = GBA_ARRIVAL_SEQ(arrival);
	inspect->arrived_count = lower_32_bits(arrival);
	inspect->status = readl(gba_reg(gba, GBA_GROUP_REG(group, GBA_REG_STATUS)));
	inspect->last_error = readl(gba_reg(gba, GBA_GROUP_REG(group, GBA_REG_LAST_ERROR)));
	inspect->members = readl(gba_reg(gba, GBA_GROUP_REG(group, GBA_REG_MEMBER_COUNT)));
	for (u32 i = 0; i < GBA_MASK_WORDS; i++)
		inspect->arrived_mask[i] =
			readq(gba_reg(gba, GBA_GROUP_REG(group, GBA_REG_ARRIVED_MASK + 8 * i)));
	gba_read_counters(gba, group, inspect->counters, false);
}
