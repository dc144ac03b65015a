/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An empty message with the tag of software barriers, ahead of a signal: rank 0 sends it to rank 1,
 * whose next barrier must fail. Only its length distinguishes it from a signal.
 */
#include "tests/mpi/test.h"

#include "ompi/mca/common/gba/transport.h"
#include "ompi/mca/pml/pml.h"

#define BEFORE 5

int main(int argc, char **argv)
{
    struct test_proof proof;

    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    test_step("barriers");
    test_proof_begin(&proof, MPI_COMM_WORLD, "world", 0, 1);
    for (int i = 0; i < BEFORE; i++)
        test_proof_barrier(&proof);
    test_step("a stray message");
    if (test_rank == 0)
        TEST_CHECK(MCA_PML_CALL(send(NULL, 0, MPI_BYTE, 1, GBA_COMMON_TAG_TRANSPORT,
                                     MCA_PML_BASE_SEND_STANDARD, MPI_COMM_WORLD)) == OMPI_SUCCESS,
                   "it could not be sent");
    test_proof_barrier(&proof);
    test_proof_end(&proof);
    return test_end();
}
