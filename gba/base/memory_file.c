/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE          /* memfd_create */
#define _FILE_OFFSET_BITS 64 /* a driver's offsets have up to 44 bits, in 32-bit processes, too */
#include "gba/base/memory_file.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gba/base/order.h"

/* MFD_NOEXEC_SEAL of Linux 6.3; older headers lack it. */
#define NOEXEC_SEAL 0x0008u

int gba_memory_file(const char *name)
{
    int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | NOEXEC_SEAL);
    int error;

    if (file < 0 && EINVAL == errno) /* a kernel before Linux 6.3 rejects the flag */
        file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    /* memfd_create makes the file readable and writable for all users. */
    if (file < 0 || 0 == fchmod(file, S_IRUSR | S_IWUSR))
        return file;
    error = errno;
    close(file);
    errno = error;
    return -1;
}

/* Whether the process can still make that many mappings. Pages of alternating protection are a
 * mapping each. Shared, because the kernel would merge private pages with other mappings, and could
 * then not unmap them alone. */
static bool maps_left(unsigned count)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = count * page;
    char *pages = mmap(NULL, bytes, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    bool left = MAP_FAILED != pages;

    for (size_t at = page; left && at < bytes; at += 2 * page)
        left = 0 == mprotect(pages + at, page, PROT_READ);
    if (MAP_FAILED != pages)
        (void)munmap(pages, bytes);
    return left;
}

void *gba_map_shared(size_t bytes, int protection, int flags, int file, uint64_t offset)
{
    static gba_word_t allowed; /* without a further look; two threads may take the same one */
    uint64_t left = gba_word_load_relaxed(&allowed);

    if (0 == left && maps_left(GBA_MAPS_LOOK + GBA_MAPS_SPARE))
        left = GBA_MAPS_LOOK;
    if (0 == left) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    gba_word_store_relaxed(&allowed, left - 1);
    return mmap(NULL, bytes, protection, MAP_SHARED | flags, file, (off_t)offset);
}
