/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The keys of jobs. A TCP client with the key of the key file gets a random key for its job, which
 * it hands to the other processes of the job. A key is valid while the connection that asked for it
 * is open, and for a time after it.
 *
 * That time is for processes that connect late: the first process may end before the last one
 * connects, or its host may fail. It is longer than the time in which a client gives up to connect
 * (10 s), and short enough that a key which was read from an old core file is of no use.
 *
 * Pure but for the random numbers; no thread, no clock. For the thread of daemon.h.
 */
#ifndef GBA_SIM_SWITCH_NET_JOB_KEYS_H
#define GBA_SIM_SWITCH_NET_JOB_KEYS_H

#include "sim/switch/core/protocol.h"

/* Keys at a time, those of ended connections included. More than ports, so that a job per port has
 * one and short jobs can follow each other. */
#define GBA_JOB_KEYS 1024u

/* Results of gba_job_key_make that are no key. */
enum { GBA_JOB_KEYS_FULL = -1, GBA_JOB_KEYS_NO_RANDOM = -2 };

struct gba_job_key {
    uint8_t secret[GBA_SWITCH_SECRET_BYTES];
    uint64_t end; /* ns of the caller's clock; 0: no key; UINT64_MAX: its connection is open */
    uint64_t job;
    uint32_t user;
};

/* All zero: no key. */
struct gba_job_keys {
    struct gba_job_key key[GBA_JOB_KEYS];
};

/* Make a key for that job of that user: a random one, or `secret` if it is not NULL. now: ns,
 * monotonic, not 0. Returns its index, or GBA_JOB_KEYS_FULL or _NO_RANDOM (the system has no random
 * numbers). */
int gba_job_key_make(struct gba_job_keys *keys, uint32_t user, uint64_t job, uint64_t now,
                     const uint8_t *secret);

/* The connection that asked for the key has ended: the key is valid for `seconds` more. */
void gba_job_key_end(struct gba_job_keys *keys, int index, uint64_t now, uint32_t seconds);

/* Find the valid key with that secret. Returns NULL if there is none. The time does not depend on
 * the bytes of the keys. */
const struct gba_job_key *gba_job_key_find(const struct gba_job_keys *keys,
                                           const uint8_t secret[GBA_SWITCH_SECRET_BYTES],
                                           uint64_t now);

#endif
