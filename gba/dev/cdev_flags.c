/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for release flags. The driver pins whole pages, and one page holds the flags of many
 * groups. Flags therefore come from chunks that stay mapped while the device is open.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "gba/base/log.h"
#include "gba/dev/cdev.h"

_Static_assert(GBA_CDEV_CHUNK_FLAGS == 32, "one bit of `used` for each flag");

void gba_cdev_flags_init(struct gba_cdev_flags *flags)
{
    pthread_mutex_init(&flags->lock, NULL);
    flags->chunks = NULL;
}

void gba_cdev_flags_fini(struct gba_cdev_flags *flags, bool unmap)
{
    struct gba_cdev_chunk *chunk = flags->chunks, *next;

    for (; NULL != chunk; chunk = next) {
        next = chunk->next;
        if (unmap)
            gba_cdev_sys->munmap(chunk->memory, GBA_CDEV_CHUNK_SIZE);
        free(chunk);
    }
    flags->chunks = NULL;
    pthread_mutex_destroy(&flags->lock);
}

static struct gba_cdev_chunk *chunk_new(void)
{
    struct gba_cdev_chunk *chunk = calloc(1, sizeof *chunk);
    void *memory;

    if (NULL == chunk)
        return NULL;
    /* A private mapping: shared neither with the heap nor with another process. */
    memory = gba_cdev_sys->mmap(GBA_CDEV_CHUNK_SIZE, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (MAP_FAILED == memory) {
        gba_log(GBA_LOG_ERROR, "cannot allocate memory for release flags: %s", strerror(errno));
        goto free_chunk;
    }
    /*
     * After a fork, the process that writes to a private page first gets a copy of it. If the
     * parent got the copy, it would poll the copy while the device writes to the pinned original.
     * The child therefore does not get this page.
     */
    if (0 != gba_cdev_sys->madvise(memory, GBA_CDEV_CHUNK_SIZE, MADV_DONTFORK)) {
        gba_log(GBA_LOG_ERROR, "cannot exclude release flags from children of fork: %s",
                strerror(errno));
        goto unmap;
    }
    chunk->memory = memory;
    return chunk;

unmap:
    gba_cdev_sys->munmap(memory, GBA_CDEV_CHUNK_SIZE);
free_chunk:
    free(chunk);
    return NULL;
}

gba_flag_t *gba_cdev_flag_get(struct gba_cdev_flags *flags)
{
    struct gba_cdev_chunk *chunk;
    gba_flag_t *flag = NULL;
    unsigned i;

    pthread_mutex_lock(&flags->lock);
    for (chunk = flags->chunks; NULL != chunk && UINT32_MAX == chunk->used; chunk = chunk->next)
        ;
    if (NULL == chunk) {
        chunk = chunk_new();
        if (NULL == chunk)
            goto unlock;
        chunk->next = flags->chunks;
        flags->chunks = chunk;
    }
    i = (unsigned)__builtin_ctz(~chunk->used);
    chunk->used |= UINT32_C(1) << i;
    flag = (gba_flag_t *)(void *)(chunk->memory + i * GBA_FLAG_STRIDE);
unlock:
    pthread_mutex_unlock(&flags->lock);
    return flag;
}

void gba_cdev_flag_put(struct gba_cdev_flags *flags, gba_flag_t *flag)
{
    uintptr_t address = (uintptr_t)flag;

    pthread_mutex_lock(&flags->lock);
    for (struct gba_cdev_chunk *chunk = flags->chunks; NULL != chunk; chunk = chunk->next) {
        uintptr_t first = (uintptr_t)chunk->memory;

        if (address >= first && address < first + GBA_CDEV_CHUNK_SIZE)
            chunk->used &= ~(UINT32_C(1) << (address - first) / GBA_FLAG_STRIDE);
    }
    pthread_mutex_unlock(&flags->lock);
}
