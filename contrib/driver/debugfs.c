// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * /sys/kernel/debug/gba/gbaN/registers: the registers of the device for conformance tests and
 * repair, by pread and pwrite of 4 or 8 bytes at the offset of a register. Only for root; the
 * kernel refuses it under lockdown.
 */
#include <linux/debugfs.h>
#include <linux/mm.h>
#include <linux/uaccess.h>

#include "device.h"

static struct dentry *gba_directory;

static bool is_valid(size_t size, loff_t offset)
{
	return (size == 4 || size == 8) && offset >= 0 && offset + size <= GBA_BAR_SIZE &&
	       offset % size == 0;
}

static ssize_t registers_read(struct file *filp, char __user *buffer, size_t size, loff_t *offset)
{
	struct gba_device *gba = filp->private_data;
	u64 value = 0;

	if (!is_valid(size, *offset))
		return -EINVAL;
	mutex_lock(&gba->lock);
	if (gba->removed) {
		mutex_unlock(&gba->lock);
		return -ENODEV;
	}
	if (size == 4)
		*(u32 *)&value = readl(gba_reg(gba, *offset));
	else
		value = readq(gba_reg(gba, *offset));
	mutex_unlock(&gba->lock);
	return copy_to_user(buffer, &value, size) ? -EFAULT : size;
}

static ssize_t registers_write(struct file *filp, const char __user *buffer, size_t size,
			       loff_t *offset)
{
	struct gba_device *gba = filp->private_data;
	u64 value = 0;

	if (!is_valid(size, *offset))
		return -EINVAL;
	if (copy_from_user(&value, buffer, size))
		return -EFAULT;
	mutex_lock(&gba->lock);
	if (gba->removed) {
		mutex_unlock(&gba->lock);
		return -ENODEV;
	}
	if (size == 4)
		writel(*(u32 *)&value, gba_reg(gba, *offset));
	else
		writeq(value, gba_reg(gba, *offset));
	mutex_unlock(&gba->lock);
	return size;
}

static const struct file_operations registers_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = registers_read,
	.write = registers_write,
	.llseek = default_llseek,
};

void gba_debugfs_init(void)
{
	gba_directory = debugfs_create_dir(GBA_NAME, NULL);
}

void gba_debugfs_exit(void)
{
	debugfs_remove(gba_directory);
}

void gba_debugfs_add(struct gba_device *gba)
{
	gba->debugfs = debugfs_create_dir(dev_name(&gba->dev), gba_directory);
	debugfs_create_file("registers", 0600, gba->debugfs, gba, &registers_fops);
}

void gba_debugfs_remove(struct gba_device *gba)
{
	debugfs_remove(gba->debugfs);
}
