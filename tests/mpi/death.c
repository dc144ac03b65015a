/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device dies, and the program continues: device_path injects the fault, and the program proves
 * that no rank leaves a barrier early.
 *
 *   death [MODE [ROUNDS]]
 *
 * 1: barriers of both kinds with delays, until long after the death
 * 2: a rank that has left the fatal round waits in MPI_Recv for the last rank, which sends after it
 * 3: a rank that has left the fatal round frees the communicator, and then waits as in 2
 * 4: a rank that has left the fatal round is in MPI_Finalize
 * 6: several communicators, some of them made after the death
 * 7: rank 0 enters the fatal round when all others have notified each other, with a nonblocking
 *    barrier, and then stays out of MPI until they have left
 * 8: as 7, but the notifications have arrived before rank 0 calls MPI_Ibarrier
 * 9: only nonblocking barriers from the second one on, until the last but one
 * 12: nonblocking barriers of a communicator with the only group, during ROUNDS barriers of
 *     MPI_COMM_WORLD
 *
 * In modes 7 and 8 the device dies at the first arrival after ROUNDS (die_arrival). In modes 2 to 4
 * the fatal round is the one after ROUNDS (die_after=ROUNDS&die_release=1: the device releases only
 * rank 0).
 */
#include "tests/mpi/test.h"

#include <stdlib.h>
#include <time.h>

#define MORE 20 /* barriers after that */

/* Up to the fatal round, which is included. */
static void fatal_round(struct test_proof *proof, long rounds)
{
    for (long i = 0; i <= rounds; i++)
        test_proof_barrier(proof);
}

/*
 * Which barriers are nonblocking is drawn for each slot and id: with one sequence for all, some
 * seeds (1 of 240) gave no communicator a blocking barrier among its first four, so none of them
 * agreed on a path, and no device died. A purpose above all ranks keeps this apart from `mine`.
 */
static void delayed(MPI_Comm comm, long rounds, int slot, uint32_t id)
{
    uint64_t mine = test_seed((uint64_t)test_rank + 1);
    uint64_t ours = test_seed(UINT64_C(1) << 32 | (uint64_t)slot << 24 | id);
    struct test_proof proof;

    test_proof_begin(&proof, comm, "barriers of a dying device", slot, id);
    for (long i = 0; i < rounds; i++) {
        test_delay(&mine);
        if (test_random(&ours) % 4 == 0)
            test_proof_ibarrier(&proof);
        else
            test_proof_barrier(&proof);
    }
    test_proof_end(&proof);
}

/* One second: the others have notified each other by then, or the test shows nothing. */
static void arrive_late(bool progress)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    int flag;

    for (int i = 0; i < 1000; i++) {
        if (progress)
            MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        nanosleep(&nap, NULL);
    }
}

static void last(long rounds, bool progress)
{
    struct test_proof proof;
    MPI_Request request;

    test_proof_begin(&proof, MPI_COMM_WORLD, "the last to come", 0, 1);
    for (long i = 0; i < rounds; i++)
        test_proof_barrier(&proof);
    test_step("a nonblocking barrier that the last to come leaves MPI after");
    if (test_rank == 0)
        arrive_late(progress);
    test_proof_enter(&proof);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    test_proof_look(&proof, proof.round, 1);
    test_proof_enter(&proof); /* has left it */
    if (test_rank == 0)
        test_proof_await(&proof, proof.round);
    MPI_Barrier(MPI_COMM_WORLD);
    test_proof_end(&proof);
}

/* The members agree on another path before one of them. */
static void only_nonblocking(long rounds)
{
    uint64_t mine = test_seed((uint64_t)test_rank + 1);
    struct test_proof proof;

    test_proof_begin(&proof, MPI_COMM_WORLD, "nonblocking barriers only", 0, 1);
    test_proof_barrier(&proof);
    for (long i = 0; i < rounds; i++) {
        if (i % 8 == 0)
            test_delay(&mine);
        test_proof_ibarrier(&proof);
    }
    test_proof_barrier(&proof);
    test_proof_end(&proof);
}

/* The members agree on another path while they wait in barriers of another communicator. */
static void meanwhile(long rounds)
{
    const struct timespec nap = {.tv_nsec = 5000000};
    struct test_proof proof, world;
    MPI_Request requests[MORE];
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    test_proof_begin(&proof, comm, "nonblocking barriers", 0, 1);
    test_proof_begin(&world, MPI_COMM_WORLD, "barriers meanwhile", 1, 1);
    test_proof_barrier(&proof);
    test_proof_barrier(&world);
    for (int i = 0; i < MORE; i++) {
        test_proof_enter(&proof);
        MPI_Ibarrier(comm, &requests[i]);
    }
    for (long i = 0; i < rounds; i++) {
        if (i % test_size == test_rank)
            nanosleep(&nap, NULL);
        test_proof_barrier(&world);
    }
    MPI_Waitall(MORE, requests, MPI_STATUSES_IGNORE);
    test_proof_look(&proof, proof.round, 1);
    test_proof_end(&world);
    test_proof_end(&proof);
    MPI_Comm_free(&comm);
}

static void several(long rounds)
{
    MPI_Comm dup, half, late;

    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_split(MPI_COMM_WORLD, test_rank % 2, 0, &half);
    for (uint32_t id = 1; id <= (uint32_t)rounds; id++) {
        test_step("several communicators");
        delayed(MPI_COMM_WORLD, 3, 1, id);
        delayed(half, 2, 2, id);
        delayed(dup, 4, 3, id);
        MPI_Comm_dup(half, &late);
        delayed(late, 2, 4, id);
        MPI_Comm_free(&late);
    }
    MPI_Comm_free(&dup);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    struct test_proof proof;
    MPI_Comm comm;
    long mode, rounds;

    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    mode = test_argument(argc, argv, 1, 1);
    rounds = test_argument(argc, argv, 2, 100);
    test_step("barriers");
    switch (mode) {
    case 1:
        delayed(MPI_COMM_WORLD, rounds, 0, 1);
        break;
    case 2:
        test_proof_begin(&proof, MPI_COMM_WORLD, "world", 0, 1);
        fatal_round(&proof, rounds);
        test_step("a receive from the rank that is stuck");
        test_chain();
        for (int i = 0; i < MORE; i++)
            test_proof_barrier(&proof);
        test_proof_end(&proof);
        break;
    case 3:
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        test_proof_begin(&proof, comm, "a communicator", 0, 1);
        fatal_round(&proof, rounds);
        MPI_Comm_free(&comm);
        test_step("a receive from the rank that is stuck");
        test_chain();
        proof.comm = MPI_COMM_WORLD;
        test_proof_end(&proof);
        delayed(MPI_COMM_WORLD, MORE, 1, 1);
        break;
    case 4:
        test_proof_begin(&proof, MPI_COMM_WORLD, "world", 0, 1);
        fatal_round(&proof, rounds);
        break;
    case 7:
    case 8:
        last(rounds, mode == 8);
        break;
    case 9:
        only_nonblocking(rounds);
        break;
    case 12:
        meanwhile(rounds);
        break;
    default:
        several(rounds);
    }
    return test_end();
}
