/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/thread_oob.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/base/host.h"
#include "gba/agree/agree.h"

/* All members make the same calls in the same order, so they fail together. */
static bool call_fails(struct thread_oob_member *self)
{
    return ++self->shared->calls[self->rank] == self->shared->fail_call;
}

static unsigned char *board_of(struct thread_oob_shared *shared, uint32_t rank)
{
    return shared->board + (size_t)rank * THREAD_OOB_BYTES;
}

/* The real host of this process is in the facts and in the layout, and nowhere else. */
static bool has_real_host(const void *bytes)
{
    struct gba_host real;

    return GBA_OK == gba_host_get(&real) && 0 == memcmp(bytes, &real, sizeof real);
}

static void words_change(const struct thread_oob_member *self, uint64_t *words, uint32_t count)
{
    if (GBA_FACTS != count || !has_real_host(words) || (0 == self->host && !self->no_host))
        return;
    for (int i = 0; i < 4; i++) {
        words[GBA_FACT_HOST + i] = 0 == i ? self->host : 0;
        words[GBA_FACT_HOST + 4 + i] = ~words[GBA_FACT_HOST + i];
    }
    if (self->no_host)
        words[GBA_FACT_MEMORY] = gba_refusal_word(GBA_ERR_IO, self->rank);
}

static void record_change(const struct thread_oob_member *self, void *bytes, size_t len)
{
    struct gba_member_info *info = bytes;

    if (sizeof *info == len && has_real_host(&info->host) && 0 != self->host)
        info->host = (struct gba_host){{self->host}};
}

/* The memory of a node, as received: one word of the cookie is another one. */
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
    record_change(self, board_of(shared, self->rank), bytes);
    pthread_barrier_wait(&shared->barrier);
    for (uint32_t r = 0; r < shared->size; r++)
        memcpy((unsigned char *)out + r * bytes, board_of(shared, r), bytes);
    received_change(self, out, bytes);
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
    words_change(self, words, count);
    memcpy(board_of(shared, self->rank), words, count * sizeof *words);
    pthread_barrier_wait(&shared->barrier);
    for (uint32_t r = 0; r < shared->size; r++) {
        theirs = (const uint64_t *)(const void *)board_of(shared, r);
        for (uint32_t i = 0; i < count; i++)
            words[i] = theirs[i] < words[i] ? theirs[i] : words[i];
    }
    if (self->no_attach && GBA_HANDLES_WORDS == count)
        words[1]++;
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
