/* SPDX-License-Identifier: BSD-3-Clause */
/* gba_perf_mpi: the barriers of MPI. */
#include "contrib/perf/measure.h" /* first: the extensions need mpi.h */

#include <mpi-ext.h>

const char perf_program[] = "gba_perf_mpi";

static MPI_Request persistent;

void perf_init(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
}

void perf_fini(void)
{
    MPI_Finalize();
}

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void ibarrier(void)
{
    MPI_Request request;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Open MPI 4.1 has persistent barriers as an extension. */
static bool persistent_init(void)
{
#if OMPI_MAJOR_VERSION >= 5
    return MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &persistent) == MPI_SUCCESS;
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ) && OMPI_HAVE_MPI_EXT_PCOLLREQ
    return MPIX_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &persistent) == MPI_SUCCESS;
#else
    return false;
#endif
}

static void persistent_run(void)
{
    MPI_Start(&persistent);
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
}

static void persistent_fini(void)
{
    MPI_Request_free(&persistent);
}

static void dup_free(void)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_free(&comm);
}

static void dup_barrier_free(void)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
}

const struct perf_call perf_calls[] = {
    {.name = "barrier", .run = barrier},
    {.name = "ibarrier", .run = ibarrier, .nonblocking = true},
    {.name = "persistent", .init = persistent_init, .run = persistent_run, .fini = persistent_fini},
    {.name = "dup", .run = dup_free, .heavy = true, .no_floor = true},
    {.name = "dup_barrier", .run = dup_barrier_free, .heavy = true, .no_floor = true},
    {.name = "served", .services = perf_services_mpi},
    {.name = NULL},
};
