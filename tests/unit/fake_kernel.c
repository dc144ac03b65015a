/* SPDX-License-Identifier: BSD-3-Clause */
/* The fake kernel: files, mappings and planned errors. fake_driver.c has the driver's calls. */
#include "tests/unit/fake_driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

struct fake_kernel fake_kernel;
struct gba_dev_ops fake_kernel_ops;

static gba_status_t ops_reg_read(struct gba_dev *dev, uint32_t address, unsigned width,
                                 uint64_t *value);
static gba_status_t ops_reg_write(struct gba_dev *dev, uint32_t address, unsigned width,
                                  uint64_t value);

/* The content of a doorbell without a store: the arrival of a member that does not exist. */
#define BELL_IDLE  0xFFFFFFFFFFFFFFFFull
#define BAR_IDLE   0xA5
#define FILES      64
#define FIRST_FILE 1000 /* so that no descriptor of the test equals one of the system */
#define DOORBELLS  2048

struct doorbell {
    void *memory;
    size_t size;
    uint32_t group, generation;
    int file;
};

static bool file_open[FILES];
static struct doorbell doorbell[DOORBELLS];
static unsigned char *bar;
static struct {
    unsigned long call;
    int error;
    unsigned times;
} plan;
static const struct gba_cdev_sys *real_sys;

void fake_violation(const char *format, ...)
{
    va_list args;

    if (0 == fake_kernel.violations++) {
        va_start(args, format);
        vsnprintf(fake_kernel.violation, sizeof fake_kernel.violation, format, args);
        va_end(args);
    }
}

void fake_kernel_fail(unsigned long call, int error, unsigned times)
{
    plan.call = call;
    plan.error = error;
    plan.times = times;
}

bool fake_planned(unsigned long call)
{
    if (0 == plan.times || plan.call != call)
        return false;
    plan.times--;
    errno = plan.error;
    return true;
}

static bool is_open(int file)
{
    if (file >= FIRST_FILE && file < FIRST_FILE + FILES && file_open[file - FIRST_FILE])
        return true;
    fake_violation("file %d is not open", file);
    errno = EBADF;
    return false;
}

static int fake_open(const char *path, int flags)
{
    if (fake_planned(FAKE_OPEN))
        return -1;
    if (fake_kernel.no_device || 0 != strcmp(path, FAKE_KERNEL_PATH)) {
        errno = ENOENT;
        return -1;
    }
    if (O_RDWR != (flags & O_ACCMODE) || 0 == (flags & O_CLOEXEC))
        fake_violation("open with flags %#x", (unsigned)flags);
    for (int i = 0; i < FILES; i++)
        if (!file_open[i]) {
            file_open[i] = true;
            fake_kernel.open_files++;
            return FIRST_FILE + i;
        }
    errno = EMFILE;
    return -1;
}

static int fake_close(int file)
{
    if (!is_open(file))
        return -1;
    file_open[file - FIRST_FILE] = false;
    fake_kernel.open_files--;
    fake_driver_release(file);
    return 0;
}

static int fake_fstat(int file, struct stat *stat)
{
    if (fake_planned(FAKE_FSTAT) || !is_open(file))
        return -1;
    memset(stat, 0, sizeof *stat);
    stat->st_mode = fake_kernel.plain_file ? S_IFREG : S_IFCHR;
    return 0;
}

static int fake_ioctl(int file, unsigned long request, void *argument)
{
    fake_kernel.ioctls++;
    if (fake_planned(request) || !is_open(file))
        return -1;
    errno = fake_driver_ioctl(file, request, argument);
    return 0 == errno ? 0 : -1;
}

static void *memory_map(size_t size)
{
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* [DRV-9] */
static void *map_bar(size_t size, int protection)
{
    if (fake_kernel.no_rawio) {
        errno = EPERM;
        return MAP_FAILED;
    }
    if (GBA_BAR_SIZE != size || (PROT_READ | PROT_WRITE) != protection || NULL != bar)
        fake_violation("registers mapped with size %zu, protection %d", size, protection);
    bar = memory_map(size);
    if (MAP_FAILED == (void *)bar)
        return bar;
    memset(bar, BAR_IDLE, size);
    fake_kernel.memory++;
    return bar;
}

static void *map_doorbell(size_t size, int protection, int file, uint64_t offset)
{
    uint32_t generation;
    int group = fake_driver_doorbell(file, offset, size, &generation);

    if (group < 0 || PROT_WRITE != protection) {
        fake_violation("doorbell mapped at %#llx, size %zu, protection %d",
                       (unsigned long long)offset, size, protection);
        errno = EINVAL;
        return MAP_FAILED;
    }
    for (size_t i = 0; i < DOORBELLS; i++)
        if (NULL == doorbell[i].memory) {
            void *memory = memory_map(size);

            if (MAP_FAILED == memory)
                return memory;
            memset(memory, 0xFF, sizeof(uint64_t)); /* BELL_IDLE */
            doorbell[i] = (struct doorbell){memory, size, (uint32_t)group, generation, file};
            fake_kernel.doorbells++;
            return memory;
        }
    errno = ENOMEM;
    return MAP_FAILED;
}

static void *fake_mmap(size_t size, int protection, int flags, int file, uint64_t offset)
{
    void *memory;

    if (fake_planned(file < 0 ? FAKE_MMAP_MEM : FAKE_MMAP))
        return MAP_FAILED;
    if (file < 0) {
        if ((MAP_PRIVATE | MAP_ANONYMOUS) != flags || (PROT_READ | PROT_WRITE) != protection)
            fake_violation("memory mapped with flags %#x", (unsigned)flags);
        memory = memory_map(size);
        fake_kernel.memory += MAP_FAILED != memory;
        return memory;
    }
    if (!is_open(file))
        return MAP_FAILED;
    if (MAP_SHARED != flags)
        fake_violation("device mapped with flags %#x", (unsigned)flags);
    return GBA_MMAP_BAR == offset ? map_bar(size, protection)
                                  : map_doorbell(size, protection, file, offset);
}

static int fake_munmap(void *address, size_t size)
{
    if (address == bar && NULL != bar) {
        bar = NULL;
        fake_kernel.memory--;
        return munmap(address, size);
    }
    for (size_t i = 0; i < DOORBELLS; i++)
        if (address == doorbell[i].memory && NULL != address) {
            if (size != doorbell[i].size)
                fake_violation("%zu bytes of a doorbell of %zu unmapped", size, doorbell[i].size);
            doorbell[i].memory = NULL;
            fake_kernel.doorbells--;
            return munmap(address, size);
        }
    /* Memory: a flag that the device can still store to must stay mapped. */
    fake_driver_unmapped((uintptr_t)address, size);
    fake_kernel.memory--;
    return munmap(address, size);
}

static int fake_madvise(void *address, size_t size, int advice)
{
    return fake_planned(FAKE_MADVISE) ? -1 : madvise(address, size, advice);
}

static const struct gba_cdev_sys fake_sys = {
    .open = fake_open,
    .close = fake_close,
    .fstat = fake_fstat,
    .ioctl = fake_ioctl,
    .mmap = fake_mmap,
    .munmap = fake_munmap,
    .madvise = fake_madvise,
};

void fake_kernel_start(uint32_t groups)
{
    memset(&fake_kernel, 0, sizeof fake_kernel);
    memset(&plan, 0, sizeof plan);
    memset(file_open, 0, sizeof file_open);
    memset(doorbell, 0, sizeof doorbell);
    bar = NULL;
    fake_kernel.abi_version = GBA_ABI_VERSION;
    fake_kernel.regs_version = GBA_REGS_MAJOR << 16 | GBA_REGS_MINOR;
    fake_kernel.groups = groups;
    fake_kernel.members_max = GBA_MEMBERS_MAX;
    fake_kernel_ops = gba_dev_cdev;
    fake_kernel_ops.reg_read = ops_reg_read;
    fake_kernel_ops.reg_write = ops_reg_write;
    fake_driver_start(groups);
    real_sys = gba_cdev_sys;
    gba_cdev_sys = &fake_sys;
}

void fake_kernel_stop(void)
{
    gba_cdev_sys = real_sys;
}

uint32_t fake_kernel_run(void)
{
    uint32_t arrivals = 0;

    for (size_t i = 0; i < DOORBELLS; i++) {
        gba_word_t *bell = doorbell[i].memory;
        uint64_t value;

        if (NULL == bell)
            continue;
        /* Acquire: pairs with the arrival's release. The release stores follow it. */
        value = le64toh(gba_word_load_acquire(bell));
        if (BELL_IDLE == value)
            continue;
        gba_word_store_relaxed(bell, BELL_IDLE);
        fake_driver_arrive(doorbell[i].group, doorbell[i].generation, value);
        arrivals++;
    }
    return arrivals;
}

static gba_status_t ops_reg_read(struct gba_dev *dev, uint32_t address, unsigned width,
                                 uint64_t *value)
{
    gba_status_t status = gba_dev_cdev.reg_read(dev, address, width, value); /* maps them */
    uint64_t answer;

    if (GBA_OK != status)
        return status;
    answer = htole64(fake_driver_access(address, width, false, 0));
    memcpy(bar + address, &answer, width);
    status = gba_dev_cdev.reg_read(dev, address, width, value);
    memset(bar + address, BAR_IDLE, width);
    return status;
}

static gba_status_t ops_reg_write(struct gba_dev *dev, uint32_t address, unsigned width,
                                  uint64_t value)
{
    gba_status_t status = gba_dev_cdev.reg_write(dev, address, width, value);
    uint64_t written = 0;

    if (GBA_OK != status)
        return status;
    for (unsigned i = 0; i < width; i++)
        if (BAR_IDLE == bar[address + i])
            fake_violation("byte %u of a write of %u was not written", i, width);
    memcpy(&written, bar + address, width);
    memset(bar + address, BAR_IDLE, width);
    for (uint32_t i = 0; i < GBA_BAR_SIZE; i++)
        if (BAR_IDLE != bar[i])
            fake_violation("a write of %u at %#x changed %#x, too", width, address, i);
    fake_driver_access(address, width, true, le64toh(written));
    return GBA_OK;
}
