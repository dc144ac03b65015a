/* SPDX-License-Identifier: BSD-3-Clause */
/* The status of an error of the operating system. */
#ifndef GBA_BASE_SYSTEM_STATUS_H
#define GBA_BASE_SYSTEM_STATUS_H

#include <errno.h>

#include "gba/types.h"

/* The status of an errno that has no particular meaning where it occurs. Pure. */
static inline gba_status_t gba_system_status(int error)
{
    switch (error) {
    case EMFILE:
    case ENFILE:
        return GBA_ERR_NO_FILES;
    case ENOMEM:
    case ENOBUFS:
    case ENOSPC:
    case EFBIG: /* RLIMIT_FSIZE */
        return GBA_ERR_NOMEM;
    case EACCES:
    case EPERM:
        return GBA_ERR_PERM;
    default:
        return GBA_ERR_IO;
    }
}

#endif
