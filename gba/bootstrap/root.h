/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The root of a unique id: a thread that admits the members, and then serves their calls.
 *
 * The root is a thread because the process that makes the id need not be a member, and because
 * rank 0 may be in a call of another library while the other members join.
 */
#ifndef GBA_BOOTSTRAP_ROOT_H
#define GBA_BOOTSTRAP_ROOT_H

#include <pthread.h>

#include "gba/bootstrap/backend.h"
#include "gba/bootstrap/wire.h"

/* The connection of one member. All fields except the descriptor are zero before each call. */
struct gba_boot_peer {
    struct gba_descriptor socket; /* -1: not joined yet, or left */
    uint8_t header[GBA_BOOT_REQUEST_BYTES];
    size_t got;    /* bytes of this call's request, header and data */
    bool ready;    /* the request is complete */
    bool replying; /* the reply of the last call is not written yet */
    size_t sent;   /* bytes of that reply, header and data */
};

struct gba_bootstrap_root {
    pthread_t thread;
    struct gba_descriptor listener;       /* -1: all have joined */
    struct gba_descriptor stop, stopping; /* a pipe; the thread ends when `stopping` is closed */
    uint8_t secret[GBA_BOOT_SECRET];
    uint64_t timeout; /* ns; 0: none */
    /* Of the thread only: */
    uint32_t size, present;      /* members: of the job, or 0 if unknown; that are connected */
    struct gba_boot_peer *peers; /* [size] */
    struct pollfd *pollers;      /* [size + 1] */
    /* Between the thread and gba_bootstrap_root_close: */
    pthread_mutex_t lock;
    bool closing; /* start the timeout, even if no member has joined yet */
};

/* Admit the members, until all have joined. Returns false if that failed, and the reason was sent
 * to the members that had joined; or if the thread must end. */
bool gba_boot_join(gba_bootstrap_root_t *root);

/* Serve calls until all members have left, a call has failed, or the thread must end: then members
 * get the rest of a reply, unless they read nothing for a second. */
void gba_boot_serve(gba_bootstrap_root_t *root);

/* Send an error to all connected members that have read their last reply, and wait until they have
 * read it, one second at most. The exchange has ended then. */
void gba_boot_fail(gba_bootstrap_root_t *root, gba_status_t status, const char *text);

/* Print the ranks whose `absent` returns true, as "ranks 2, 5-7 of 8" (len bytes at most). */
void gba_boot_print_ranks(const gba_bootstrap_root_t *root,
                          bool (*absent)(const struct gba_boot_peer *peer), char *text, size_t len);

#endif
