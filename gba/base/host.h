/* SPDX-License-Identifier: BSD-3-Clause */
/* The identity of a host: it decides which processes can share memory. */
#ifndef GBA_BASE_HOST_H
#define GBA_BASE_HOST_H

#include <stdint.h>

#include "gba/gba.h"

/*
 * The identity of a host. It is equal for two processes if and only if they run on one boot of one
 * machine, in the same IPC, PID and user namespaces, and as the same user. Only such processes can
 * open each other's memory: the kernel compares users and capabilities within one user namespace,
 * and denies /proc/PID/fd of a process in another one. Two containers therefore count as two hosts.
 * So do two ranks if each has its own user namespace.
 */
struct gba_host {
    uint64_t word[4];
};

/*
 * Get the host of this process. The first call reads /proc. Every later call returns the same
 * value, also in a child of fork.
 * host: set on GBA_OK.
 * Returns GBA_OK; GBA_ERR_IO: /proc is missing or belongs to another PID namespace; or
 * GBA_ERR_NO_FILES, _NOMEM or _PERM. Only the first call logs this. Thread-safe. Not collective.
 */
gba_status_t gba_host_get(struct gba_host *host);

#endif
