/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of the programs: start and end of a test, and the watchdog. */
#define _GNU_SOURCE
#include "tests/mpi/test.h" /* first: the extensions need mpi.h */

#include <mpi-ext.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gba/base/order.h"
#include "tests/limit.h"
#include "tests/mpi/proof.h"

#define EXIT_HANG 99

const char test_directory[] = "mpi";

int test_rank, test_size;

static const char *program = "test";

/* The data of the watchdog's handler: a pointer, and the prepared start of a line, because a
 * handler must not call printf. */
static gba_word_t step;
static char hang_line[128];
static uint64_t stalled_round;

void test_step(const char *what)
{
    gba_word_store_relaxed(&step, (uint64_t)(uintptr_t)what);
}

/* One line in one write, because lines of several ranks could mix otherwise. */
static void on_alarm(int signal_number)
{
    char line[256];
    size_t length = strlen(hang_line), more;
    const char *what = (const char *)(uintptr_t)gba_word_load_relaxed(&step);
    uint64_t round = test_proof_all_arrived();

    (void)signal_number;
    /* A barrier that may still end gets some time more, so that it is not taken for a proof. */
    if (round != 0 && stalled_round == 0) {
        stalled_round = round;
        alarm(test_limit(5));
        return;
    }
    if (round != 0 && round == stalled_round)
        what = "a barrier at which all ranks have arrived";
    more = strlen(what);
    if (more > sizeof line - length - 1)
        more = sizeof line - length - 1;
    memcpy(line, hang_line, length);
    memcpy(line + length, what, more);
    line[length + more] = '\n';
    /* A failure to write cannot be reported. */
    if (write(STDERR_FILENO, line, length + more + 1) < 0)
        _exit(EXIT_HANG);
    _exit(EXIT_HANG);
}

static void watchdog_start(void)
{
    struct sigaction action = {.sa_handler = on_alarm};
    unsigned seconds = test_limit((unsigned)test_environment("GBA_TEST_SECONDS", 60));

    snprintf(hang_line, sizeof hang_line, "FAIL %s: rank %d hangs (%u s): ", program, test_rank,
             seconds);
    sigaction(SIGALRM, &action, NULL);
    alarm(seconds);
}

/* The fast boxes of the BTL sm of 6.0.0rc2 do not permit threads: contrib/HACKING.md, "Faults of
 * Open MPI". A value that is set stays. */
static void avoid_fast_boxes(int thread_level)
{
#if OMPI_MAJOR_VERSION >= 6
    if (thread_level == MPI_THREAD_MULTIPLE)
        TEST_CHECK(setenv("OMPI_MCA_btl_sm_fbox_max", "0", 0) == 0, "no memory");
#endif
    (void)thread_level;
}

void test_begin(int *argc, char ***argv, int thread_level)
{
    int provided;
    const char *slash = strrchr((*argv)[0], '/');

    program = slash != NULL ? slash + 1 : (*argv)[0];
    test_step("MPI_Init_thread");
    watchdog_start(); /* MPI_Init can hang, too */
    avoid_fast_boxes(thread_level);
    MPI_Init_thread(argc, argv, thread_level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &test_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &test_size);
    watchdog_start();
    TEST_CHECK(provided >= thread_level, "no thread level %d", thread_level);

    test_step("the exchange of the seed");
    test_seed_job = test_environment("GBA_TEST_SEED", (uint64_t)time(NULL));
    MPI_Bcast(&test_seed_job, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (test_rank == 0)
        printf("%s: %d ranks, seed %llu\n", program, test_size, (unsigned long long)test_seed_job);
    fflush(stdout);
    test_proof_init();
}

int test_end(void)
{
    if (test_rank == 0)
        printf("%s: right\n", program);
    fflush(stdout);
    test_step("MPI_Finalize");
    MPI_Finalize();
    return 0;
}

void test_abort(const char *text)
{
    fprintf(stderr, "FAIL %s: rank %d: %s\n", program, test_rank, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

void test_chain(void)
{
    int token = 1;

    if (test_rank + 1 < test_size)
        MPI_Recv(&token, 1, MPI_INT, test_rank + 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (test_rank > 0)
        MPI_Send(&token, 1, MPI_INT, test_rank - 1, 1, MPI_COMM_WORLD);
}

void test_threads(void *(*work)(void *), int first, int count)
{
    struct test_thread of[TEST_SLOTS];
    pthread_t thread[TEST_SLOTS];

    TEST_CHECK(count <= TEST_SLOTS, "too many threads");
    for (int i = 0; i < count; i++) {
        of[i].number = first + i;
        MPI_Comm_dup(MPI_COMM_WORLD, &of[i].comm);
    }
    for (int i = 0; i < count; i++)
        TEST_CHECK(pthread_create(&thread[i], NULL, work, &of[i]) == 0, "no thread");
    for (int i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < count; i++)
        MPI_Comm_free(&of[i].comm);
}

bool test_barrier_init(MPI_Comm comm, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
#if OMPI_MAJOR_VERSION >= 5
    return MPI_Barrier_init(comm, MPI_INFO_NULL, request) == MPI_SUCCESS;
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ) && OMPI_HAVE_MPI_EXT_PCOLLREQ
    return MPIX_Barrier_init(comm, MPI_INFO_NULL, request) == MPI_SUCCESS;
#else
    return false;
#endif
}
