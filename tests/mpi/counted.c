/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators on both sides of agree_after: blocking and nonblocking barriers in random order,
 * the same on all ranks, while the ranks differ in speed. The ranks agree on a path in one of
 * either kind, and nonblocking ones may be outstanding then.
 *
 *   counted AFTER [COMMUNICATORS]
 *
 * AFTER: 1 more than agree_after. At the end rank 0 prints how many of its barriers came before the
 * agreements.
 */
#include <stdio.h>

#include "tests/mpi/test.h"

#define MORE        20 /* barriers after the count */
#define OUTSTANDING 3  /* nonblocking barriers at most */

static MPI_Request requests[OUTSTANDING];
static int outstanding;

/* Complete the nonblocking barriers; the proof's round is that of the last one. */
static void complete(const struct test_proof *proof)
{
    MPI_Waitall(outstanding, requests, MPI_STATUSES_IGNORE);
    outstanding = 0;
    test_proof_look(proof, proof->round, OUTSTANDING);
}

static void use(MPI_Comm comm, long after, uint32_t id)
{
    uint64_t ours = test_seed(id), mine = test_seed((uint64_t)(test_rank + 1) << 32 | id);
    struct test_proof proof;

    test_proof_begin(&proof, comm, "a counted communicator", 0, id);
    proof.ahead = OUTSTANDING;
    for (long i = 0; i < after + MORE; i++) {
        bool blocking = test_random(&ours) % 3 == 0;

        test_delay(&mine);
        if (blocking) {
            test_proof_barrier(&proof);
        } else {
            test_proof_enter(&proof);
            MPI_Ibarrier(comm, &requests[outstanding++]);
        }
        if (outstanding == OUTSTANDING || test_random(&ours) % 4 == 0)
            complete(&proof);
    }
    complete(&proof);
    test_proof_end(&proof);
}

static MPI_Comm make(long i)
{
    MPI_Comm comm;

    if (i % 3 == 0)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else
        MPI_Comm_split(MPI_COMM_WORLD, i % 3 == 1 ? 0 : test_rank % 2, -test_rank, &comm);
    return comm;
}

int main(int argc, char **argv)
{
    long after, count;

    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    after = test_argument(argc, argv, 1, 1) - 1;
    count = test_argument(argc, argv, 2, 9);
    test_step("barriers before and after the agreement");
    for (long i = 0; i < count; i++) {
        MPI_Comm comm = make(i);

        use(comm, after, (uint32_t)i + 1);
        MPI_Comm_free(&comm);
    }
    if (test_rank == 0)
        printf("barriers before the agreements: %ld\n", count * after);
    return test_end();
}
