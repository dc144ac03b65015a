/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into a test: shmem_quiet does nothing. So shmem_barrier behaves as in an Open MPI
 * configured without --enable-oshmem-compat, which leaves the quiet to scoll.
 */
void pshmem_quiet(void);
void shmem_quiet(void);

void pshmem_quiet(void)
{
}

void shmem_quiet(void)
{
}
