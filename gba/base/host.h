/* SPDX-License-Identifier: BSD-3-Clause */
/* Which processes can share memory: the identity of a host, as a barrier sees it. */
#ifndef GBA_BASE_HOST_H
#define GBA_BASE_HOST_H

#include <stdint.h>

#include "gba/gba.h"

/*
 * Equal for two processes if and only if they run on one boot of one machine, in the same IPC and
 * PID namespaces and as the same user: only then does memory that one of them makes mean anything
 * to the other. So two containers are two hosts.
 */
struct gba_host {
    uint64_t word[4];
};

/* The host of this process. Returns GBA_OK, or GBA_ERR_IO (no usable /proc; logged).
 * Thread-safe. */
gba_status_t gba_host_get(struct gba_host *host);

#endif
