/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The Linux driver of the Global Barrier Accelerator: types and functions that its files share.
 *
 *   main.c     the module, PCI devices
 *   life.c     start and end of a device
 *   interrupt.c  events of the port
 *   control.c  commands of the control unit, and the registers
 *   file.c     open files: open, close, ioctl, read, poll
 *   calls.c    the calls of gba_ioctl.h
 *   wait.c     events, WAIT
 *   member.c   memberships: join, leave, revoke
 *   reclaim.c, rate.h  limits of users and jobs, groups that are taken back
 *   map.c      mappings: doorbells, flag pages, their revocation
 *   sysfs.c    attributes, for monitoring
 *   debugfs.c  registers, for tests and repair
 *
 * Locks, in this order:
 *   gba_device.lock    (mutex) the mailbox, the records of groups, memberships and files; held by
 *                      every function that sends a command or changes a record
 *   gba_device.irq_lock (mutex) from the read of a group's events until they are posted, and a
 *                      JOIN: a member gets the events since its JOIN, and no earlier one
 *   gba_file.map_lock  (mutex) the pages that page faults insert, and their revocation. Taken under
 *                      mmap_lock, so no code that may fault on user memory runs under it
 *   gba_device.event_lock (spinlock) pending events, and the lists of memberships and `up` for code
 *                      that does not hold the mutex
 * No code that holds one of the locks accesses user memory.
 */
#ifndef GBA_DRIVER_H
#define GBA_DRIVER_H

#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "gba_ioctl.h"

#define GBA_NAME	  "gba"
#define GBA_FILE_SLOTS	  4096u /* maximum number of release flags of a file */
#define GBA_PAGE_SLOTS	  (PAGE_SIZE / GBA_FLAG_SLOT_STRIDE)
#define GBA_HEALTH_PERIOD (HZ / 10) /* between two checks of the device while it has files */

struct gba_file;

/* This host's record of a group: its own allocation, and its members. */
struct gba_group {
	bool held;		   /* this port allocated it, and has not found it free since */
	u32 generation;		   /* of that allocation */
	struct gba_file *allocator; /* may FREE it; NULL after the first JOIN or the close */
	kuid_t user;		   /* of the allocator */
	u64 job;		   /* as the allocator states it */
	bool sampled, rated;	   /* rates as in [DRV-13] */
	u64 sample_rounds, sample_ns, rate;
	bool taken;		/* taken back; perhaps not yet confirmed by all hosts */
	bool stalled;		/* not confirmed within the time for which ALLOC waits */
	unsigned long taken_at;	/* jiffies */
	struct list_head members;  /* gba_member.group_link, all generations */
};

struct gba_device {
	struct device dev; /* holds the memory of this structure */
	struct cdev cdev;
	struct pci_dev *pdev;
	void __iomem *bar;
	phys_addr_t bar_address;
	int minor;

	struct mutex lock; /* commands, records */
	bool up;      /* the device answers; changed under lock and event_lock */
	bool removed; /* the driver is unbound; the BAR must not be accessed */
	u32 regs_version, groups, members_max, ports, port;
	u8 uuid[16];
	struct list_head files;
	struct gba_group group[GBA_GROUPS];

	struct mutex irq_lock;	/* reading events and JOIN */
	spinlock_t event_lock;	/* pending events */
	u32 taken; /* groups with an event TAKEN, for control_work */
	struct work_struct control_work;
	struct delayed_work health_work;
	wait_queue_head_t freed; /* a group that was taken back is free */
	u32 freed_count;
	unsigned long irq_window; /* jiffies at its start; for the interrupt thread only */
	unsigned int irq_count;	  /* interrupts in it */
	struct dentry *debugfs;
};

/* The page at an mmap offset of a file. */
struct gba_mapping {
	enum { GBA_MAP_DOORBELL, GBA_MAP_FLAGS } kind;
	u32 offset;	   /* in pages; not used again while the file is open */
	unsigned long pfn; /* the page that a fault inserts; under map_lock */
	bool io;	   /* it is a page of the device; under map_lock */
};

/*
 * A page of release flags in coherent memory of the device. When the device is removed, `shadow`
 * replaces it in all mappings, with a copy of its contents.
 */
struct gba_flag_page {
	struct list_head link; /* gba_file.pages */
	struct gba_mapping map;
	struct page *page; /* coherent memory, NULL after the removal */
	dma_addr_t address;
	struct page *shadow;
	void *memory; /* kernel address of the page that is mapped; under event_lock and lock */
	bool retired; /* the device has died since; no slot is allocated */
	DECLARE_BITMAP(used, PAGE_SIZE / GBA_FLAG_SLOT_STRIDE);
};

/* An open file. */
struct gba_file {
	struct gba_device *gba;
	struct list_head link;	/* gba_device.files */
	struct mm_struct *mm;	/* of the owner; its structure is kept, not its memory */
	fl_owner_t owner_files; /* table of descriptors of the owner */
	struct pid *pid;	/* of the owner */
	kuid_t user;
	struct inode *inode;	/* its address space is that of this file only */
	struct page *dummy;	/* takes the stores to revoked doorbells */

	struct mutex map_lock; /* the pages of mappings */
	struct xarray mappings; /* by offset in pages */
	u32 next_offset;

	struct list_head members; /* gba_member.file_link; lock and event_lock */
	struct list_head pages;	  /* under lock */
	u32 slot_count;		  /* of memberships, and of those that ended with the owner */

	struct list_head pending; /* gba_member.event_link; event_lock */
	wait_queue_head_t wait;
};

/* A membership of a file. */
struct gba_member {
	struct kref ref;
	struct gba_file *file;
	struct list_head file_link, group_link;
	u32 group, generation, member;
	bool attached; /* joined at the device; under lock and event_lock */
	bool armed;    /* the device takes NOTIFY, as WAIT has found; under lock and event_lock */
	u32 revoked;   /* GBA_REVOKED_*: the flag is marked with it; under lock and event_lock */
	bool left;     /* no longer in the lists; event_lock */
	struct gba_flag_page *page;
	unsigned int slot;
	struct gba_mapping doorbell;

	struct list_head event_link; /* in gba_file.pending while events is not 0 */
	u32 events, last_error;	     /* event_lock */
	wait_queue_head_t wait;
};

/* A command of the control unit; fields as in the mailbox. */
struct gba_command {
	u32 command, group, generation, member, value;
	u64 key;
};

/* --- main.c --- */

/*
 * Memory, inodes, and references to address spaces and processes that the module has allocated and not freed. The
 * end of the module warns if it is not 0. All allocations are made by the functions below, or
 * counted beside the call.
 */
extern atomic_t gba_allocated;

static inline void *gba_zalloc(size_t size)
{
	void *memory = kzalloc(size, GFP_KERNEL_ACCOUNT);

	if (memory)
		atomic_inc(&gba_allocated);
	return memory;
}

static inline void gba_free(void *memory)
{
	kfree(memory);
	atomic_dec(&gba_allocated);
}

static inline struct page *gba_page_alloc(void)
{
	struct page *page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);

	if (page)
		atomic_inc(&gba_allocated);
	return page;
}

static inline void gba_page_free(struct page *page)
{
	__free_page(page);
	atomic_dec(&gba_allocated);
}

/* --- life.c --- */

/* Enable the port, for the first time or after a reset. Under lock. */
int gba_start(struct gba_device *gba);

/* End the memberships and allocations of this host at the device, if it answers. Under lock. */
void gba_give_back(struct gba_device *gba);

/* The device is dead: revoke all. Under lock. */
void gba_fail(struct gba_device *gba, const char *reason);

/* Whether the device still answers; a device that does not is dead from now on. Under lock. */
bool gba_check(struct gba_device *gba);

/*
 * As gba_check, and whether the port has stayed up since its start. A port that was down has lost
 * all members: this function revokes them, and starts the port again. Under lock.
 */
bool gba_check_port(struct gba_device *gba);

/*
 * The work of gba_device.health_work: check the device, and find processes that ended without a
 * close.
 */
void gba_health(struct work_struct *work);

/* --- interrupt.c --- */

irqreturn_t gba_interrupt(int irq, void *data);

/* The work of gba_device.control_work. */
void gba_control(struct work_struct *work);

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

u64 gba_rounds(struct gba_device *gba, u32 group);
void gba_read_counters(struct gba_device *gba, u32 group, u64 counters[GBA_COUNTERS], bool add);
void gba_read_group(struct gba_device *gba, struct gba_ioc_inspect *inspect);

/* --- file.c --- */

extern const struct file_operations gba_fops;

/* Leave the memberships of a file, and free its allocations. Under lock. */
void gba_file_end(struct gba_file *file);

/* --- calls.c --- */

long gba_call(struct gba_file *file, unsigned int command, void __user *argument);

/* --- member.c --- */

/*
 * The membership of a file, or NULL. member: or GBA_MEMBER_NONE for any. Under lock or
 * event_lock.
 */
struct gba_member *gba_member_find(struct gba_file *file, u32 group, u32 generation, u32 member);
int gba_member_join(struct gba_file *file, struct gba_ioc_join *join);

/*
 * End a membership. died: the owner of the file ended. The caller's pointer is invalid after. Under
 * lock.
 */
void gba_member_leave(struct gba_member *member, bool died);

/* End a membership at a device that answers. The record stays. Under lock. */
void gba_member_detach(struct gba_member *member, bool died);

/*
 * Revoke a membership that is not left: the doorbell, then mark the flag with the reason, unless it
 * has one, and post events. Under lock.
 */
void gba_member_revoke_doorbell(struct gba_member *member);
void gba_member_mark(struct gba_member *member, u32 reason, u32 events);

/*
 * Whether the device has withdrawn the member. Pushes all earlier stores of the device to its flag,
 * and all earlier arrivals of this host. Under lock.
 */
bool gba_member_withdrawn(struct gba_member *member);
void gba_member_put(struct gba_member *member);

/* --- wait.c --- */

/* Post events for a membership, and wake its waiters. Under event_lock. */
void gba_post(struct gba_member *member, u32 events, u32 last_error);

/* Remove a membership from the pending ones. Under event_lock. */
u32 gba_take_events(struct gba_member *member);
int gba_wait(struct gba_file *file, struct gba_ioc_wait *wait);
ssize_t gba_read(struct file *filp, char __user *buffer, size_t size, loff_t *offset);

/* --- reclaim.c --- */

/* Groups that a user holds on this host. Under lock. */
u32 gba_user_groups(struct gba_device *gba, kuid_t user);
u32 gba_user_groups_max(void);
int gba_alloc(struct gba_file *file, struct gba_ioc_alloc *alloc);

/* Take the first sample of a group's rate. Under lock. */
void gba_sample_first(struct gba_device *gba, u32 group);

/*
 * Complete the reclaim of a group that the device has begun: revoke the members of this host, and
 * CONFIRM. Under lock.
 */
void gba_taken(struct gba_device *gba, u32 group);

/* Update gba_group.held of all groups. Under lock. */
void gba_refresh_held(struct gba_device *gba);

/* --- map.c --- */

int gba_file_map_init(struct gba_file *file, struct file *filp);
void gba_file_map_exit(struct gba_file *file);
int gba_mmap(struct file *filp, struct vm_area_struct *vma);

/* Give a mapping its offset, or remove it. */
int gba_mapping_add(struct gba_file *file, struct gba_mapping *map);
void gba_mapping_remove(struct gba_file *file, struct gba_mapping *map);

/* Replace the page in all mappings of an offset. No later store reaches the old page. */
void gba_mapping_replace(struct gba_file *file, struct gba_mapping *map, unsigned long pfn);

int gba_slot_get(struct gba_file *file, struct gba_flag_page **page, unsigned int *slot);
void gba_slot_put(struct gba_flag_page *page, unsigned int slot);
struct gba_flag_slot *gba_slot(struct gba_flag_page *page, unsigned int slot);

/* Replace the coherent memory by the shadows before the device is removed. Under lock. */
void gba_pages_detach(struct gba_file *file);

/* --- sysfs.c --- */

extern const struct attribute_group *gba_attribute_groups[];

/* --- debugfs.c --- */

void gba_debugfs_init(void);
void gba_debugfs_exit(void);
void gba_debugfs_add(struct gba_device *gba);
void gba_debugfs_remove(struct gba_device *gba);

#endif
