/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the memory that a virtual machine shares. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "sim/switch/vfio_dma.h"
#include "sim/switch/vfio_guard.h"

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

/* Whether the file is in memory, and holds the range. */
static bool is_usable(int fd, uint64_t offset, uint64_t size)
{
    struct statfs system;
    struct stat file;

    if (0 != fstatfs(fd, &system) || 0 != fstat(fd, &file) || !S_ISREG(file.st_mode))
        return false;
    if (TMPFS_MAGIC != system.f_type && HUGETLBFS_MAGIC != system.f_type)
        return false;
    return (uint64_t)file.st_size >= size && offset <= (uint64_t)file.st_size - size;
}

int gba_vfio_dma_map(struct gba_vfio_dma *dma, uint64_t address, uint64_t size, int fd,
                     uint64_t offset, int writable)
{
    unsigned at = find(dma, address);
    void *memory = NULL;

    if (0 != (address | size | offset) % GBA_VFIO_DMA_PAGE)
        return EINVAL;
    if (at < dma->count && dma->map[at].address < address + size)
        return EEXIST;
    if (GBA_VFIO_DMA_MAPS == dma->count)
        return ENOSPC;
    if (fd >= 0 && !is_usable(fd, offset, size))
        return EINVAL;
    if (fd >= 0 && writable) {
        if (size > GBA_VFIO_DMA_BYTES - dma->mapped)
            return ENOSPC;
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
        if (MAP_FAILED == memory)
            return errno;
        (void)madvise(memory, size, MADV_DONTDUMP); /* a core file of the daemon is not of guests */
        dma->mapped += size;
    }
    memmove(&dma->map[at + 1], &dma->map[at], (dma->count - at) * sizeof dma->map[0]);
    dma->map[at] = (struct gba_vfio_map){address, size, memory};
    dma->count++;
    return 0;
}

static void release(struct gba_vfio_dma *dma, unsigned at)
{
    struct gba_vfio_map *map = &dma->map[at];

    if (NULL == map->memory)
        return;
    (void)munmap(map->memory, map->size);
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
    char *memory;

    /* Ranges begin and end at pages, so an aligned word is in one range. */
    if (at == dma->count || address < map->address || 0 != address % sizeof(gba_flag_t))
        return EFAULT;
    if (NULL == map->memory)
        return EFAULT;
    memory = map->memory;
    return gba_vfio_guard_store((gba_flag_t *)(void *)(memory + (address - map->address)), value)
               ? 0
               : EIO;
}
