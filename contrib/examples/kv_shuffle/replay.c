/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay.h"

#include <errno.h>
#include <shmem.h>
#include <string.h>

/* Symmetric, because it is static: what PE 0 sends to all. */
static long verdict; /* the number of moves, or -1 */

/* All PEs get the value of PE 0. The second barrier keeps the next value from coming too early. */
static long from_pe_0(long value)
{
    long received;

    if (shmem_my_pe() == 0)
        for (int pe = 0; pe < shmem_n_pes(); pe++)
            shmem_long_p(&verdict, value, pe);
    shmem_barrier_all();
    received = verdict;
    shmem_barrier_all();
    return received;
}

static int cannot(const char *do_what, const char *path)
{
    fprintf(stderr, "kv_shuffle: cannot %s %s: %s\n", do_what, path, strerror(errno));
    return -1;
}

static int read_file(struct kv_tables *tables, const char *path, int pes, int blocks, int rounds,
                     uint64_t seed)
{
    char message[KV_MESSAGE_BYTES];
    FILE *file = fopen(path, "r");
    int status;

    if (!file)
        return cannot("read", path);
    status = kv_tables_read(tables, file, path, pes, blocks, rounds, seed, message);
    if (status != 0)
        fprintf(stderr, "kv_shuffle: %s\n", message);
    fclose(file);
    return status;
}

int kv_replay_read(struct kv_tables *tables, const char *path, int pes, int blocks, int rounds,
                   uint64_t seed)
{
    const size_t firsts = ((size_t)rounds + 1) * sizeof *tables->first;
    struct kv_tables local = {.rounds = 0};
    long count = -1;
    size_t moves;

    *tables = (struct kv_tables){.rounds = rounds};
    if (shmem_my_pe() == 0 && read_file(&local, path, pes, blocks, rounds, seed) == 0)
        count = local.first[rounds];
    count = from_pe_0(count);
    if (count < 0)
        return -1;
    moves = (size_t)count * sizeof *tables->move;
    tables->first = shmem_malloc(firsts);
    tables->move = shmem_malloc(moves + 1);
    if (!tables->first || !tables->move) {
        if (shmem_my_pe() == 0)
            fprintf(stderr, "kv_shuffle: no symmetric memory for the %ld moves of %s\n", count,
                    path);
        kv_replay_fini(tables);
        kv_tables_fini(&local);
        return -1;
    }
    if (shmem_my_pe() == 0)
        for (int pe = 0; pe < pes; pe++) {
            shmem_putmem(tables->first, local.first, firsts, pe);
            if (moves > 0)
                shmem_putmem(tables->move, local.move, moves, pe);
        }
    shmem_barrier_all();
    kv_tables_fini(&local);
    return 0;
}

void kv_replay_fini(struct kv_tables *tables)
{
    if (tables->move)
        shmem_free(tables->move);
    if (tables->first)
        shmem_free(tables->first);
    *tables = (struct kv_tables){.rounds = 0};
}

int kv_replay_create(FILE **file, const char *path)
{
    long status = 0;

    *file = NULL;
    if (shmem_my_pe() == 0) {
        *file = fopen(path, "w");
        if (!*file)
            status = cannot("write", path);
    }
    return (int)from_pe_0(status);
}
