/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the memory that a virtual machine shares. */
#define _GNU_SOURCE /* F_GET_SEALS */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "sim/switch/vfio/dma.h"
#include "sim/switch/vfio/guard.h"

void gba_vfio_dma_init(struct gba_vfio_dma *dma)
{
    dma->count = 0;
    dma->mapped = 0;
}

/* The first range that ends behind the address; dma->count: none. */
static unsigned find(const struct gba_vfio_dma *dma, uint64_t address)
{
    unsigned low = 0, high = dma->count;

    while (low < high) {
        unsigned middle = low + (high - low) / 2;

        if (dma->map[middle].address + dma->map[middle].size > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Whether the file is in memory, and holds the range. *page: the size of its pages, which can be
 * huge. */
static bool is_usable(int fd, uint64_t offset, uint64_t size, uint64_t *page)
{
    struct statfs system;
    struct stat file;

    /* Only files in memory have seals. The kernel itself checks for seals. fstatfs and fstat would
     * call the file system, which can be a server that does not answer. */
    if (fcntl(fd, F_GET_SEALS) < 0)
        return false;
    if (0 != fstatfs(fd, &system) || 0 != fstat(fd, &file) || !S_ISREG(file.st_mode))
        return false;
    if (TMPFS_MAGIC != system.f_type && HUGETLBFS_MAGIC != system.f_type)
        return false;
    *page = (uint64_t)system.f_bsize;
    return (uint64_t)file.st_size >= size && offset <= (uint64_t)file.st_size - size;
}

/* Map the range of the file for the device. The range begins and ends at small pages, the mapping
 * at pages of the file. */
static int map_file(struct gba_vfio_map *map, int fd, uint64_t offset, uint64_t page)
{
    uint64_t before = offset % page;
    uint64_t length = (before + map->size + page - 1) / page * page;
    void *mapping =
        mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)(offset - before));

    if (MAP_FAILED == mapping)
        return errno;
    (void)madvise(mapping, length, MADV_DONTDUMP); /* no guest memory in core files */
    map->mapping = mapping;
    map->length = length;
    map->memory = (char *)mapping + before;
    return 0;
}

int gba_vfio_dma_map(struct gba_vfio_dma *dma, uint64_t address, uint64_t size, int fd,
                     uint64_t offset, int writable)
{
    unsigned at = find(dma, address);
    struct gba_vfio_map map = {.address = address, .size = size};
    uint64_t page = 0;
    int error;

    if (0 != (address | size | offset) % GBA_VFIO_DMA_PAGE)
        return EINVAL;
    if (at < dma->count && dma->map[at].address < address + size)
        return EEXIST;
    if (GBA_VFIO_DMA_MAPS == dma->count)
        return ENOSPC;
    if (fd >= 0 && !is_usable(fd, offset, size, &page))
        return EINVAL;
    if (fd >= 0 && writable) {
        if (size > GBA_VFIO_DMA_BYTES - dma->mapped)
            return ENOSPC;
        error = map_file(&map, fd, offset, page);
        if (0 != error)
            return error;
        dma->mapped += size;
    }
    memmove(&dma->map[at + 1], &dma->map[at], (dma->count - at) * sizeof dma->map[0]);
    dma->map[at] = map;
    dma->count++;
    return 0;
}

static void release(struct gba_vfio_dma *dma, unsigned at)
{
    struct gba_vfio_map *map = &dma->map[at];

    if (map->memory == NULL)
        return;
    (void)munmap(map->mapping, map->length);
    dma->mapped -= map->size;
}

int gba_vfio_dma_unmap(struct gba_vfio_dma *dma, uint64_t address, uint64_t size)
{
    unsigned at = find(dma, address);

    if (at == dma->count || dma->map[at].address != address || dma->map[at].size != size)
        return ENOENT;
    release(dma, at);
    dma->count--;
    memmove(&dma->map[at], &dma->map[at + 1], (dma->count - at) * sizeof dma->map[0]);
    return 0;
}

void gba_vfio_dma_clear(struct gba_vfio_dma *dma)
{
    for (unsigned i = 0; i < dma->count; i++)
        release(dma, i);
    dma->count = 0;
}

int gba_vfio_dma_store(const struct gba_vfio_dma *dma, uint64_t address, uint64_t value)
{
    unsigned at = find(dma, address);
    const struct gba_vfio_map *map = &dma->map[at];

    /* Ranges begin and end at pages, so an aligned word is in one range. */
    if (at == dma->count || address < map->address || 0 != address % sizeof(gba_flag_t))
        return EFAULT;
    if (map->memory == NULL)
        return EFAULT;
    return gba_vfio_guard_store((gba_flag_t *)(void *)(map->memory + (address - map->address)),
                                value)
               ? 0
               : EIO;
}
