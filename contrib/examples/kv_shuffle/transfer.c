/* SPDX-License-Identifier: BSD-3-Clause */
#include "transfer.h"

#include <shmem.h>
#include <string.h>

static size_t slice_bytes_max(const struct kv_transfer *transfer)
{
    const size_t slices = (size_t)transfer->slices;
    const size_t bytes = (transfer->end - transfer->begin + slices - 1) / slices;

    return bytes > 0 ? bytes : 1; /* there may be more cores than bytes */
}

static struct kv_count *alloc_counts(void)
{
    struct kv_count *counts = shmem_align(sizeof *counts, 2 * sizeof *counts);

    if (counts)
        memset(counts, 0, 2 * sizeof *counts);
    return counts;
}

int kv_transfer_init(struct kv_transfer *transfer, const struct kv_shape *shape, int slices)
{
    transfer->shape = *shape;
    transfer->slices = slices;
    for (int i = 0; i < 2; i++)
        transfer->buffer[i] = shmem_malloc(2 * slice_bytes_max(transfer));
    transfer->filled = alloc_counts();
    transfer->freed = alloc_counts();
    if (transfer->buffer[0] && transfer->buffer[1] && transfer->filled && transfer->freed)
        return 0;
    kv_transfer_fini(transfer);
    return -1;
}

void kv_transfer_fini(struct kv_transfer *transfer)
{
    void *const symmetric[] = {transfer->freed, transfer->filled, transfer->buffer[1],
                               transfer->buffer[0]};

    for (size_t i = 0; i < sizeof symmetric / sizeof *symmetric; i++)
        if (symmetric[i])
            shmem_free(symmetric[i]);
    memset(transfer, 0, sizeof *transfer);
}

/*
 * A slice of K and one of V leave together. They are packed first, so that a buffer is registered
 * once with the network, wherever the blocks are.
 */
static void put_slice(struct kv_transfer *transfer, struct kv_cache cache,
                      const struct kv_move *move, size_t offset, size_t bytes)
{
    const size_t block = kv_block_bytes(&transfer->shape);
    const size_t from = (size_t)move->from * block + offset, to = (size_t)move->to * block + offset;
    int8_t *buffer = transfer->buffer[transfer->next];

    if (transfer->caches != KV_ONLY_V)
        memcpy(buffer, cache.k + from, bytes);
    if (transfer->caches != KV_ONLY_K)
        memcpy(buffer + bytes, cache.v + from, bytes);
    if (transfer->caches != KV_ONLY_V)
        shmem_putmem_nbi(cache.k + to, buffer, bytes, move->receiver);
    if (transfer->caches != KV_ONLY_K)
        shmem_putmem_nbi(cache.v + to, buffer + bytes, bytes, move->receiver);
    transfer->next = 1 - transfer->next;
}

/*
 * The receiver has acknowledged what was sent from this buffer. So the slices have arrived, the
 * network has read the buffer, and the buffer may be filled. No quiet: that would wait for the
 * other buffer, too.
 */
static void wait_freed(struct kv_transfer *transfer, int i, int receiver)
{
    pool_await(transfer->pool, transfer->core, &transfer->freed[i].value, transfer->sent[i],
               receiver, "freed");
}

void kv_transfer_send(struct kv_transfer *transfer, struct kv_cache cache,
                      const struct kv_move *move)
{
    const size_t slice = slice_bytes_max(transfer), end = transfer->end;

    for (size_t offset = transfer->begin; offset < end; offset += slice) {
        const int i = transfer->next;

        wait_freed(transfer, i, move->receiver);
        put_slice(transfer, cache, move, offset, end - offset < slice ? end - offset : slice);
        shmem_fence(); /* the slices arrive before the count */
        shmem_long_atomic_inc(&transfer->filled[i].value, move->receiver);
        transfer->sent[i]++;
    }
}

void kv_transfer_complete(struct kv_transfer *transfer, int receiver)
{
    wait_freed(transfer, transfer->next, receiver);
    wait_freed(transfer, 1 - transfer->next, receiver);
    transfer->next = 0;
}

/*
 * The fences order all slices of a sender, so the buffers arrive alternately. Before a slice is
 * acknowledged, its buffer is filled once and no more. This is checked here, because over most
 * transports a put has read the buffer when it returns, so the result would be right.
 */
const char *kv_transfer_receive(struct kv_transfer *transfer, int sender, int blocks)
{
    const size_t part = transfer->end - transfer->begin, slice = slice_bytes_max(transfer);
    const size_t slices = (size_t)blocks * ((part + slice - 1) / slice);
    const char *wrong = NULL;

    for (size_t s = 0; s < slices; s++) {
        const int i = (int)(s % 2);

        transfer->received[i]++;
        pool_await(transfer->pool, transfer->core, &transfer->filled[i].value,
                   transfer->received[i], sender, "filled");
        if (shmem_long_test(&transfer->filled[i].value, SHMEM_CMP_GT, transfer->received[i]))
            wrong = "a buffer was filled again before the receiver had acknowledged its slices";
        shmem_long_atomic_inc(&transfer->freed[i].value, sender);
    }
    return wrong;
}
