/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A barrier over messages right before MPI_Finalize: all signals of a rank that has left arrive.
 *
 * For 5 ranks, with v1. Rank 3 sends its first signal, and then is outside MPI for a while; the
 * others receive all their signals and leave. The signal from rank 1 to rank 3 is the first message
 * between these two. It stays in TCP's queue until rank 3 is back.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

#include "ompi/mca/common/gba/transport.h"
#include "ompi/mca/pml/pml.h"
#include "tests/limit.h"

#define AWAY    3  /* the rank, */
#define SECONDS 2  /* and how long */
#define LIMIT   20 /* seconds: a rank hangs */

static mca_pml_base_module_isend_fn_t isend;

static int isend_and_stay_away(const void *buffer, size_t count, struct ompi_datatype_t *type,
                               int to, int tag, mca_pml_base_send_mode_t mode,
                               struct ompi_communicator_t *comm, struct ompi_request_t **request)
{
    int rc = isend(buffer, count, type, to, tag, mode, comm, request);

    if (tag == GBA_COMMON_TAG_TRANSPORT) {
        mca_pml.pml_isend = isend;
        sleep(SECONDS);
    }
    return rc;
}

int main(int argc, char **argv)
{
    int rank;

    alarm(test_limit(LIMIT));
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    isend = mca_pml.pml_isend;
    if (rank == AWAY)
        mca_pml.pml_isend = isend_and_stay_away;
    MPI_Barrier(MPI_COMM_WORLD);
    printf("leave: rank %d has left\n", rank);
    MPI_Finalize();
    return 0;
}
