/* SPDX-License-Identifier: BSD-3-Clause */
/* The fake kernel: files and planned errors. fake_driver.c has the driver. */
#include "tests/unit/dev/fake_driver.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "gba/dev/cdev.h"

struct fake_kernel fake_kernel;

enum file_kind { FILE_CLOSED, FILE_DEVICE, FILE_REGISTERS, FILE_ANY };

static enum file_kind files[FILES];
static struct {
    unsigned long call;
    int error;
    unsigned times;
} plan;
static const struct gba_cdev_sys *real_sys;

/* Over all calls of the library, because members may be threads. Recursive: on_sleep may make calls
 * of its own. */
static pthread_mutex_t kernel_lock;

void fake_violation(const char *format, ...)
{
    va_list args;

    if (0 == fake_kernel.seen.violations++) {
        va_start(args, format);
        vsnprintf(fake_kernel.seen.violation, sizeof fake_kernel.seen.violation, format, args);
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

static bool is_open(int file, enum file_kind kind)
{
    const bool known = file >= FIRST_FILE && file < FIRST_FILE + FILES;
    const enum file_kind is = known ? files[file - FIRST_FILE] : FILE_CLOSED;

    if (-1 == file) { /* of a descriptor that the program has closed */
        errno = EBADF;
        return false;
    }
    if (fake_kernel.replaced) {
        fake_violation("file %d is the program's", file);
        errno = ENOTTY;
        return false;
    }
    if (kind == is || (FILE_ANY == kind && FILE_CLOSED != is))
        return true;
    fake_violation("file %d is not open", file);
    errno = EBADF;
    return false;
}

static int file_new(enum file_kind kind)
{
    for (int i = 0; i < FILES; i++)
        if (FILE_CLOSED == files[i]) {
            files[i] = kind;
            fake_kernel.seen.open_files++;
            return FIRST_FILE + i;
        }
    errno = EMFILE;
    return -1;
}

static int fake_open(const char *path, int flags)
{
    const bool registers = 0 == strcmp(path, FAKE_REGISTERS_PATH);
    int file;

    if (O_RDWR != (flags & O_ACCMODE) || 0 == (flags & O_CLOEXEC))
        fake_violation("open with flags %#x", (unsigned)flags);
    if (fake_planned(registers ? FAKE_OPEN_REGS : FAKE_OPEN))
        return -1;
    if (registers)
        return file_new(FILE_REGISTERS);
    if (!fake_kernel.no_device && 0 == strcmp(path, FAKE_KERNEL_PATH)) {
        pthread_mutex_lock(&kernel_lock);
        file = file_new(FILE_DEVICE);
        errno = file < 0 ? errno : fake_driver_open(file);
        pthread_mutex_unlock(&kernel_lock);
        return file;
    }
    errno = ENOENT;
    return -1;
}

static int fake_close(int file)
{
    if (!is_open(file, FILE_ANY))
        return -1;
    pthread_mutex_lock(&kernel_lock);
    if (FILE_DEVICE == files[file - FIRST_FILE])
        fake_driver_close(file);
    files[file - FIRST_FILE] = FILE_CLOSED;
    fake_kernel.seen.open_files--;
    pthread_mutex_unlock(&kernel_lock);
    return 0;
}

static int fake_fstat(int file, struct stat *stat)
{
    if (fake_planned(FAKE_FSTAT) || (!fake_kernel.replaced && !is_open(file, FILE_ANY)))
        return -1;
    memset(stat, 0, sizeof *stat);
    stat->st_mode = fake_kernel.plain_file ? S_IFREG : S_IFCHR;
    stat->st_ino = fake_kernel.replaced ? 2 : 1;
    return 0;
}

/* QUERY of version 2, the only call of that version that a driver of version 3 answers. */
#define QUERY_OLD _IOC(_IOC_READ | _IOC_WRITE, 0xBA, 0, 136)

/* What the test has set about the driver replaces the driver's answer. */
static void forge(unsigned long request, void *answer)
{
    struct gba_ioc_query *query = answer;

    if (GBA_IOC_QUERY == request) {
        query->abi_version = fake_kernel.abi_version;
        query->regs_version = fake_kernel.regs_version;
        query->features = fake_kernel.features;
        query->groups = fake_kernel.groups;
        query->members_max = fake_kernel.members_max;
    } else if (QUERY_OLD == request && fake_kernel.old_driver) {
        ((uint32_t *)answer)[2] = 2;
    } else if (GBA_IOC_JOIN == request && fake_kernel.forge_join != NULL) {
        fake_kernel.forge_join(answer);
    }
}

static int fake_ioctl(int file, unsigned long request, void *argument)
{
    int error;

    pthread_mutex_lock(&kernel_lock);
    fake_kernel.seen.ioctls++;
    if (fake_planned(request) || !is_open(file, FILE_DEVICE))
        error = errno;
    else if (fake_kernel.old_driver && QUERY_OLD != request)
        error = ENOTTY;
    else
        error = fake_driver_ioctl(file, request, argument);
    if (0 == error)
        forge(request, argument);
    pthread_mutex_unlock(&kernel_lock);
    errno = error;
    return 0 == error ? 0 : -1;
}

static void *fake_mmap(size_t size, int protection, int flags, int file, uint64_t offset)
{
    void *memory = MAP_FAILED;
    int error;

    pthread_mutex_lock(&kernel_lock);
    if (MAP_SHARED != flags)
        fake_violation("device mapped with flags %#x", (unsigned)flags);
    if (is_open(file, FILE_DEVICE))
        memory = fake_driver_map(file, size, protection, offset);
    error = errno;
    pthread_mutex_unlock(&kernel_lock);
    errno = error;
    return memory;
}

static int fake_munmap(void *address, size_t size)
{
    int result;

    pthread_mutex_lock(&kernel_lock);
    result = fake_driver_unmap(address, size);
    pthread_mutex_unlock(&kernel_lock);
    return result;
}

/* One access of the device, of that width. */
static ssize_t fake_pread(int file, void *buffer, size_t size, uint64_t offset)
{
    uint64_t value;

    if (!is_open(file, FILE_REGISTERS) || fake_planned(FAKE_REGS))
        return -1;
    value = htole64(fake_driver_access(0, (uint32_t)offset, (unsigned)size, false, 0));
    memcpy(buffer, &value, size);
    return (ssize_t)size;
}

static ssize_t fake_pwrite(int file, const void *buffer, size_t size, uint64_t offset)
{
    uint64_t value = 0;

    if (!is_open(file, FILE_REGISTERS) || fake_planned(FAKE_REGS))
        return -1;
    memcpy(&value, buffer, size);
    fake_driver_access(0, (uint32_t)offset, (unsigned)size, true, le64toh(value));
    return (ssize_t)size;
}

static const struct gba_cdev_sys fake_sys = {
    .open = fake_open,
    .close = fake_close,
    .fstat = fake_fstat,
    .ioctl = fake_ioctl,
    .mmap = fake_mmap,
    .munmap = fake_munmap,
    .pread = fake_pread,
    .pwrite = fake_pwrite,
};

void fake_kernel_start(uint32_t groups)
{
    pthread_mutexattr_t recursive;

    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&kernel_lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
    memset(&fake_kernel, 0, sizeof fake_kernel);
    memset(&plan, 0, sizeof plan);
    memset(files, 0, sizeof files);
    fake_kernel.abi_version = GBA_ABI_VERSION;
    fake_kernel.regs_version = GBA_REGS_MAJOR << 16 | GBA_REGS_MINOR;
    fake_kernel.groups = groups;
    fake_kernel.members_max = GBA_MEMBERS_MAX;
    fake_kernel.features = GBA_FEATURE_WAIT | GBA_FEATURE_EVENTS | GBA_FEATURE_OWNER;
    fake_driver_start(groups);
    real_sys = gba_cdev_sys;
    gba_cdev_sys = &fake_sys;
}

void fake_kernel_stop(void)
{
    pthread_mutex_destroy(&kernel_lock);
    gba_cdev_sys = real_sys;
}
