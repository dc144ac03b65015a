/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The offset of a rank's clock from that of rank 0. In a round trip this rank reads its clock,
 * sends a message, receives rank 0's reading, and reads its clock again. Rank 0 has read its clock
 * between the two readings, so the error of their mean is half of the round trip at most. The
 * shortest of many round trips gives the smallest error. The calls are PMPI_*, because a library
 * that the program has for its own calls must not get those of the recorder.
 */
#include "contrib/perf/measure.h"

#define TRIPS 50
#define TAG   7

static int same_host_as_root(void)
{
    MPI_Comm host;
    int first = perf_job.rank;

    PMPI_Comm_split_type(perf_job.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    PMPI_Bcast(&first, 1, MPI_INT, 0, host);
    PMPI_Comm_free(&host);
    return first == 0;
}

static void answer(int rank)
{
    for (int i = 0; i < TRIPS; i++) {
        int64_t now;

        PMPI_Recv(&now, 1, MPI_INT64_T, rank, TAG, perf_job.comm, MPI_STATUS_IGNORE);
        now = perf_now();
        PMPI_Send(&now, 1, MPI_INT64_T, rank, TAG, perf_job.comm);
    }
}

static void ask(int64_t *offset, int64_t *error)
{
    int64_t shortest = INT64_MAX;

    for (int i = 0; i < TRIPS; i++) {
        int64_t began = perf_now(), remote = began, ended;

        PMPI_Send(&remote, 1, MPI_INT64_T, 0, TAG, perf_job.comm);
        PMPI_Recv(&remote, 1, MPI_INT64_T, 0, TAG, perf_job.comm, MPI_STATUS_IGNORE);
        ended = perf_now();
        if (ended - began < shortest) {
            shortest = ended - began;
            *offset = began + (ended - began) / 2 - remote;
            *error = (ended - began + 1) / 2;
        }
    }
}

void perf_clock_offset(int64_t *offset, int64_t *error)
{
    int same = same_host_as_root();

    *offset = *error = 0;
    for (int rank = 1; rank < perf_job.size; rank++) {
        if (perf_job.rank == 0)
            answer(rank);
        else if (perf_job.rank == rank)
            ask(offset, error);
    }
    if (same && *offset <= *error && -*offset <= *error)
        *offset = *error = 0;
}
