/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The Linux driver of the Global Barrier Accelerator: types that its files share.
 *
 * Lowest first, each file calls only those above it:
 *   event.c      events of memberships
 *   map.c        mappings: doorbells, flag pages, their revocation
 *   revoke.c     revoked memberships, the death of a device
 *   control.c    commands of the control unit, and the registers
 *   member.c     memberships, and their end
 *   life.c       start and end of a device
 *   join.c       JOIN
 *   wait.c       reads of events, WAIT
 *   alloc.c      ALLOC, limits of users and jobs
 *   interrupt.c  events of the port
 *   calls.c      the calls of gba_ioctl.h
 *   file.c       open files: open, close, ioctl, poll; the periodic check
 *   sysfs.c, debugfs.c  attributes, for monitoring; registers, for tests and repair
 *   main.c       the module, PCI devices
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
	struct delayed_work health_work;
	struct {
		unsigned long window; /* jiffies at its start */
		unsigned int count;   /* interrupts in it */
	} irq_rate; /* for the interrupt thread only */
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

#endif
