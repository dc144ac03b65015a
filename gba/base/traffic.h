/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a thread has read data, as the kernel counts them. Open MPI receives over TCP in its
 * event library, which does not tell its callers that anything has come.
 */
#ifndef GBA_BASE_TRAFFIC_H
#define GBA_BASE_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether the calling thread has read bytes by read(2) or readv(2) since its last call with the
 * same `count`, which is 0 before the first call. Returns false in the first call, and where the
 * kernel does not count. Makes three system calls and keeps no file open. Thread-safe. Never
 * blocks.
 */
bool gba_traffic_grew(uint64_t *count);

#endif
