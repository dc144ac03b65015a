/* SPDX-License-Identifier: BSD-3-Clause */
/* What the Linux kernel defines for gba_driver.h and alloc.c, as far as a test outside the kernel
 * needs it: one thread. */
#ifndef GBA_TESTS_KERNEL_H
#define GBA_TESTS_KERNEL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

#include "gba/spec/gba_ioctl.h"
#include "gba/spec/gba_regs.h"

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef uint64_t phys_addr_t, dma_addr_t;
typedef int irqreturn_t;
typedef void *fl_owner_t;
typedef struct {
    uid_t val;
} kuid_t;
typedef struct {
    int counter;
} atomic_t;
typedef struct {
    int unused;
} spinlock_t, wait_queue_head_t;

struct mutex {
    int held;
};
struct list_head {
    struct list_head *next, *prev;
};
struct kref {
    int count;
};
struct xarray {
    int unused;
};
struct work_struct {
    int unused;
};
struct delayed_work {
    struct work_struct work;
};
struct device {
    int unused;
};
struct cdev {
    int unused;
};
struct page;
struct pci_dev;
struct dentry;
struct mm_struct;
struct pid;
struct inode;
struct file;
struct file_operations;
struct vm_area_struct;

#define __iomem
#define __user
#define PAGE_SIZE            4096ul
#define GFP_KERNEL_ACCOUNT   0
#define __GFP_ZERO           0
#define U32_MAX              UINT32_MAX
#define READ_ONCE(x)         (x)
#define DECLARE_BITMAP(n, b) unsigned long n[((b) + 63) / 64]
#define lockdep_assert_held(lock)
#define module_param(name, type, mode)
#define MODULE_PARM_DESC(name, text)

#define list_for_each_entry(entry, head, link)                                            \
    for ((entry) = (void *)((char *)(head)->next - offsetof(__typeof__(*(entry)), link)); \
         &(entry)->link != (head);                                                        \
         (entry) = (void *)((char *)(entry)->link.next - offsetof(__typeof__(*(entry)), link)))

static inline bool list_empty(const struct list_head *head)
{
    return head->next == head;
}

static inline void atomic_inc(atomic_t *value)
{
    value->counter++;
}

static inline void atomic_dec(atomic_t *value)
{
    value->counter--;
}

static inline void *kzalloc(size_t size, int flags)
{
    (void)flags;
    return calloc(1, size);
}

static inline void kfree(void *memory)
{
    free(memory);
}

struct page *alloc_page(int flags);
void __free_page(struct page *page);

static inline bool uid_eq(kuid_t a, kuid_t b)
{
    return a.val == b.val;
}

/* A register of the device; the test has the device. */
u32 readl(const void *address);

#endif
