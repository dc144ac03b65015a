/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job starts another one, and both run barriers together.
 *
 *   spawn [CHILDREN]
 */
#include "tests/mpi/test.h"

#define ROUNDS 100

/* Barriers on the communicator of both jobs. */
static void together(MPI_Comm inter, bool child)
{
    MPI_Comm merged;
    int one = 1, size, sum;

    test_step("the intercommunicator of two jobs");
    for (int i = 0; i < ROUNDS; i++)
        MPI_Barrier(inter);
    MPI_Intercomm_merge(inter, child, &merged);
    MPI_Comm_size(merged, &size);
    test_step("the communicator of two jobs");
    for (int i = 0; i < ROUNDS; i++)
        MPI_Barrier(merged);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, merged);
    TEST_CHECK(sum == size, "the sum is %d, not %d", sum, size);
    test_referee(merged, ROUNDS);
    MPI_Comm_free(&merged);
}

/* Meanwhile another, separate job. */
static void alone(void)
{
    struct test_proof proof;

    test_step("the world beside another job");
    test_proof_begin(&proof, MPI_COMM_WORLD, "world", 0, 1);
    for (int i = 0; i < ROUNDS; i++)
        test_proof_barrier(&proof);
    test_proof_end(&proof);
}

int main(int argc, char **argv)
{
    MPI_Comm inter;
    long children;

    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    children = test_argument(argc, argv, 1, 2);
    MPI_Comm_get_parent(&inter);
    if (inter == MPI_COMM_NULL) {
        alone();
        test_step("MPI_Comm_spawn");
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, (int)children, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                       &inter, MPI_ERRCODES_IGNORE);
        together(inter, false);
    } else {
        together(inter, true);
    }
    alone();
    test_step("MPI_Comm_disconnect");
    MPI_Comm_disconnect(&inter);
    return test_end();
}
