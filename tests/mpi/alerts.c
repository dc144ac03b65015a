/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Situations in which the plugin must not print an unrequested line. The runner checks the output.
 *
 *   alerts pairs    a communicator for every two ranks, and no barrier of more
 *   alerts partial  lines that the program has not finished, before MPI_Init and each barrier
 */
#include <stdio.h>
#include <string.h>

#include "tests/mpi/test.h"

#define ROUNDS 10

static void pairs(void)
{
    struct test_proof proof;
    MPI_Comm pair;

    test_step("pairs");
    /* Rank 0 of the job is not the first of its pair. */
    MPI_Comm_split(MPI_COMM_WORLD, test_rank / 2, -test_rank, &pair);
    test_proof_begin(&proof, pair, "pair", 0, 1);
    for (int i = 0; i < ROUNDS; i++)
        test_proof_barrier(&proof);
    test_proof_end(&proof);
    MPI_Comm_free(&pair);
}

/* Both streams; each is forwarded in its own order. */
static void unfinished(void)
{
    printf("unfinished");
    fflush(stdout);
    fprintf(stderr, "unfinished");
}

static void partial(void)
{
    struct test_proof proof;

    test_step("unfinished lines");
    test_proof_begin(&proof, MPI_COMM_WORLD, "world", 0, 1);
    for (int i = 0; i < ROUNDS; i++) {
        unfinished();
        test_proof_barrier(&proof);
    }
    test_proof_end(&proof);
    printf("\n");
}

int main(int argc, char **argv)
{
    if (argc > 1 && 0 == strcmp(argv[1], "partial"))
        unfinished(); /* MPI_Init may print, too */
    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    TEST_CHECK(argc > 1, "pairs or partial?");
    if (0 == strcmp(argv[1], "pairs"))
        pairs();
    else
        partial();
    return test_end();
}
