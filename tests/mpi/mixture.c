/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators that make blocking, nonblocking and persistent barriers in one random order, while
 * device_path and other parameters change their paths. Each rank completes its barriers when it
 * likes.
 *
 *   mixture COMMS STEPS [MODE]
 *
 * MODE 1, the default: some communicators are freed with barriers in progress. 2: none is. Open MPI
 * 4.1's own nonblocking barriers crash in mode 1.
 */
#include "tests/mpi/test.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW 10

struct subject {
    MPI_Comm comm;
    struct test_proof proof;
    int slot, count;
    MPI_Request requests[WINDOW];
    uint64_t round[WINDOW];
    MPI_Request persistent;
    bool persists, active;
    struct test_proof started;
};

static uint32_t ids = 1;
static bool frees;

static void begin(struct subject *s, int slot)
{
    memset(s, 0, sizeof *s);
    s->slot = slot;
    if (slot % 2)
        MPI_Comm_split(MPI_COMM_WORLD, 0, -test_rank, &s->comm);
    else
        MPI_Comm_dup(MPI_COMM_WORLD, &s->comm);
    test_proof_begin(&s->proof, s->comm, "a mixture", 2 * slot, ids);
    s->proof.ahead = 4 * WINDOW;
    test_proof_begin(&s->started, s->comm, "a persistent one", 2 * slot + 1, ids++);
    s->persists = test_barrier_init(s->comm, &s->persistent);
}

/* Complete all barriers in progress. */
static void complete(struct subject *s)
{
    for (int i = 0; i < s->count; i++) {
        MPI_Wait(&s->requests[i], MPI_STATUS_IGNORE);
        test_proof_look(&s->proof, s->round[i], s->proof.ahead);
    }
    s->count = 0;
    if (s->active) {
        MPI_Wait(&s->persistent, MPI_STATUS_IGNORE);
        test_proof_look(&s->started, s->started.round, 2);
        s->active = false;
    }
}

/* early: with barriers in progress. */
static void end(struct subject *s, bool early)
{
    MPI_Comm comm = s->comm;

    early &= frees;
    if (early)
        MPI_Comm_free(&comm);
    complete(s);
    if (s->persists)
        MPI_Request_free(&s->persistent);
    s->proof.comm = s->started.comm = MPI_COMM_WORLD;
    if (!early)
        MPI_Comm_free(&comm);
    test_proof_end(&s->proof);
    test_proof_end(&s->started);
}

/* ours: the same on all ranks, which make the same calls. */
static void step(struct subject *s, uint64_t ours, uint64_t *mine)
{
    int flag;

    switch (ours % 16) {
    case 0:
    case 1:
    case 2:
        test_proof_barrier(&s->proof);
        break;
    case 3:
    case 4:
    case 5:
        complete(s);
        break;
    case 6:
        if (s->persists) {
            if (s->active)
                complete(s);
            test_proof_enter(&s->started);
            MPI_Start(&s->persistent);
            s->active = true;
        }
        break;
    case 7:
        if (ours / 16 % 16 == 0) {
            end(s, ours / 256 % 2);
            begin(s, s->slot);
        }
        break;
    default:
        if (s->count == WINDOW)
            complete(s);
        test_proof_enter(&s->proof);
        s->round[s->count] = s->proof.round;
        MPI_Ibarrier(s->comm, &s->requests[s->count++]);
    }
    if (s->count > 0 && test_random(mine) % 4 == 0)
        MPI_Test(&s->requests[test_random(mine) % (uint64_t)s->count], &flag, MPI_STATUS_IGNORE);
    if (test_random(mine) % 8 == 0)
        test_delay(mine);
    if (test_random(mine) % 16 == 0)
        complete(s);
}

int main(int argc, char **argv)
{
    struct subject *subjects;
    long comms, steps;
    uint64_t ours, mine;

    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    comms = test_argument(argc, argv, 1, 4);
    steps = test_argument(argc, argv, 2, 1000);
    frees = test_argument(argc, argv, 3, 1) == 1;
    subjects = calloc((size_t)comms, sizeof *subjects);
    ours = test_seed(1);
    mine = test_seed(100 + (uint64_t)test_rank);
    for (int i = 0; i < comms; i++)
        begin(&subjects[i], i);
    test_step("a mixture");
    for (long i = 0; i < steps; i++) {
        uint64_t random = test_random(&ours);

        step(&subjects[random % (uint64_t)comms], random / 1024, &mine);
    }
    for (int i = 0; i < comms; i++)
        end(&subjects[i], i % 2);
    free(subjects);
    return test_end();
}
