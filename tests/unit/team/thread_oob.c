/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/team/thread_oob.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/base/host.h"
#include "gba/transport/segment.h"

static _Thread_local const struct thread_oob_member *this_member;

/* All members make the same calls in the same order, so they fail together. */
static bool call_fails(struct thread_oob_member *self)
{
    return ++self->shared->calls[self->rank] == self->shared->fail_call;
}

static unsigned char *board_of(struct thread_oob_shared *shared, uint32_t rank)
{
    return shared->board + (size_t)rank * THREAD_OOB_BYTES;
}

/* The linker has these in the place of the library's. */
gba_status_t __real_gba_host_get(struct gba_host *host);
gba_status_t __wrap_gba_host_get(struct gba_host *host);
gba_status_t __real_gba_shm_segment_attach(const struct gba_segment_handle *handle,
                                           struct gba_segment *segment);
gba_status_t __wrap_gba_shm_segment_attach(const struct gba_segment_handle *handle,
                                           struct gba_segment *segment);

gba_status_t __wrap_gba_host_get(struct gba_host *host)
{
    if (this_member == NULL || (0 == this_member->host && !this_member->no_host))
        return __real_gba_host_get(host);
    *host = (struct gba_host){{this_member->host}};
    return this_member->no_host ? GBA_ERR_IO : GBA_OK;
}

gba_status_t __wrap_gba_shm_segment_attach(const struct gba_segment_handle *handle,
                                           struct gba_segment *segment)
{
    return this_member != NULL && this_member->no_attach
               ? GBA_ERR_STALE
               : __real_gba_shm_segment_attach(handle, segment);
}

static gba_status_t oob_allgather(void *ctx, const void *in, void *out, size_t bytes)
{
    struct thread_oob_member *self = ctx;
    struct thread_oob_shared *shared = self->shared;

    assert(bytes <= THREAD_OOB_BYTES);
    memcpy(board_of(shared, self->rank), in, bytes);
    pthread_barrier_wait(&shared->barrier);
    for (uint32_t r = 0; r < shared->size; r++)
        memcpy((unsigned char *)out + r * bytes, board_of(shared, r), bytes);
    pthread_barrier_wait(&shared->barrier); /* no write while another member reads */
    return call_fails(self) ? GBA_ERR_OOB : GBA_OK;
}

/* As the exchange of a runtime whose messages are in memory of its own. */
static gba_status_t oob_reserve(void *ctx, size_t bytes)
{
    struct thread_oob_member *self = ctx;

    free(self->reserved);
    self->reserved = 0 == bytes ? NULL : malloc(bytes * self->shared->size);
    return 0 != bytes && self->reserved == NULL ? GBA_ERR_NOMEM : GBA_OK;
}

static gba_status_t oob_min(void *ctx, uint64_t *words, uint32_t count)
{
    struct thread_oob_member *self = ctx;
    struct thread_oob_shared *shared = self->shared;
    const uint64_t *theirs;

    assert(0 < count && count <= GBA_OOB_WORDS);
    memcpy(board_of(shared, self->rank), words, count * sizeof *words);
    pthread_barrier_wait(&shared->barrier);
    for (uint32_t r = 0; r < shared->size; r++) {
        theirs = (const uint64_t *)(const void *)board_of(shared, r);
        for (uint32_t i = 0; i < count; i++)
            words[i] = theirs[i] < words[i] ? theirs[i] : words[i];
    }
    pthread_barrier_wait(&shared->barrier);
    return call_fails(self) ? GBA_ERR_OOB : GBA_OK;
}

static gba_status_t oob_test(void *ctx)
{
    (void)ctx;
    return GBA_OK;
}

gba_status_t thread_oob_barrier(const gba_oob_t *oob)
{
    uint64_t word = 0;

    return oob->min(oob->ctx, &word, 1);
}

static void oob_name_member(void *ctx, uint32_t rank, char *text, size_t len)
{
    (void)ctx;
    snprintf(text, len, "member %u", rank);
}

static void *thread_main(void *arg)
{
    struct thread_oob_member *self = arg;
    gba_oob_t oob = {
        .ctx = self,
        .rank = self->rank,
        .size = self->shared->size,
        .min = oob_min,
        .allgather = oob_allgather,
        .reserve = oob_reserve,
        .test = oob_test,
        .name_member = oob_name_member,
    };

    this_member = self;
    self->body(self, &oob);
    return NULL;
}

void thread_oob_run(uint32_t size, int fail_call,
                    void (*body)(struct thread_oob_member *self, const gba_oob_t *oob), void *arg)
{
    struct thread_oob_shared shared = {.size = size, .fail_call = fail_call};
    struct thread_oob_member member[THREAD_OOB_MAX];
    pthread_t thread[THREAD_OOB_MAX];

    assert(size <= THREAD_OOB_MAX);
    shared.board = calloc(size, THREAD_OOB_BYTES);
    pthread_barrier_init(&shared.barrier, NULL, size);
    for (uint32_t r = 0; r < size; r++) {
        member[r] =
            (struct thread_oob_member){.shared = &shared, .rank = r, .arg = arg, .body = body};
        if (0 != pthread_create(&thread[r], NULL, thread_main, &member[r]))
            abort();
    }
    for (uint32_t r = 0; r < size; r++)
        pthread_join(thread[r], NULL);
    pthread_barrier_destroy(&shared.barrier);
    free(shared.board);
}
