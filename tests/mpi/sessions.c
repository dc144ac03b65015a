/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers on communicators of sessions (MPI 4; Open MPI from 5.0 on), most of them without
 * MPI_Init:
 *
 *   sessions MODE FILE
 *
 * MODE only: one session, no MPI_COMM_WORLD. two: a second session while the first one is open.
 * beside: a session beside MPI_Init, and MPI_Finalize first. FILE: zeros, 8 bytes a rank; each rank
 * stores there the round that it enters, so that an early exit is detected. At the end the ranks
 * leave at different times: MPI_Session_finalize does not synchronise.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gba/base/order.h"
#include "tests/limit.h"

#define ROUNDS 200

#if OMPI_MAJOR_VERSION >= 5

static int rank, size;
static gba_word_t *entered;

static void fail(const char *what)
{
    fprintf(stderr, "FAIL sessions: rank %d: %s\n", rank, what);
    abort();
}

/* Unlike test.c's alarm this needs no MPI_COMM_WORLD: the signal's default ends the process. */
static void watchdog_start(void)
{
    const char *seconds = getenv("GBA_TEST_SECONDS");

    alarm(test_limit(seconds == NULL ? 60 : (unsigned)atoi(seconds)));
}

static void entered_map(const char *path)
{
    int file = open(path, O_RDWR);

    entered = file < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (MAP_FAILED == entered)
        fail("cannot map the file");
}

static MPI_Comm comm_of_session(MPI_Session session, const char *tag)
{
    MPI_Group group;
    MPI_Comm comm;

    if (MPI_SUCCESS != MPI_Group_from_session_pset(session, "mpi://WORLD", &group) ||
        MPI_SUCCESS !=
            MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm))
        fail("no communicator of the session");
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    return comm;
}

static void one_round(MPI_Comm comm, uint64_t round, MPI_Request *persistent)
{
    MPI_Request request;

    gba_word_store_relaxed(&entered[rank], round);
    if ((uint64_t)rank == round % 7)
        usleep(500);
    if (round % 3 == 0) {
        MPI_Barrier(comm);
    } else if (round % 3 == 1) {
        MPI_Ibarrier(comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Start(persistent);
        MPI_Wait(persistent, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < size; i++)
        if (gba_word_load_relaxed(&entered[i]) < round)
            fail("left a barrier early");
}

/* first: the number of the first round, higher than all before. Returns that of the last. */
static uint64_t barriers(MPI_Comm comm, uint64_t first)
{
    MPI_Request persistent;

    MPI_Barrier_init(comm, MPI_INFO_NULL, &persistent);
    for (uint64_t round = first; round < first + ROUNDS; round++)
        one_round(comm, round, &persistent);
    MPI_Request_free(&persistent);
    return first + ROUNDS - 1;
}

static MPI_Session session_begin(void)
{
    MPI_Session session;

    if (MPI_SUCCESS != MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session))
        fail("no session");
    return session;
}

static void run(bool second, bool beside)
{
    MPI_Session session = session_begin(), other;
    MPI_Comm comm = comm_of_session(session, "gba.first"), dup, comm2;
    uint64_t round = barriers(comm, 1);

    MPI_Comm_dup(comm, &dup);
    round = barriers(dup, round + 1);
    if (second) {
        other = session_begin();
        comm2 = comm_of_session(other, "gba.second");
        round = barriers(comm2, round + 1);
        MPI_Comm_free(&comm2);
        MPI_Session_finalize(&other);
    }
    if (beside) {
        for (int i = 0; i < ROUNDS; i++)
            MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
    }
    round = barriers(comm, round + 1);
    /* The others must not need a rank that has left. */
    gba_word_store_relaxed(&entered[rank], round + 1);
    MPI_Barrier(dup);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&comm);
    usleep(20000u * (unsigned)rank);
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv)
{
    bool beside = argc > 2 && 0 == strcmp(argv[1], "beside");

    if (argc < 3)
        return 2;
    watchdog_start();
    entered_map(argv[2]);
    if (beside)
        MPI_Init(&argc, &argv);
    run(0 == strcmp(argv[1], "two"), beside);
    if (0 == rank)
        puts("sessions: right");
    return 0;
}

#else

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    puts("skipped: this Open MPI has no sessions");
    return 0;
}

#endif
