/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fault tolerance (ULFM, Open MPI from 5.0 on, "--with-ft ulfm"): the last rank dies. The barriers
 * of the others end with an error and never hang, as do those of a revoked communicator, and the
 * communicator that MPIX_Comm_shrink makes of it works.
 */
#include <mpi.h>

#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/limit.h"

#if defined(OMPI_HAVE_MPI_EXT_FTMPI) && OMPI_HAVE_MPI_EXT_FTMPI

static int expect(int code, int class1, int class2, const char *what)
{
    int class = MPI_SUCCESS;

    MPI_Error_class(code, &class);
    if (class == class1 || class == class2)
        return 0;
    printf("FAIL ulfm: %s ended with error class %d\n", what, class);
    return 1;
}

/* Barriers until one ends with an error: a rank that has not detected the death yet may complete
 * some. */
static int barrier_until_error(MPI_Comm comm, int nonblocking)
{
    MPI_Request request;
    int code = MPI_SUCCESS;

    while (MPI_SUCCESS == code) {
        if (!nonblocking) {
            code = MPI_Barrier(comm);
            continue;
        }
        code = MPI_Ibarrier(comm, &request);
        if (MPI_SUCCESS == code)
            code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return code;
}

int main(int argc, char **argv)
{
    MPI_Comm comm, shrunk;
    int rank, size, left, failed = 0;

    alarm(test_limit(60));
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 100; i++)
        MPI_Barrier(comm);
    if (rank == size - 1)
        raise(SIGKILL);
    failed += expect(barrier_until_error(comm, 0), MPIX_ERR_PROC_FAILED, MPIX_ERR_REVOKED,
                     "a barrier with a dead member");
    MPIX_Comm_revoke(comm);
    failed += expect(barrier_until_error(comm, 1), MPIX_ERR_REVOKED, MPIX_ERR_REVOKED,
                     "a barrier of a revoked communicator");
    MPIX_Comm_shrink(comm, &shrunk);
    MPI_Comm_size(shrunk, &left);
    for (int i = 0; i < 100; i++)
        failed += expect(MPI_Barrier(shrunk), MPI_SUCCESS, MPI_SUCCESS, "a barrier after the end");
    if (left != size - 1)
        failed += printf("FAIL ulfm: %d members are left\n", left);
    if (rank == 0 && failed == 0)
        puts("ulfm: right");
    fflush(stdout);
    MPI_Finalize();
    return failed != 0;
}

#else

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    puts("skipped: this Open MPI has no fault tolerance");
    return 0;
}

#endif
