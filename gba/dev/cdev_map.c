/* SPDX-License-Identifier: BSD-3-Clause */
/* Mappings of the device: the doorbell of a member, and for diagnosis all registers. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gba/base/log.h"
#include "gba/dev/cdev.h"
#include "gba/spec/gba_ioctl.h"

bool gba_cdev_is_child(const struct gba_cdev *dev)
{
    return getpid() != dev->owner;
}

gba_status_t gba_cdev_refuse_child(const struct gba_cdev *dev)
{
    if (!gba_cdev_is_child(dev))
        return GBA_OK;
    gba_log(GBA_LOG_ERROR, "a child of fork cannot use the GBA that its parent opened");
    return GBA_ERR_IO;
}

/*
 * Map a part of the device. Children of fork do not inherit the mapping, so that a child cannot
 * arrive as its parent. Returns NULL with errno set on failure.
 */
static void *device_map(const struct gba_cdev *dev, size_t size, int protection, uint64_t offset)
{
    void *map = gba_cdev_sys->mmap(size, protection, MAP_SHARED, dev->file, offset);
    int error;

    if (MAP_FAILED == map)
        return NULL;
    if (0 == gba_cdev_sys->madvise(map, size, MADV_DONTFORK))
        return map;
    error = errno;
    gba_cdev_sys->munmap(map, size);
    errno = error;
    return NULL;
}

/* Map the doorbell at the offset that the driver returned, if that offset is valid. */
gba_status_t gba_cdev_doorbell_map(struct gba_cdev_membership *membership,
                                   const struct gba_ioc_join *join)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), offset = join->doorbell_offset;
    gba_status_t status;
    bool expected;

    /* Without one store of 64 bits the device refuses every arrival, and the barrier never ends.
     * [HOST-2] */
    if (!GBA_MMIO_64) {
        gba_log(GBA_LOG_ERROR, "a GBA needs 64-bit stores, which this %s does not have",
                GBA_MMIO ? "32-bit process" : "architecture");
        return GBA_ERR_UNSUPPORTED;
    }
    /* At most one page of the largest page size: more would include a neighbour's doorbell. Never
     * in the window of the BAR. */
    if (0 == join->doorbell_size || join->doorbell_size > GBA_DOORBELL_STRIDE ||
        0 != join->doorbell_size % page || 0 != offset % page ||
        offset > INT64_MAX - join->doorbell_size ||
        (offset + join->doorbell_size > GBA_MMAP_BAR && offset < GBA_MMAP_BAR + GBA_BAR_SIZE)) {
        gba_log(GBA_LOG_ERROR,
                "driver returned an invalid doorbell mapping: %llu bytes at offset %#llx",
                (unsigned long long)join->doorbell_size, (unsigned long long)offset);
        return GBA_ERR_IO;
    }
    membership->doorbell_size = (size_t)join->doorbell_size;
    membership->doorbell = device_map((struct gba_cdev *)membership->membership.dev,
                                      membership->doorbell_size, PROT_WRITE, offset);
    if (NULL == membership->doorbell) {
        int error = errno;

        status = gba_cdev_status(GBA_CDEV_MMAP, error, &expected);
        if (!expected)
            gba_log(GBA_LOG_ERROR, "cannot map the doorbell of GBA group %u: %s", join->group,
                    strerror(error));
        return status;
    }
    membership->membership.doorbell =
        (gba_mmio64_t *)(void *)((char *)membership->doorbell + GBA_BELL_ARRIVAL);
    return GBA_OK;
}

/* Map the whole BAR at the first access to a register. */
static gba_status_t bar_map(struct gba_cdev *dev)
{
    gba_status_t status = gba_cdev_refuse_child(dev);
    bool expected;

    if (GBA_OK != status)
        return status;
    if (!GBA_MMIO)
        return GBA_ERR_UNSUPPORTED;
    pthread_mutex_lock(&dev->bar_lock);
    if (NULL == dev->bar)
        dev->bar = device_map(dev, GBA_BAR_SIZE, PROT_READ | PROT_WRITE, GBA_MMAP_BAR);
    if (NULL == dev->bar) {
        int error = errno;

        status = gba_cdev_status(GBA_CDEV_MMAP, error, &expected);
        if (!expected)
            gba_log(GBA_LOG_ERROR, "cannot map the registers of the GBA: %s%s", strerror(error),
                    GBA_ERR_PERM == status ? "; the capability CAP_SYS_RAWIO is required" : "");
    }
    pthread_mutex_unlock(&dev->bar_lock);
    return status;
}

/* The bus takes aligned accesses only. A CPU would split an unaligned access, or trap. */
static gba_status_t access_prepare(struct gba_cdev *dev, uint32_t address, unsigned width)
{
    return 0 == address % width ? bar_map(dev) : GBA_ERR_PARAM;
}

gba_status_t gba_cdev_reg_read(struct gba_dev *d, uint32_t address, unsigned width, uint64_t *value)
{
    struct gba_cdev *dev = (struct gba_cdev *)d;
    gba_status_t status = access_prepare(dev, address, width);

    if (GBA_OK == status)
        *value = gba_mmio_read(dev->bar, address, width);
    return status;
}

gba_status_t gba_cdev_reg_write(struct gba_dev *d, uint32_t address, unsigned width, uint64_t value)
{
    struct gba_cdev *dev = (struct gba_cdev *)d;
    gba_status_t status = access_prepare(dev, address, width);

    if (GBA_OK == status)
        gba_mmio_write(dev->bar, address, width, value);
    return status;
}
