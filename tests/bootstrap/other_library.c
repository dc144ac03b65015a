/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded: what another MPI and another OpenSHMEM return. */
#include <stdio.h>

int MPI_Get_library_version(char *version, int *len);
void shmem_info_get_name(char *name);

int MPI_Get_library_version(char *version, int *len)
{
    *len = sprintf(version, "MPICH Version:      4.0.2\nMPICH Release date: unreleased");
    return 0;
}

void shmem_info_get_name(char *name)
{
    (void)sprintf(name, "Sandia OpenSHMEM");
}
