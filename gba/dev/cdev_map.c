/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mappings of the driver's pages: the doorbell of a member, and the page with its release flag. The
 * driver gives neither to children of fork, and replaces a revoked doorbell by a page without
 * effect.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gba/base/log.h"
#include "gba/dev/cdev.h"

_Static_assert(GBA_FLAG_SLOT_STRIDE >= GBA_FLAG_STRIDE, "flags are two cache lines apart");
_Static_assert(sizeof(gba_flag_t) == sizeof((struct gba_flag_slot *)0)->release, "one flag");

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

/* Map a page of the driver. what: for the log. map: set on GBA_OK. */
static gba_status_t page_map(const struct gba_cdev_membership *membership, int protection,
                             uint64_t offset, const char *what, void **map)
{
    const struct gba_cdev *dev = (const struct gba_cdev *)membership->membership.dev;
    void *memory = gba_cdev_sys->mmap(membership->map_size, protection, MAP_SHARED,
                                      gba_cdev_number(&dev->file), offset);
    gba_status_t status;
    bool expected;
    int error;

    if (MAP_FAILED != memory) {
        *map = memory;
        return GBA_OK;
    }
    error = errno;
    status = gba_cdev_status(GBA_CDEV_MMAP, error, &expected);
    if (!expected)
        gba_log(GBA_LOG_ERROR, "cannot map the %s of GBA group %u: %s", what,
                membership->membership.group, strerror(error));
    return status;
}

/* Whether the driver may return that offset. */
static bool offset_valid(uint64_t offset, uint64_t size)
{
    return 0 != offset && 0 == offset % size && offset <= INT64_MAX - size;
}

/* Whether gba_ioctl.h allows the mappings and the position of the flag. */
static bool join_valid(const struct gba_ioc_join *join)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    return page == join->map_size && offset_valid(join->doorbell_offset, page) &&
           offset_valid(join->flag_offset, page) && join->doorbell_offset != join->flag_offset &&
           0 == join->flag_position % GBA_FLAG_SLOT_STRIDE && join->flag_position < page;
}

gba_status_t gba_cdev_doorbell_map(struct gba_cdev_membership *membership,
                                   const struct gba_ioc_join *join)
{
    gba_status_t status;

    /* Without one store of 64 bits the device refuses every arrival, and the barrier never ends.
     * [HOST-2] */
    if (!GBA_MMIO_64) {
        gba_log(GBA_LOG_ERROR, "a GBA needs 64-bit stores, which this %s does not have",
                GBA_MMIO ? "32-bit process" : "architecture");
        return GBA_ERR_UNSUPPORTED;
    }
    if (!join_valid(join)) {
        gba_log(GBA_LOG_ERROR,
                "driver returned invalid mappings: %u bytes, doorbell at offset %#llx, flag at "
                "position %u of offset %#llx",
                join->map_size, (unsigned long long)join->doorbell_offset, join->flag_position,
                (unsigned long long)join->flag_offset);
        return GBA_ERR_IO;
    }
    membership->map_size = join->map_size;
    membership->flag_offset = join->flag_offset;
    membership->flag_position = join->flag_position;
    status =
        page_map(membership, PROT_WRITE, join->doorbell_offset, "doorbell", &membership->doorbell);
    if (GBA_OK == status)
        membership->membership.doorbell =
            (gba_mmio64_t *)(void *)((char *)membership->doorbell + GBA_BELL_ARRIVAL);
    return status;
}

void gba_cdev_doorbell_unmap(struct gba_cdev_membership *membership)
{
    gba_cdev_sys->munmap(membership->doorbell, membership->map_size);
}

/* Map one more page of flags. The caller holds the lock. */
static gba_status_t page_add(struct gba_cdev *dev, const struct gba_cdev_membership *membership,
                             struct gba_cdev_page **out)
{
    struct gba_cdev_page *page = calloc(1, sizeof *page);
    gba_status_t status;
    void *memory = NULL; /* gcc for s390x does not see that page_map sets it */

    if (page == NULL)
        return GBA_ERR_NOMEM;
    status = page_map(membership, PROT_READ | PROT_WRITE, membership->flag_offset, "release flag",
                      &memory);
    if (GBA_OK != status) {
        free(page);
        return status;
    }
    *page = (struct gba_cdev_page){.next = dev->pages,
                                   .offset = membership->flag_offset,
                                   .memory = memory,
                                   .size = membership->map_size};
    dev->pages = page;
    *out = page;
    return GBA_OK;
}

gba_status_t gba_cdev_flag_map(struct gba_cdev_membership *membership)
{
    struct gba_cdev *dev = (struct gba_cdev *)membership->membership.dev;
    gba_status_t status = GBA_OK;
    struct gba_cdev_page *page;

    pthread_mutex_lock(&dev->lock);
    for (page = dev->pages; page != NULL && page->offset != membership->flag_offset;)
        page = page->next;
    if (page == NULL)
        status = page_add(dev, membership, &page);
    if (GBA_OK == status) {
        page->users++;
        membership->page = page;
        membership->membership.flag =
            (gba_flag_t *)(void *)(page->memory + membership->flag_position);
    }
    pthread_mutex_unlock(&dev->lock);
    return status;
}

void gba_cdev_flag_unmap(struct gba_cdev_membership *membership)
{
    struct gba_cdev *dev = (struct gba_cdev *)membership->membership.dev;
    struct gba_cdev_page *page = membership->page, **link;

    if (page == NULL)
        return;
    pthread_mutex_lock(&dev->lock);
    if (0 == --page->users) {
        for (link = &dev->pages; *link != page; link = &(*link)->next)
            ;
        *link = page->next;
        gba_cdev_sys->munmap(page->memory, page->size);
        free(page);
    }
    pthread_mutex_unlock(&dev->lock);
}
