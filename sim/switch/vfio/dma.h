/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory that a virtual machine monitor shares: ranges of bus addresses, each a part of a file
 * or without a file. Not thread-safe on one table.
 *
 * An address is looked up for each store. No pointer outlives the call that returns it, so nothing
 * is stored after DMA_UNMAP has returned.
 */
#ifndef GBA_SIM_SWITCH_VFIO_DMA_H
#define GBA_SIM_SWITCH_VFIO_DMA_H

#include <stdbool.h>
#include <stdint.h>

#define GBA_VFIO_DMA_MAPS 512u  /* maximum number of ranges of a client: max_dma_maps */
#define GBA_VFIO_DMA_PAGE 4096u /* addresses, sizes and offsets are multiples of it */

struct gba_vfio_map {
    uint64_t address, size; /* bytes */
    char *memory;           /* NULL: the range has no file, or the device may not write to it */
    void *mapping;          /* around the memory, in pages of the file */
    uint64_t length;        /* of the mapping, bytes */
};

struct gba_vfio_dma {
    unsigned count;
    struct gba_vfio_map map[GBA_VFIO_DMA_MAPS]; /* by address, ascending */
};

/* Set an empty table. */
void gba_vfio_dma_init(struct gba_vfio_dma *dma);

/*
 * Add a range. address, size: address + size does not wrap, and size is not 0. fd: a file that
 * holds the range from `offset` on; -1: none. The caller keeps the descriptor, and can close it at
 * once. writable: the device may write to the range.
 *
 * The monitor is trusted to leave the file as long as it is. A store to a page that is gone raises
 * SIGBUS, which ends the daemon.
 *
 * Returns 0; EEXIST: the range overlaps another one; EINVAL: not aligned, or the file is too short;
 * ENOSPC: too many ranges; or an error of mmap.
 */
int gba_vfio_dma_map(struct gba_vfio_dma *dma, uint64_t address, uint64_t size, int fd,
                     uint64_t offset, int writable);

/* Remove the range that was added with this address and size. Returns 0 or ENOENT. */
int gba_vfio_dma_unmap(struct gba_vfio_dma *dma, uint64_t address, uint64_t size);

/* Remove all ranges. */
void gba_vfio_dma_clear(struct gba_vfio_dma *dma);

/* Make a release store of 8 bytes, as device.md requires [REL-3, HOST-4]. address: any number.
 * Returns false if the table has no writable range of a file there, or the address is not a
 * multiple of 8; then nothing is stored. */
bool gba_vfio_dma_store(const struct gba_vfio_dma *dma, uint64_t address, uint64_t value);

#endif
