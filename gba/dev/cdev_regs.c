/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registers of /dev/gbaN, for diagnosis and conformance tests: the debug file of the driver. An
 * access of the file at the address of a register is one access of that width to the register.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "gba/base/log.h"
#include "gba/dev/cdev.h"

#define DEBUG_FILE "/sys/kernel/debug/gba/%s/registers"

/* The name of the device in the kernel, "gba0", from the path of its file. Returns NULL: unknown.
 */
static const char *kernel_name(const struct gba_cdev *dev)
{
    char path[sizeof dev->path];

    return gba_dev_cdev.identify(dev->path, path, sizeof path) ? dev->path + strlen("/dev/") : NULL;
}

/* Open the debug file. The caller holds the lock. */
static gba_status_t registers_open(struct gba_cdev *dev)
{
    const char *name = kernel_name(dev);
    char path[sizeof DEBUG_FILE + sizeof dev->path];
    gba_status_t status;
    struct stat stat;
    bool expected;
    int error, file;

    if (name == NULL)
        return GBA_ERR_UNSUPPORTED;
    snprintf(path, sizeof path, DEBUG_FILE, name);
    file = gba_cdev_sys->open(path, O_RDWR | O_CLOEXEC);
    if (file >= 0 && 0 == gba_cdev_sys->fstat(file, &stat)) {
        dev->registers = gba_descriptor_of(file, &stat);
        return GBA_OK;
    }
    error = errno;
    if (file >= 0)
        gba_cdev_sys->close(file);
    status = gba_cdev_status(GBA_CDEV_OPEN, error, &expected);
    if (GBA_ERR_NO_DEVICE == status)
        return GBA_ERR_UNSUPPORTED;
    gba_log(GBA_LOG_ERROR, "cannot open the registers of the GBA, %s: %s%s", path, strerror(error),
            GBA_ERR_PERM == status ? "; only root can open them, unless the kernel is locked down"
                                   : "");
    return status;
}

/* The bus has aligned accesses only. */
static gba_status_t access_prepare(struct gba_cdev *dev, uint32_t address, unsigned width)
{
    gba_status_t status = gba_cdev_refuse_child(dev);

    if (GBA_OK != status)
        return status;
    if (0 != address % width)
        return GBA_ERR_PARAM;
    pthread_mutex_lock(&dev->lock);
    if (dev->registers.number < 0)
        status = registers_open(dev);
    pthread_mutex_unlock(&dev->lock);
    return status;
}

/* The status of an access. moved: the result of the system call. */
static gba_status_t access_status(ssize_t moved, unsigned width)
{
    if (moved == (ssize_t)width)
        return GBA_OK;
    gba_log(GBA_LOG_ERROR, "cannot access the registers of the GBA: %s",
            moved < 0 ? strerror(errno) : "short transfer");
    return GBA_ERR_IO;
}

gba_status_t gba_cdev_reg_read(struct gba_dev *d, uint32_t address, unsigned width, uint64_t *value)
{
    struct gba_cdev *dev = (struct gba_cdev *)d;
    gba_status_t status = access_prepare(dev, address, width);
    uint64_t answer = 0; /* little endian, as the device */

    if (GBA_OK == status)
        status = access_status(
            gba_cdev_sys->pread(gba_cdev_number(&dev->registers), &answer, width, address), width);
    if (GBA_OK == status)
        *value = le64toh(answer);
    return status;
}

gba_status_t gba_cdev_reg_write(struct gba_dev *d, uint32_t address, unsigned width, uint64_t value)
{
    struct gba_cdev *dev = (struct gba_cdev *)d;
    gba_status_t status = access_prepare(dev, address, width);
    const uint64_t written = htole64(value);

    if (GBA_OK == status)
        status = access_status(
            gba_cdev_sys->pwrite(gba_cdev_number(&dev->registers), &written, width, address),
            width);
    return status;
}
