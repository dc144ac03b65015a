/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the memory that a virtual machine shares. */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "gba/base/order.h"
#include "sim/switch/vfio/dma.h"

void gba_vfio_dma_init(struct gba_vfio_dma *dma)
{
    dma->count = 0;
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

/* Whether the file holds the range. *page: the size of its pages, which can be huge. */
static bool holds(int fd, uint64_t offset, uint64_t size, uint64_t *page)
{
    struct statfs system;
    struct stat file;

    if (0 != fstatfs(fd, &system) || 0 != fstat(fd, &file))
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
    if (fd >= 0 && !holds(fd, offset, size, &page))
        return EINVAL;
    if (fd >= 0 && writable) {
        error = map_file(&map, fd, offset, page);
        if (0 != error)
            return error;
    }
    memmove(&dma->map[at + 1], &dma->map[at], (dma->count - at) * sizeof dma->map[0]);
    dma->map[at] = map;
    dma->count++;
    return 0;
}

static void release(const struct gba_vfio_map *map)
{
    if (map->memory != NULL)
        (void)munmap(map->mapping, map->length);
}

int gba_vfio_dma_unmap(struct gba_vfio_dma *dma, uint64_t address, uint64_t size)
{
    unsigned at = find(dma, address);

    if (at == dma->count || dma->map[at].address != address || dma->map[at].size != size)
        return ENOENT;
    release(&dma->map[at]);
    dma->count--;
    memmove(&dma->map[at], &dma->map[at + 1], (dma->count - at) * sizeof dma->map[0]);
    return 0;
}

void gba_vfio_dma_clear(struct gba_vfio_dma *dma)
{
    for (unsigned i = 0; i < dma->count; i++)
        release(&dma->map[i]);
    dma->count = 0;
}

bool gba_vfio_dma_store(const struct gba_vfio_dma *dma, uint64_t address, uint64_t value)
{
    unsigned at = find(dma, address);
    const struct gba_vfio_map *map = &dma->map[at];

    /* Ranges begin and end at pages, so an aligned word is in one range. */
    if (at == dma->count || address < map->address || 0 != address % sizeof(gba_flag_t) ||
        map->memory == NULL)
        return false;
    gba_flag_store_release((gba_flag_t *)(void *)(map->memory + (address - map->address)), value);
    return true;
}
