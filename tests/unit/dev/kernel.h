/* SPDX-License-Identifier: BSD-3-Clause */
/* What the Linux kernel defines for the files of contrib/driver that fake_driver.c includes, as far
 * as a program needs it that has one lock over all calls. Locks check that the driver holds them
 * where it must. */
#ifndef GBA_TESTS_KERNEL_H
#define GBA_TESTS_KERNEL_H

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/types.h>
#include <unistd.h>

#include "gba/spec/gba_ioctl.h"
#include "gba/spec/gba_regs.h"

typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;
typedef int64_t s64, ktime_t;
typedef uint64_t phys_addr_t, dma_addr_t;
typedef int irqreturn_t, vm_fault_t, pgprot_t;
typedef unsigned __poll_t;
typedef void *fl_owner_t;
typedef struct {
    uid_t val;
} kuid_t;
typedef struct {
    int counter;
} atomic_t;
typedef int64_t atomic64_t;

#define __iomem
#define __user
#define __force
#define THIS_MODULE NULL
#define HZ          1000
#define U32_MAX     UINT32_MAX
#define KTIME_MAX   INT64_MAX

#define NSEC_PER_MSEC 1000000
#define PAGE_SIZE     ((unsigned long)sysconf(_SC_PAGESIZE))
#define PAGE_SHIFT    ((unsigned)__builtin_ctzl(PAGE_SIZE))
#define PHYS_PFN(x)   ((unsigned long)((x) >> PAGE_SHIFT))

#define ARRAY_SIZE(array)        (sizeof(array) / sizeof((array)[0]))
#define BIT_ULL(bit)             (1ull << (bit))
#define GENMASK(high, low)       (~0u >> ((31 - (high)) & 31) & ~0u << (low))
#define lower_32_bits(x)         ((u32)(x))
#define min_t(type, a, b)        ((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define cpu_to_le32(x)           htole32(x)
#define cpu_to_le64(x)           htole64(x)
#define le64_to_cpu(x)           le64toh(x)
#define ktime_sub(a, b)          ((a) - (b))
#define ktime_add_safe(a, b)     ((a) > KTIME_MAX - (b) ? KTIME_MAX : (a) + (b))
#define ktime_get()              kernel_now
#define ns_to_ktime(x)           ((ktime_t)(x))
#define READ_ONCE(x)             __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value)     __atomic_store_n(&(x), value, __ATOMIC_RELAXED)
#define container_of(ptr, t, at) ((t *)(void *)((char *)(ptr)-offsetof(t, at)))
#define ERR_PTR(error)           ((void *)(intptr_t)(error))
#define PTR_ERR(ptr)             ((int)(intptr_t)(ptr))
#define IS_ERR(ptr)              ((uintptr_t)(ptr) >= (uintptr_t)-4095)
#define PTR_ERR_OR_ZERO(ptr)     (IS_ERR(ptr) ? PTR_ERR(ptr) : 0)

#define module_param(name, type, mode)
#define MODULE_PARM_DESC(name, text)
#define dev_info(dev, ...)             ((void)(dev))
#define dev_err(dev, ...)              ((void)(dev))
#define dev_err_probe(dev, error, ...) ((void)(dev), (error))

/* --- locks, counters, lists --- */

struct mutex {
    int held;
};
typedef struct mutex spinlock_t;

static inline void mutex_lock(struct mutex *lock)
{
    assert(lock->held == 0);
    lock->held = 1;
}

static inline void mutex_unlock(struct mutex *lock)
{
    assert(lock->held == 1);
    lock->held = 0;
}

#define mutex_init(lock)               ((lock)->held = 0)
#define mutex_destroy(lock)            assert((lock)->held == 0)
#define mutex_lock_interruptible(lock) (mutex_lock(lock), 0)
#define spin_lock(lock)                mutex_lock(lock)
#define spin_unlock(lock)              mutex_unlock(lock)
#define lockdep_assert_held(lock)      assert((lock)->held == 1)

#define atomic_inc(value)       ((value)->counter++)
#define atomic_dec(value)       ((value)->counter--)
#define atomic_sub(n, value)    ((value)->counter -= (n))
#define atomic_read(value)      ((value)->counter)
#define smp_mb__before_atomic() ((void)0)
#define atomic64_or(bits, word) __atomic_fetch_or(word, bits, __ATOMIC_SEQ_CST)

struct kref {
    int count;
};
#define kref_init(ref) ((ref)->count = 1)
#define kref_get(ref)  ((ref)->count++)
#define kref_put(ref, end)       \
    do {                         \
        if (--(ref)->count == 0) \
            end(ref);            \
    } while (0)

struct list_head {
    struct list_head *next, *prev;
};

static inline void INIT_LIST_HEAD(struct list_head *head)
{
    head->next = head->prev = head;
}

static inline void list_add(struct list_head *link, struct list_head *head)
{
    link->next = head->next;
    link->prev = head;
    head->next->prev = link;
    head->next = link;
}

static inline void list_del_init(struct list_head *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
    INIT_LIST_HEAD(link);
}

#define list_add_tail(link, head) list_add(link, (head)->prev)
#define list_del(link)            list_del_init(link)
#define list_empty(head)          ((head)->next == (head))
#define list_empty_careful(head)  list_empty(head)

#define list_entry_of(position, entry, link) container_of(position, __typeof__(*(entry)), link)
#define list_first_entry_or_null(head, type, link) \
    (list_empty(head) ? NULL : container_of((head)->next, type, link))
#define list_for_each_entry(entry, head, link)                                         \
    for ((entry) = list_entry_of((head)->next, entry, link); &(entry)->link != (head); \
         (entry) = list_entry_of((entry)->link.next, entry, link))
#define list_for_each_entry_safe(entry, after, head, link)        \
    for ((entry) = list_entry_of((head)->next, entry, link),      \
        (after) = list_entry_of((entry)->link.next, entry, link); \
         &(entry)->link != (head);                                \
         (entry) = (after), (after) = list_entry_of((entry)->link.next, entry, link))

/* --- sleep and work: one thread, which the test wakes --- */

/* The test does what happens meanwhile. */
void kernel_sleep(void);

/* The time, which passes in sleeps that time out. */
static ktime_t kernel_now __attribute__((unused));

typedef struct {
    int unused;
} wait_queue_head_t;
struct work_struct {
    int unused;
};
struct delayed_work {
    struct work_struct work;
};

#define init_waitqueue_head(queue)              ((queue)->unused = 0)
#define wake_up(queue)                          ((void)(queue))
#define wake_up_all(queue)                      ((void)(queue))
#define to_delayed_work(entry)                  container_of(entry, struct delayed_work, work)
#define queue_delayed_work(queue, entry, delay) ((void)(entry))
#define wait_event_interruptible(queue, condition) \
    ((condition) || (kernel_sleep(), (condition)) ? 0 : -EINTR)
#define wait_event_interruptible_hrtimeout(queue, condition, timeout) \
    ((condition) || (kernel_sleep(), (condition)) ? 0 : (kernel_now += (timeout), -ETIME))

/* --- processes and users --- */

struct mm_struct {
    atomic_t mm_users;
};
struct pid {
    int number;
};
struct cred {
    kuid_t uid;
};
/* The process that makes the call. */
extern struct kernel_task {
    struct mm_struct *mm;
    fl_owner_t files;
    struct pid *tgid;
    struct cred cred;
    bool admin;
} kernel_task;

#define current                   (&kernel_task)
#define current_uid()             (current->cred.uid)
#define capable(capability)       (current->admin)
#define current_user_ns()         0
#define from_kuid_munged(ns, uid) ((uid).val)
#define uid_eq(a, b)              ((a).val == (b).val)
#define task_tgid(task)           ((task)->tgid)
#define get_pid(pid)              (pid)
#define put_pid(pid)              ((void)(pid))
#define mmgrab(mm)                ((void)(mm))
#define mmdrop(mm)                ((void)(mm))

static inline int pid_vnr(const struct pid *pid)
{
    return pid != NULL ? pid->number : 0;
}

/* --- memory --- */

/* A page with its mapping in the kernel. Its address is its number, too. */
struct page {
    int memory; /* descriptor, for mappings of user space */
    void *address;
};
struct page *alloc_page(int flags);
void __free_page(struct page *page);

#define GFP_KERNEL_ACCOUNT   0
#define __GFP_ZERO           0
#define kzalloc(size, flags) calloc(1, size)
#define kfree(memory)        free(memory)
#define page_to_pfn(page)    ((unsigned long)(page))
#define page_address(page)   ((page)->address)

#define get_user(x, user)              ((x) = *(user), 0)
#define copy_to_user(user, from, size) (memcpy(user, from, size), 0)
#define copy_from_user(to, user, size) (memcpy(to, user, size), 0)
#define DECLARE_BITMAP(name, bits)     unsigned long name[0x10000 / GBA_FLAG_SLOT_STRIDE / 32]
#define LONG_BITS                      (8 * (unsigned)sizeof(long))
#define __set_bit(bit, map)            ((map)[(bit) / LONG_BITS] |= 1ul << (bit) % LONG_BITS)
#define __clear_bit(bit, map)          ((map)[(bit) / LONG_BITS] &= ~(1ul << (bit) % LONG_BITS))
#define bitmap_full(map, size)         (find_first_zero_bit(map, size) == (size))

static inline unsigned find_first_zero_bit(const unsigned long *map, unsigned long size)
{
    unsigned bit = 0;

    while (bit < size && (map[bit / LONG_BITS] >> bit % LONG_BITS & 1) != 0)
        bit++;
    return bit;
}

static inline int copy_struct_from_user(void *to, size_t size, const void *user, size_t user_size)
{
    for (size_t i = size; i < user_size; i++)
        if (((const char *)user)[i] != 0)
            return -E2BIG;
    memcpy(to, user, size < user_size ? size : user_size);
    return 0;
}

/* An array, because the driver uses no index a second time. */
struct xarray {
    void **entry;
    u32 size;
};

#define XA_FLAGS_ALLOC1             0
#define XA_LIMIT(first, last)       (last)
#define xa_init_flags(array, flags) (*(array) = (struct xarray){.size = 0})
#define xa_destroy(array)           free((array)->entry)
#define xa_erase(array, index)      ((array)->entry[index] = NULL)

static inline int xa_alloc_cyclic(struct xarray *array, u32 *index, void *entry, u32 last,
                                  u32 *next, int flags)
{
    (void)last, (void)flags;
    *index = (*next)++;
    for (; array->size <= *index; array->size++) {
        if (array->size % 64 == 0)
            array->entry = realloc(array->entry, (array->size + 64) * sizeof(void *));
        array->entry[array->size] = NULL;
    }
    array->entry[*index] = entry;
    return 0;
}

static inline void *xa_load(const struct xarray *array, u64 index)
{
    return index < array->size ? array->entry[index] : NULL;
}

/* --- files and their mappings --- */

struct cdev {
    int unused;
};
struct inode {
    struct cdev *i_cdev;
    void *i_mapping;
};
struct file {
    const struct cred *f_cred;
    void *private_data, *f_mapping;
    unsigned f_flags;
};
typedef struct {
    int unused;
} poll_table;

struct vm_fault {
    struct vm_area_struct *vma;
    unsigned long pgoff, address;
};
struct vm_operations_struct {
    vm_fault_t (*fault)(struct vm_fault *fault);
};
struct vm_area_struct {
    struct file *vm_file;
    const struct vm_operations_struct *vm_ops;
    unsigned long vm_start, vm_end, vm_pgoff, vm_flags;
    pgprot_t vm_page_prot;
    unsigned long pfn; /* of the newest fault */
};
struct file_operations {
    void *owner;
    int (*open)(struct inode *inode, struct file *file);
    int (*flush)(struct file *file, fl_owner_t id);
    int (*release)(struct inode *inode, struct file *file);
    ssize_t (*read)(struct file *file, char *buffer, size_t size, loff_t *offset);
    __poll_t (*poll)(struct file *file, poll_table *table);
    int (*mmap)(struct file *file, struct vm_area_struct *vma);
    long (*unlocked_ioctl)(struct file *file, unsigned command, unsigned long argument);
    long (*compat_ioctl)(struct file *file, unsigned command, unsigned long argument);
};

#define compat_ptr_ioctl              NULL
#define stream_open(inode, file)      0
#define poll_wait(file, queue, table) ((void)(table))

#define GBA_HAVE_VM_FLAGS_SET
enum {
    VM_READ = 1,
    VM_WRITE = 2,
    VM_EXEC = 4,
    VM_SHARED = 8,
    VM_MAYREAD = 16,
    VM_MAYEXEC = 64,
    VM_IO = 0,
    VM_PFNMAP = 0,
    VM_DONTEXPAND = 0,
    VM_DONTDUMP = 0,
    VM_DONTCOPY = 0
};
#define vm_flags_mod(vma, set, clear) ((vma)->vm_flags = ((vma)->vm_flags | (set)) & ~(clear))
#define pgprot_noncached(protection)  (protection)
#define pgprot_decrypted(protection)  (protection)
#define vmf_insert_pfn_prot(vma, address, number, protection) \
    ((void)(protection), (vma)->pfn = (number), 0)
/* Each use of a mapping asks for its page again. */
#define unmap_mapping_range(mapping, start, size, even) ((void)(mapping))

/* The file system whose inodes the files have. */
struct fs_context {
    int unused;
};
struct file_system_type {
    const char *name;
    void *owner;
    int (*init_fs_context)(struct fs_context *context);
    void *kill_sb;
};
struct vfsmount {
    void *mnt_sb;
};
#define init_pseudo(context, magic)     ((void)(context), true)
#define kill_anon_super                 NULL
#define simple_release_fs(mount, count) (--*(count))
#define alloc_anon_inode(super)         ((void)(super), (struct inode *)calloc(1, sizeof(struct inode)))
#define iput(inode)                     free(inode)

static inline int simple_pin_fs(struct file_system_type *type, struct vfsmount **mount, int *count)
{
    static struct vfsmount only;

    (void)type;
    *mount = &only;
    ++*count;
    return 0;
}

/* --- the device --- */

struct device {
    int unused;
};
struct pci_dev {
    struct device dev;
};
struct dentry;

#define pci_set_master(pdev)   ((void)(pdev))
#define pci_clear_master(pdev) ((void)(pdev))

/* A register of the device; the test has the device. */
u32 readl(const void *address);
u64 readq(const void *address);
void writel(u32 value, void *address);
void writeq(u64 value, void *address);

enum { DMA_FROM_DEVICE };

/* The address on the bus is that in the kernel. */
static inline struct page *dma_alloc_pages(struct device *dev, size_t size, dma_addr_t *address,
                                           int direction, int flags)
{
    struct page *page = alloc_page(flags);

    (void)dev, (void)size, (void)direction;
    if (page != NULL)
        *address = (uintptr_t)page->address;
    return page;
}

#define dma_free_pages(dev, size, page, address, direction) ((void)(dev), __free_page(page))

#endif
