/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Members of a team as threads of one process, and the exchange between them, for tests of
 * collective calls. A member can be on another host.
 */
#ifndef GBA_TESTS_THREAD_OOB_H
#define GBA_TESTS_THREAD_OOB_H

#include <pthread.h>

#include "gba/gba.h"

#define THREAD_OOB_MAX 64

struct thread_oob_shared {
    pthread_barrier_t barrier;
    uint32_t size;
    unsigned char *board; /* size * THREAD_OOB_BYTES: the data that each member shows the others */
    int fail_call;        /* the n-th call of every member fails; 0: none */
    int calls[THREAD_OOB_MAX];
};

#define THREAD_OOB_BYTES 4096

struct thread_oob_member {
    struct thread_oob_shared *shared;
    uint32_t rank;
    void *reserved; /* memory, during an agreement */
    void *arg;
    void (*body)(struct thread_oob_member *self, const gba_oob_t *oob);
    /* The body may set these. They are facts of this thread in all calls of libgba. */
    uint64_t host;  /* its host is this one; 0: the real one */
    bool no_host;   /* it failed to read its host: GBA_ERR_IO */
    bool no_attach; /* the shared memory of its node is not found: GBA_ERR_STALE */
};

/* Run body in `size` threads, with ranks 0 to size - 1, and wait for all of them. */
void thread_oob_run(uint32_t size, int fail_call,
                    void (*body)(struct thread_oob_member *self, const gba_oob_t *oob), void *arg);

/* A barrier of the members, over the exchange. */
gba_status_t thread_oob_barrier(const gba_oob_t *oob);

#endif
