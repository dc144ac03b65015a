/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* memfd_create */
#include "gba/base/memory_file.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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
