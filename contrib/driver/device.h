/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The device: registers, commands, start, death, and what the kernel shows of it. */
#ifndef GBA_DRIVER_DEVICE_H
#define GBA_DRIVER_DEVICE_H

#include "gba_driver.h"

/* A command of the control unit; fields as in the mailbox. */
struct gba_command {
	u32 command, group, generation, member, value;
	u64 key;
};

/* --- revoke.c --- */

/* The device is dead: revoke all. Under lock. */
void gba_fail(struct gba_device *gba, const char *reason);

/* Whether the device still answers; a device that does not is dead from now on. Under lock. */
bool gba_check(struct gba_device *gba);

/* --- control.c --- */

/* Read the identity of the device, and enable its port. Returns 0 or an error. Under lock. */
int gba_control_start(struct gba_device *gba);

/*
 * Execute a command. Results replace the fields. Returns 0 or the error of its result. Under
 * lock.
 */
int gba_command(struct gba_device *gba, struct gba_command *command);

static inline void __iomem *gba_reg(struct gba_device *gba, u32 address)
{
	return gba->bar + address;
}

/* False for a port that was down and is up again, because it has lost its mask. [PORT-3] */
static inline bool gba_port_is_known(struct gba_device *gba)
{
	return readl(gba_reg(gba, GBA_PORT_REG(GBA_PORT_IRQ_MASK))) != 0;
}

void gba_read_counters(struct gba_device *gba, u32 group, u64 counters[GBA_COUNTERS], bool add);
void gba_read_group(struct gba_device *gba, struct gba_ioc_inspect *inspect);

/* --- life.c --- */

/* Enable the port, for the first time or after a reset. Under lock. */
int gba_start(struct gba_device *gba);

/* End the memberships and allocations of this host at the device, if it answers. Under lock. */
void gba_give_back(struct gba_device *gba);

/*
 * As gba_check, and whether the port has stayed up since its start. A port that was down has lost
 * all members: this function revokes them, and starts the port again. Under lock.
 */
bool gba_check_port(struct gba_device *gba);

/* --- interrupt.c --- */

irqreturn_t gba_interrupt(int irq, void *data);

/* --- sysfs.c --- */

extern const struct attribute_group *gba_attribute_groups[];

/* --- debugfs.c --- */

void gba_debugfs_init(void);
void gba_debugfs_exit(void);
void gba_debugfs_add(struct gba_device *gba);
void gba_debugfs_remove(struct gba_device *gba);

#endif
