/* SPDX-License-Identifier: BSD-3-Clause */
/* The Linux driver on the model of the device, and the pages that it gives to user space. */
#define _GNU_SOURCE
#include "tests/unit/dev/fake_driver.h"

#include <sys/mman.h>

#include "sim/model/model.h"
#include "tests/unit/dev/kernel.h"

/* The driver's headers and files without their includes; see tests/local.mk. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpointer-arith"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "tests/unit/dev/driver.h"
#pragma GCC diagnostic pop

/* The content of a doorbell without a store: the arrival of a member that does not exist. */
#define BELL_IDLE 0xFFFFFFFFFFFFFFFFull

#define PORTS    2
#define MAPPINGS 4096

/* A mapping of user space. */
struct mapping {
    struct vm_area_struct vma;
    struct fake_file *file;
    void *memory; /* NULL: the entry is not used */
    bool doorbell;
};

/* An open file, which is a process for the driver. */
struct fake_file {
    struct file file;
    struct inode inode;
    struct cred cred;
    struct pid pid;
    uint32_t users; /* its descriptor, and its mappings */
};

atomic_t gba_allocated;
struct kernel_task kernel_task;

static struct gba_model model;
static struct gba_device gba;
static struct pci_dev pdev;
static char bar[GBA_BAR_SIZE]; /* its addresses are those of the registers; no byte is used */
static struct fake_file files[FILES];
static struct mapping mappings[MAPPINGS];

/* --- the device --- */

uint64_t fake_driver_access(uint16_t port, uint32_t address, unsigned width, bool write,
                            uint64_t value)
{
    static struct gba_model_effects effects;
    static uint64_t key = 0x9e3779b97f4a7c15ull; /* not secret: the keys only have to differ */
    const struct gba_model_access access = {.write = write,
                                            .width = (uint8_t)width,
                                            .port = port,
                                            .address = address,
                                            .value = value,
                                            .random = key};

    if (fake_kernel.dead)
        return GBA_READ_NONE;
    key = key * 6364136223846793005ull + 1442695040888963407ull;
    gba_model_access(&model, &access, &effects);
    for (uint32_t i = 0; i < effects.releases; i++) /* [REL-2] */
        gba_flag_store_release((gba_flag_t *)(uintptr_t)effects.release[i].address,
                               effects.release[i].sequence);
    return effects.value;
}

u32 readl(const void *address)
{
    return (u32)fake_driver_access(0, (u32)((const char *)address - bar), 4, false, 0);
}

u64 readq(const void *address)
{
    return fake_driver_access(0, (u32)((const char *)address - bar), 8, false, 0);
}

void writel(u32 value, void *address)
{
    fake_driver_access(0, (u32)((char *)address - bar), 4, true, value);
}

void writeq(u64 value, void *address)
{
    fake_driver_access(0, (u32)((char *)address - bar), 8, true, value);
}

static void power_on(void)
{
    for (uint32_t port = 0; port < PORTS; port++)
        gba_model_port_up(&model, port, 0);
    mutex_lock(&gba.lock);
    assert(gba_start(&gba) == 0);
    mutex_unlock(&gba.lock);
}

void fake_driver_start(uint32_t groups)
{
    static const uint64_t uuid[2] = {0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull};

    gba_model_init(&model, groups, PORTS, uuid);
    memset(&gba, 0, sizeof gba);
    memset(files, 0, sizeof files);
    memset(mappings, 0, sizeof mappings);
    gba.pdev = &pdev;
    gba.bar = bar;
    gba.bar_address = PAGE_SIZE; /* no struct page has an address in the BAR */
    INIT_LIST_HEAD(&gba.files);
    for (uint32_t group = 0; group < GBA_GROUPS; group++)
        INIT_LIST_HEAD(&gba.group[group].members);
    power_on();
}

void fake_kernel_die(void)
{
    fake_kernel.dead = true;
    mutex_lock(&gba.lock);
    gba_check(&gba);
    mutex_unlock(&gba.lock);
}

void fake_kernel_revive(void)
{
    static struct gba_model_effects effects;

    fake_kernel.dead = false;
    for (uint32_t port = 0; port < PORTS; port++)
        gba_model_port_down(&model, port, &effects);
    power_on();
}

/* --- processes and their files --- */

static struct fake_file *file_of(int number)
{
    return &files[number - FIRST_FILE];
}

/* Be the process of a file. Each has its table of descriptors and its memory. */
static void enter(struct fake_file *file)
{
    static struct mm_struct mm = {.mm_users = {1}};

    kernel_task = (struct kernel_task){.mm = &mm,
                                       .files = file,
                                       .tgid = &file->pid,
                                       .cred.uid = {fake_kernel.uid},
                                       .admin = fake_kernel.admin};
    user_groups_max = fake_kernel.user_groups_max;
}

int fake_driver_open(int number)
{
    struct fake_file *file = file_of(number);
    int error;

    enter(file);
    file->cred = kernel_task.cred;
    file->pid.number = number;
    file->file = (struct file){.f_cred = &file->cred};
    file->inode.i_cdev = &gba.cdev;
    error = -gba_fops.open(&file->inode, &file->file);
    file->users = error == 0;
    return error;
}

static void file_put(struct fake_file *file)
{
    if (--file->users == 0)
        gba_fops.release(&file->inode, &file->file);
}

void fake_driver_end(int number)
{
    enter(file_of(number));
    gba_fops.flush(&file_of(number)->file, current->files);
}

void fake_driver_close(int number)
{
    fake_driver_end(number);
    file_put(file_of(number));
}

int fake_driver_ioctl(int number, unsigned long request, void *argument)
{
    enter(file_of(number));
    if (request == GBA_IOC_WAIT)
        fake_kernel_run();
    return (int)-gba_fops.unlocked_ioctl(&file_of(number)->file, (unsigned)request,
                                         (unsigned long)argument);
}

void kernel_sleep(void)
{
    fake_kernel.seen.waits++;
    if (fake_kernel.on_sleep != NULL)
        fake_kernel.on_sleep();
    fake_kernel_run();
}

void fake_driver_post_died(void)
{
    struct gba_file *file;
    struct gba_member *member;

    spin_lock(&gba.event_lock);
    list_for_each_entry(file, &gba.files, link)
        list_for_each_entry(member, &file->members, file_link) gba_post(member, GBA_EVENT_DIED, 0);
    spin_unlock(&gba.event_lock);
}

uint32_t fake_kernel_slots(void)
{
    const struct gba_file *file;
    uint32_t slots = 0;

    list_for_each_entry(file, &gba.files, link) slots += file->slot_count;
    return slots;
}

/* --- pages and their mappings --- */

struct page *alloc_page(int flags)
{
    struct page *page = malloc(sizeof *page);

    (void)flags;
    page->memory = memfd_create("page", MFD_CLOEXEC);
    assert(page->memory >= 0 && ftruncate(page->memory, (off_t)PAGE_SIZE) == 0);
    page->address = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, page->memory, 0);
    assert(page->address != MAP_FAILED);
    return page;
}

void __free_page(struct page *page)
{
    munmap(page->address, PAGE_SIZE);
    close(page->memory);
    free(page);
}

/* The number of the page that the driver puts into a mapping. */
static unsigned long page_in(struct vm_area_struct *vma)
{
    struct vm_fault fault = {.vma = vma, .pgoff = vma->vm_pgoff};

    vma->vm_ops->fault(&fault);
    return vma->pfn;
}

/* Whether the page is one of the BAR. */
static bool is_device(unsigned long pfn)
{
    return pfn < PHYS_PFN(gba.bar_address + GBA_BAR_SIZE);
}

/* Map the page, so that a child of fork does not get it. A doorbell is memory with its content. */
static void *page_map(unsigned long pfn)
{
    const struct page *page = (const struct page *)pfn;
    void *memory = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE,
                        is_device(pfn) ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED,
                        is_device(pfn) ? -1 : page->memory, 0);

    if (memory == MAP_FAILED)
        return memory;
    madvise(memory, PAGE_SIZE, MADV_DONTFORK);
    if (is_device(pfn))
        memset(memory, 0xFF, 2 * sizeof(uint64_t)); /* BELL_IDLE */
    return memory;
}

void *fake_driver_map(int number, size_t size, int protection, uint64_t offset)
{
    struct fake_file *file = file_of(number);
    const struct gba_file *of = file->file.private_data;
    const struct gba_mapping *map = xa_load(&of->mappings, offset >> PAGE_SHIFT);
    struct mapping *free = mappings;
    int error;

    if (fake_planned(map != NULL && map->kind == GBA_MAP_FLAGS ? FAKE_MMAP_FLAG : FAKE_MMAP))
        return MAP_FAILED;
    for (struct mapping *m = mappings; m < mappings + MAPPINGS; m++)
        if (m->memory != NULL && m->file == file && m->vma.vm_pgoff == offset >> PAGE_SHIFT)
            fake_violation("offset %#llx is mapped twice", (unsigned long long)offset);
    while (free->memory != NULL)
        free++;
    free->file = file;
    free->vma = (struct vm_area_struct){.vm_file = &file->file,
                                        .vm_end = size,
                                        .vm_pgoff = offset >> PAGE_SHIFT,
                                        .vm_flags = VM_SHARED};
    free->vma.vm_flags |= (protection & PROT_READ ? VM_READ : 0);
    enter(file);
    error = gba_fops.mmap(&file->file, &free->vma);
    if (error != 0) {
        fake_violation("%zu bytes mapped at offset %#llx", size, (unsigned long long)offset);
        errno = -error;
        return MAP_FAILED;
    }
    free->doorbell = is_device(page_in(&free->vma));
    free->memory = page_map(page_in(&free->vma));
    assert(free->memory != MAP_FAILED);
    file->users++;
    *(free->doorbell ? &fake_kernel.seen.doorbells : &fake_kernel.seen.pages) += 1;
    return free->memory;
}

int fake_driver_unmap(void *address, size_t size)
{
    for (struct mapping *m = mappings; m < mappings + MAPPINGS; m++)
        if (m->memory != NULL && address == m->memory && size == PAGE_SIZE) {
            m->memory = NULL;
            *(m->doorbell ? &fake_kernel.seen.doorbells : &fake_kernel.seen.pages) -= 1;
            file_put(m->file);
            return munmap(address, size);
        }
    fake_violation("%zu bytes at %p unmapped, which are not mapped", size, address);
    errno = EINVAL;
    return -1;
}

uint32_t fake_kernel_run(void)
{
    uint32_t arrivals = 0;

    for (struct mapping *m = mappings; m < mappings + MAPPINGS; m++) {
        gba_word_t *bell = m->memory;
        unsigned long page;
        uint64_t value;

        if (bell == NULL || !m->doorbell)
            continue;
        if (gba_word_load_relaxed(bell + 1) != BELL_IDLE)
            fake_violation("store to NOTIFY");
        /* Acquire: pairs with the arrival's release. The release stores follow it. */
        value = le64toh(gba_word_load_acquire(bell));
        if (value == BELL_IDLE)
            continue;
        gba_word_store_relaxed(bell, BELL_IDLE);
        page = page_in(&m->vma);
        if (is_device(page))
            fake_driver_access(0, (uint32_t)((page << PAGE_SHIFT) - gba.bar_address), 8, true,
                               value);
        arrivals++;
    }
    return arrivals;
}
