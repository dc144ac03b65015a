/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into the tests, to show that they detect errors: barriers that wait for no PE. */
#include <shmem.h>

/* From Open MPI 5.0 on shmem_sync is a generic macro, and this is the function with these
 * arguments. */
#ifdef shmem_sync
#undef shmem_sync
#define shmem_sync shmem_sync_deprecated
#endif

void shmem_barrier_all(void)
{
}

void shmem_sync_all(void)
{
}

void shmem_barrier(int PE_start, int logPE_stride, int PE_size, long *pSync)
{
    (void)PE_start;
    (void)logPE_stride;
    (void)PE_size;
    (void)pSync;
}

void shmem_sync(int PE_start, int logPE_stride, int PE_size, long *pSync)
{
    (void)PE_start;
    (void)logPE_stride;
    (void)PE_size;
    (void)pSync;
}
