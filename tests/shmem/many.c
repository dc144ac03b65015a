/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many barriers in a row, and those inside shmem_malloc and shmem_free:
 *
 *   many [BARRIERS [BLOCKS [contexts]]]
 *
 * contexts: one exists until shmem_finalize, and one until before it.
 */
#include <shmem.h>
#include <string.h>

#include "tests/shmem/test.h"

int main(int argc, char **argv)
{
    const bool contexts = argc > 3;
    shmem_ctx_t destroyed, kept;
    long count, blocks;

    test_begin("many");
    count = test_argument(argc, argv, 1, 100000);
    blocks = test_argument(argc, argv, 2, 200);
    if (contexts)
        TEST_CHECK(0 == shmem_ctx_create(0, &destroyed) && 0 == shmem_ctx_create(0, &kept),
                   "no contexts");
    for (long i = 0; i < count; i++)
        i % 3 == 0 ? shmem_sync_all() : shmem_barrier_all();
    for (long i = 0; i < blocks; i++) {
        size_t bytes = (size_t)(1 + i % 100) * 64;
        char *block = shmem_malloc(bytes);

        /* On return all PEs have the block, so puts to it are allowed at once. */
        TEST_CHECK(block != NULL, "no memory for block %ld", i);
        memset(block, 0, bytes);
        shmem_barrier_all();
        shmem_char_p(&block[bytes - 1], (char)(i % 100 + 1), (test_me + 1) % test_pes);
        shmem_barrier_all();
        TEST_CHECK(block[bytes - 1] == (char)(i % 100 + 1), "block %ld has %d", i,
                   block[bytes - 1]);
        shmem_free(block);
    }
    if (contexts)
        shmem_ctx_destroy(destroyed);
    return test_end();
}
