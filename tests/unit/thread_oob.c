/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/thread_oob.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/base/host.h"
#include "gba/agree/agree_nodes.h"
#include "gba/agree/plan.h"

/* All members make the same calls in the same order, so they fail together. */
static bool call_fails(struct thread_oob_member *self)
{
    return ++self->shared->calls[self->rank] == self->shared->fail_call;
}

static unsigned char *board_of(struct thread_oob_shared *shared, uint32_t rank)
{
    return shared->board + (size_t)rank * THREAD_OOB_BYTES;
}

static gba_status_t oob_barrier(void *ctx)
{
    struct thread_oob_member *self = ctx;

    pthread_barrier_wait(&self->shared->barrier);
    return call_fails(self) ? GBA_ERR_OOB : GBA_OK;
}

/* A member's information begins with the host of this process; no other exchanged data does. */
static void sent_change(const struct thread_oob_member *self, unsigned char *bytes, size_t len)
{
    struct gba_member_info *info = (struct gba_member_info *)(void *)bytes;
    struct gba_host real;

    if (sizeof *info != len || GBA_OK != gba_host_get(&real) ||
        0 != memcmp(&info->host, &real, sizeof real) || (0 == self->host && !self->no_host))
        return;
    info->host = (struct gba_host){{self->host}};
    if (self->no_host)
        info->status = GBA_ERR_IO;
}

static void received_change(const struct thread_oob_member *self, void *all, size_t len)
{
    struct gba_node_info *info = all;

    if (sizeof *info != len || !self->no_attach)
        return;
    for (uint32_t r = 0; r < self->shared->size; r++)
        info[r].handle.cookie[0] += 0 != info[r].handle.cookie[0]; /* no node leader: no memory */
}

static gba_status_t oob_allgather(void *ctx, const void *in, void *out, size_t bytes)
{
    struct thread_oob_member *self = ctx;
    struct thread_oob_shared *shared = self->shared;

    assert(bytes <= THREAD_OOB_BYTES);
    memcpy(board_of(shared, self->rank), in, bytes);
    sent_change(self, board_of(shared, self->rank), bytes);
    pthread_barrier_wait(&shared->barrier);
    for (uint32_t r = 0; r < shared->size; r++)
        memcpy((unsigned char *)out + r * bytes, board_of(shared, r), bytes);
    received_change(self, out, bytes);
    pthread_barrier_wait(&shared->barrier); /* no write while another member reads */
    return call_fails(self) ? GBA_ERR_OOB : GBA_OK;
}

static gba_status_t oob_bcast(void *ctx, void *buffer, size_t bytes, uint32_t root)
{
    struct thread_oob_member *self = ctx;
    struct thread_oob_shared *shared = self->shared;

    assert(bytes <= THREAD_OOB_BYTES);
    if (self->rank == root)
        memcpy(board_of(shared, root), buffer, bytes);
    pthread_barrier_wait(&shared->barrier);
    memcpy(buffer, board_of(shared, root), bytes);
    pthread_barrier_wait(&shared->barrier);
    return call_fails(self) ? GBA_ERR_OOB : GBA_OK;
}

static gba_status_t oob_allreduce_min(void *ctx, int64_t mine, int64_t *least)
{
    struct thread_oob_member *self = ctx;
    int64_t all[THREAD_OOB_MAX] = {0};
    gba_status_t status = oob_allgather(ctx, &mine, all, sizeof mine);

    *least = all[0];
    for (uint32_t r = 1; r < self->shared->size; r++)
        *least = all[r] < *least ? all[r] : *least;
    return status;
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
        .bcast = oob_bcast,
        .allreduce_min = oob_allreduce_min,
        .allgather = oob_allgather,
        .barrier = oob_barrier,
        .name_member = oob_name_member,
    };

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
