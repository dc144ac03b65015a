/* SPDX-License-Identifier: BSD-3-Clause */
/* The bootstrap mpi in a program that uses MPI itself. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/bootstrap.h"
#include "gba/stall.h"

static const char help[] =
    "usage: in_mpi MODE\n"
    "\n"
    "As a process that mpirun has started.\n"
    "\n"
    "  caller     MPI is the program's: communicators, and what is refused\n"
    "  before     a bootstrap by PMIx, and then MPI\n"
    "  bootstrap  the bootstrap initialises MPI, and the last bootstrap finalizes it\n";

#define CHECK(what)                                                            \
    do {                                                                       \
        if (!(what)) {                                                         \
            fprintf(stderr, "in_mpi: line %d: not so: %s\n", __LINE__, #what); \
            return 1;                                                          \
        }                                                                      \
    } while (0)

static char message[256];

static gba_status_t begin(const MPI_Comm *comm, gba_bootstrap_t **bootstrap)
{
    const gba_bootstrap_attr_t attr = {.kind = GBA_BOOTSTRAP_MPI, .mpi_comm = comm};

    return gba_bootstrap_init(&attr, bootstrap, message, sizeof message);
}

/* Its members are those of the communicator. The communicator may be freed meanwhile. */
static int same_members(MPI_Comm comm)
{
    const gba_bootstrap_attr_t attr = {.mpi_comm = &comm}; /* which chooses mpi */
    int rank, size, world, expected[64];
    gba_bootstrap_t *bootstrap;
    const gba_oob_t *oob;
    int got[64];

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Allgather(&world, 1, MPI_INT, expected, 1, MPI_INT, comm);
    CHECK(GBA_OK == gba_bootstrap_init(&attr, &bootstrap, message, sizeof message));
    MPI_Comm_free(&comm);
    oob = gba_bootstrap_oob(bootstrap);
    CHECK((uint32_t)rank == oob->rank && (uint32_t)size == oob->size);
    CHECK(GBA_OK == oob->allgather(oob->ctx, &world, got, sizeof world));
    for (int i = 0; i < size; i++)
        CHECK(expected[i] == got[i]);
    gba_bootstrap_destroy(bootstrap);
    return 0;
}

static int refused(MPI_Comm comm, const char *text)
{
    gba_bootstrap_t *bootstrap;

    CHECK(GBA_ERR_PARAM == begin(&comm, &bootstrap));
    CHECK(strstr(message, text) != NULL);
    return 0;
}

static int caller(void)
{
    MPI_Comm null = MPI_COMM_NULL, half, reverse, between;
    int rank, size, finalized = 1, sum, wrong = 0;
    gba_bootstrap_t *bootstrap;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size >= 2 && size <= 64);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reverse);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &between);
    wrong |= refused(null, "MPI_COMM_NULL") | refused(between, "intercommunicator");
    wrong |= same_members(half) | same_members(reverse);
    MPI_Finalized(&finalized);
    CHECK(!finalized);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(size * (size - 1) / 2 == sum);
    /* One that is left only after MPI_Finalize. */
    CHECK(GBA_OK == begin(NULL, &bootstrap));
    MPI_Comm_free(&between);
    MPI_Finalize();
    gba_bootstrap_destroy(bootstrap);
    CHECK(GBA_ERR_UNSUPPORTED == begin(NULL, &bootstrap));
    CHECK(strstr(message, "finalized") != NULL);
    return wrong;
}

static int bootstrap(void)
{
    gba_bootstrap_t *first, *second;
    int yes = 0;

    CHECK(GBA_OK == begin(NULL, &first) && GBA_OK == begin(NULL, &second));
    MPI_Initialized(&yes);
    CHECK(yes);
    gba_bootstrap_destroy(first);
    MPI_Finalized(&yes);
    CHECK(!yes);
    CHECK(GBA_OK == gba_bootstrap_barrier(second));
    gba_bootstrap_destroy(second);
    MPI_Finalized(&yes);
    CHECK(yes);
    return 0;
}

/* Reports of the plugins find the status page of a process that has joined by PMIx before. */
static int before(void)
{
    const gba_bootstrap_attr_t attr = {.kind = GBA_BOOTSTRAP_PMIX};
    const char *name = getenv("PMIX_NAMESPACE"), *number = getenv("PMIX_RANK"), *job;
    gba_bootstrap_t *bootstrap;
    uint32_t rank = UINT32_MAX;

    CHECK(name != NULL && number != NULL);
    CHECK(GBA_OK == gba_bootstrap_init(&attr, &bootstrap, message, sizeof message));
    MPI_Init(NULL, NULL);
    job = gba_where_own(&rank);
    CHECK(job != NULL && 0 == strncmp(job, name, 63));
    CHECK(strtoul(number, NULL, 10) == rank);
    MPI_Finalize();
    gba_bootstrap_destroy(bootstrap);
    return 0;
}

int main(int argc, char **argv)
{
    if (2 == argc && 0 == strcmp(argv[1], "--help"))
        return fputs(help, stdout) < 0;
    if (2 == argc && 0 == strcmp(argv[1], "caller"))
        return caller();
    if (2 == argc && 0 == strcmp(argv[1], "before"))
        return before();
    if (2 == argc && 0 == strcmp(argv[1], "bootstrap"))
        return bootstrap();
    fputs(help, stderr);
    return 2;
}
