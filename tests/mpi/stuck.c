/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A barrier that does not end, because the last rank does not enter it.
 *
 *   stuck HOW [ROUNDS [dup|inter]]
 *
 * After ROUNDS barriers (of a copy of MPI_COMM_WORLD, or of an
 * intercommunicator of its first rank and the others) the last rank is stopped by SIGSTOP (1: the
 * caller continues it), or killed by SIGKILL (2); or it stops rank 0 in that barrier, and then
 * itself (3). Or it stops itself when it has begun that barrier, a nonblocking one (4). If the rank
 * continues, so does the test, with more barriers. Or it waits in a barrier of MPI_COMM_WORLD (5),
 * or in none, while a second thread of each rank is in one barrier of MPI_COMM_WORLD after the
 * other (6). Or it stops rank 0 in that barrier, and enters it (7).
 *
 * The environment: GBA_TEST_STUCK=fork: before that barrier each rank forks a child that lives on.
 * GBA_TEST_STUCK=files: from there on no rank can open a file. GBA_TEST_STUCK=queued: the last of
 * the ROUNDS barriers is a nonblocking one.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "tests/mpi/test.h"

#define MORE 20

static MPI_Comm inter(void)
{
    MPI_Comm group, both;

    MPI_Comm_split(MPI_COMM_WORLD, test_rank > 0, 0, &group);
    MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, test_rank == 0, 0, &both);
    MPI_Comm_set_name(both, "both\ngroups");
    MPI_Comm_free(&group);
    return both;
}

/* Returns the child, or 0. mpirun would wait for the output of a child. */
static pid_t fork_or_fill(const char *what)
{
    const struct rlimit few = {.rlim_cur = 256, .rlim_max = 256};
    pid_t child;

    if (what != NULL && 0 == strcmp(what, "files")) {
        TEST_CHECK(0 == setrlimit(RLIMIT_NOFILE, &few), "setrlimit");
        while (dup(STDIN_FILENO) >= 0)
            ;
    }
    if (what == NULL || 0 != strcmp(what, "fork"))
        return 0;
    child = fork();
    TEST_CHECK(child >= 0, "fork");
    if (child > 0)
        return child;
    for (int file = 0; file <= STDERR_FILENO; file++)
        close(file);
    alarm(60); /* if the case does not end it */
    for (;;)
        pause();
}

/* Others wait so long for rank 0 that their status pages show it. */
static void *more_barriers(void *unused)
{
    const struct timespec late = {.tv_nsec = 200000000};

    for (;;) {
        if (test_rank == 0)
            nanosleep(&late, NULL);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return unused;
}

int main(int argc, char **argv)
{
    struct test_proof proof;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm comm = MPI_COMM_WORLD;
    long how, rounds, first = getpid();
    const char *what = getenv("GBA_TEST_STUCK");
    bool queued;
    pthread_t thread;
    pid_t child;

    test_begin(&argc, &argv,
               argc > 1 && '6' == argv[1][0] ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
    how = test_argument(argc, argv, 1, 1);
    rounds = test_argument(argc, argv, 2, 5);
    test_step("barriers");
    if (argc > 3 && 0 == strcmp(argv[3], "inter"))
        comm = inter();
    else if (argc > 3)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Bcast(&first, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    test_proof_begin(&proof, comm, "world", 0, 1);
    queued = what != NULL && 0 == strcmp(what, "queued");
    for (long i = queued; i < rounds; i++)
        test_proof_barrier(&proof);
    if (queued)
        MPI_Ibarrier(comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    child = fork_or_fill(what);
    TEST_CHECK(how != 6 || 0 == pthread_create(&thread, NULL, more_barriers, NULL), "no thread");
    if (test_rank == test_size - 1 && (how == 3 || how == 7)) {
        sleep(1); /* until rank 0 waits */
        kill((pid_t)first, SIGSTOP);
    }
    if (how == 4)
        MPI_Ibarrier(comm, &request);
    if (test_rank == test_size - 1 && how == 5)
        MPI_Barrier(MPI_COMM_WORLD);
    else if (test_rank == test_size - 1 && how == 6)
        pthread_join(thread, NULL); /* for ever */
    else if (test_rank == test_size - 1 && how != 7)
        raise(how == 2 ? SIGKILL : SIGSTOP);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (long i = 0; i < MORE; i++)
        test_proof_barrier(&proof);
    test_proof_end(&proof);
    if (child > 0)
        kill(child, SIGKILL);
    if (argc > 3)
        MPI_Comm_free(&comm);
    return test_end();
}
