/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Another user of the operator: swap [CORES [ROUNDS]]. PEs 0 and 1, 2 and 3 and so on are pairs. In
 * odd rounds the first of a pair sends its blocks, in even rounds the second one; they arrive in
 * reverse order, and each byte is checked.
 */
#include "operator.h"

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct kv_shape shape = {.blocks = 6, .heads = 2, .tokens = 8, .dim = 33};

/* The content of a block of K; that of V is inverted. */
static int8_t content(int pe, int round, int block)
{
    return (int8_t)((pe * 31 + round * 7 + block * 3) % 127);
}

static int wrong_bytes(const struct kv_cache *cache, int sender, int round)
{
    const size_t bytes = kv_block_bytes(&shape);
    int wrong = 0;

    for (int b = 0; b < shape.blocks; b++) {
        const int8_t value = content(sender, round, shape.blocks - 1 - b);

        for (size_t i = (size_t)b * bytes; i < (size_t)(b + 1) * bytes; i++)
            wrong += cache->k[i] != value || cache->v[i] != ~value;
    }
    return wrong;
}

/* Returns the number of wrong bytes. */
static int run_round(struct kv_shuffle *op, struct kv_cache cache, struct kv_pair *table, int round)
{
    const int me = shmem_my_pe(), pes = shmem_n_pes();
    const size_t bytes = kv_block_bytes(&shape);
    int32_t source[6], destination[6];
    const char *message;

    for (int p = 0; p < pes; p++) {
        table[p].partner = p ^ 1;
        table[p].role = (p ^ 1) >= pes             ? KV_NONE
                        : p % 2 == (round + 1) % 2 ? KV_SENDER
                                                   : KV_RECEIVER;
    }
    for (int b = 0; b < shape.blocks; b++) {
        memset(cache.k + (size_t)b * bytes, content(me, round, b), bytes);
        memset(cache.v + (size_t)b * bytes, ~content(me, round, b), bytes);
        source[b] = b;
        destination[b] = shape.blocks - 1 - b;
    }
    message = kv_shuffle_compute(op, cache, table, source, destination, shape.blocks);
    if (message) {
        fprintf(stderr, "swap: PE %d, round %d: %s\n", me, round, message);
        return 1;
    }
    return table[me].role == KV_RECEIVER ? wrong_bytes(&cache, me ^ 1, round) : 0;
}

int main(int argc, char **argv)
{
    const int cores = argc > 1 ? atoi(argv[1]) : 4, rounds = argc > 2 ? atoi(argv[2]) : 50;
    struct kv_shuffle *op = NULL;
    struct kv_pair *table;
    struct kv_cache cache;
    int wrong = 0;

    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return puts("usage: swap [CORES [ROUNDS]]") < 0;
    pool_shmem_init(1, argv, cores);
    table = calloc((size_t)shmem_n_pes(), sizeof *table);
    cache.k = shmem_malloc(kv_cache_bytes(&shape));
    cache.v = shmem_malloc(kv_cache_bytes(&shape));
    if (cores == 1 || (cores > 0 && cores <= POOL_CORES_MAX && cores % 2 == 0))
        op = kv_shuffle_create(&shape, 2, cores, NULL);
    if (!table || !cache.k || !cache.v || !op) {
        fprintf(stderr, "swap: no memory, or not %d cores\n", cores);
        shmem_global_exit(2);
    }
    for (int round = 1; round <= rounds && wrong == 0; round++)
        wrong = run_round(op, cache, table, round);
    if (wrong > 0) {
        fprintf(stderr, "swap: PE %d: %d bytes are wrong\n", shmem_my_pe(), wrong);
        shmem_global_exit(1);
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        printf("verified %d rounds of %d cores on %d PEs\n", rounds, cores, shmem_n_pes());
    kv_shuffle_destroy(op);
    shmem_free(cache.v);
    shmem_free(cache.k);
    free(table);
    shmem_finalize();
    return 0;
}
