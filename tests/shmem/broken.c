/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into the tests, to show that they find what is wrong: barriers that wait for nobody. */
#include <shmem.h>

void shmem_barrier_all(void)
{
}

void shmem_sync_all(void)
{
}

void shmem_barrier(int start, int log_stride, int size, long *sync_words)
{
    (void)start;
    (void)log_stride;
    (void)size;
    (void)sync_words;
}

void shmem_sync(int start, int log_stride, int size, long *sync_words)
{
    (void)start;
    (void)log_stride;
    (void)size;
    (void)sync_words;
}
