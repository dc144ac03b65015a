/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A software barrier that fails on one PE, between (pretended) hosts: PE 1 sends PE 0 a message
 * that is no signal, and never enters the barrier. No PE may leave it: the job has to end.
 */
#include <mpi.h>
#include <shmem.h>

#include "tests/shmem/test.h"

extern MPI_Comm
    oshmem_comm_world; /* the communicator of the signals, and the tag of scoll/gba's set.c */

int main(void)
{
    struct test_set all = {0};
    unsigned char far = 200; /* rounds ahead */

    test_begin("stray");
    all.size = test_pes;
    for (int i = 0; i < 20; i++)
        test_round(&all, 0, false);
    if (test_me == 1) {
        MPI_Send(&far, 1, MPI_BYTE, 0, 3 << 20 | test_pes, oshmem_comm_world);
        for (int come = 0;;) /* accept the puts of the others, until the job is ended */
            MPI_Iprobe(0, 1, MPI_COMM_WORLD, &come, MPI_STATUS_IGNORE);
    }
    test_round(&all, 0, false);
    test_fail("the barrier has ended");
}
