/* SPDX-License-Identifier: BSD-3-Clause */
/* The system calls of the backend for /dev/gbaN, and the status of their errors. */
#define _FILE_OFFSET_BITS 64 /* offsets for mmap have up to 44 bits, in 32-bit processes, too */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gba/base/log.h"
#include "gba/base/memory_file.h"
#include "gba/dev/cdev.h"

static int sys_open(const char *path, int flags)
{
    return open(path, flags);
}

static int sys_fstat(int file, struct stat *stat)
{
    return fstat(file, stat);
}

static int sys_ioctl(int file, unsigned long request, void *argument)
{
    return ioctl(file, request, argument);
}

static void *sys_mmap(size_t size, int protection, int flags, int file, uint64_t offset)
{
    return gba_map_shared(size, protection, flags, file, offset);
}

static ssize_t sys_pread(int file, void *buffer, size_t size, uint64_t offset)
{
    return pread(file, buffer, size, (off_t)offset);
}

static ssize_t sys_pwrite(int file, const void *buffer, size_t size, uint64_t offset)
{
    return pwrite(file, buffer, size, (off_t)offset);
}

static const struct gba_cdev_sys real = {
    .open = sys_open,
    .close = close,
    .fstat = sys_fstat,
    .ioctl = sys_ioctl,
    .mmap = sys_mmap,
    .munmap = munmap,
    .pread = sys_pread,
    .pwrite = sys_pwrite,
};

const struct gba_cdev_sys *gba_cdev_sys = &real;

/* The driver's calls as gba_ioctl.h specifies them, the system's as open(2) and mmap(2) do. */
static const struct {
    int error;
    gba_status_t at[3]; /* by enum gba_cdev_call */
} meanings[] = {
    /*           open               ioctl             mmap */
    {ENOENT, {GBA_ERR_NO_DEVICE, GBA_ERR_IO, GBA_ERR_IO}},
    {ENOTDIR, {GBA_ERR_NO_DEVICE, GBA_ERR_IO, GBA_ERR_IO}},
    {ENXIO, {GBA_ERR_NO_DEVICE, GBA_ERR_DEAD, GBA_ERR_DEAD}},
    {ENODEV, {GBA_ERR_NO_DEVICE, GBA_ERR_DEAD, GBA_ERR_DEAD}},
    {EACCES, {GBA_ERR_PERM, GBA_ERR_PERM, GBA_ERR_PERM}},
    {EPERM, {GBA_ERR_PERM, GBA_ERR_PERM, GBA_ERR_PERM}},
    {EISDIR, {GBA_ERR_NOT_GBA, GBA_ERR_IO, GBA_ERR_IO}},
    {ENOTTY, {GBA_ERR_NOT_GBA, GBA_ERR_NOT_GBA, GBA_ERR_IO}},
    {EBUSY, {GBA_ERR_BUSY, GBA_ERR_BUSY, GBA_ERR_BUSY}},
    {EAGAIN, {GBA_ERR_IO, GBA_ERR_BUSY, GBA_ERR_NOMEM}}, /* mmap: too much memory is locked */
    {EINVAL, {GBA_ERR_IO, GBA_ERR_PARAM, GBA_ERR_IO}},
    {ENOMEM, {GBA_ERR_NOMEM, GBA_ERR_NOMEM, GBA_ERR_NOMEM}},
    {EMFILE, {GBA_ERR_NO_FILES, GBA_ERR_IO, GBA_ERR_IO}},
    {ENFILE, {GBA_ERR_NO_FILES, GBA_ERR_IO, GBA_ERR_IO}},
    {ENOSPC, {GBA_ERR_IO, GBA_ERR_NO_GROUP, GBA_ERR_IO}},
    {EDQUOT, {GBA_ERR_IO, GBA_ERR_QUOTA, GBA_ERR_IO}}, /* of ALLOC: see cdev_alloc */
    {EUSERS, {GBA_ERR_IO, GBA_ERR_QUOTA, GBA_ERR_IO}},
    {ESTALE, {GBA_ERR_IO, GBA_ERR_STALE, GBA_ERR_IO}},
};

gba_status_t gba_cdev_status(enum gba_cdev_call call, int error, bool *expected)
{
    gba_status_t status = GBA_ERR_IO;

    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
        if (meanings[i].error == error)
            status = meanings[i].at[call];
    if (GBA_CDEV_OPEN == call) /* only a missing file is expected */
        *expected = ENOENT == error || ENOTDIR == error;
    else /* expected in the life of a group */
        *expected = GBA_ERR_DEAD == status || GBA_ERR_BUSY == status ||
                    GBA_ERR_NO_GROUP == status || GBA_ERR_QUOTA == status ||
                    GBA_ERR_STALE == status;
    return status;
}

int gba_cdev_number(const struct gba_descriptor *file)
{
    struct stat status;

    return file->number >= 0 && 0 == gba_cdev_sys->fstat(file->number, &status) &&
                   gba_descriptor_is(file, &status)
               ? file->number
               : -1;
}

void gba_cdev_close(struct gba_descriptor *file)
{
    const int number = gba_cdev_number(file);

    if (number >= 0)
        gba_cdev_sys->close(number);
    file->number = -1;
}

int gba_cdev_try(int file, unsigned long request, void *argument)
{
    int result;

    do
        result = gba_cdev_sys->ioctl(file, request, argument);
    while (result < 0 && EINTR == errno);
    return result < 0 ? errno : 0;
}

gba_status_t gba_cdev_outcome(int error, const char *name)
{
    gba_status_t status;
    bool expected;

    if (0 == error)
        return GBA_OK;
    status = gba_cdev_status(GBA_CDEV_IOCTL, error, &expected);
    if (!expected)
        gba_log(GBA_LOG_ERROR, "the GBA driver refuses %s: %s", name, strerror(error));
    return status;
}

gba_status_t gba_cdev_ioctl(int file, unsigned long request, const char *name, void *argument)
{
    return gba_cdev_outcome(gba_cdev_try(file, request, argument), name);
}
