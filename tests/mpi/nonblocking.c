/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators whose ranks agree on a path in a nonblocking barrier: no rank leaves early, and no
 * call blocks, whatever else is in progress on the communicator.
 *
 *   nonblocking AFTER [MODE...]
 *
 * AFTER: 1 more than agree_after. MODE 1, the default: in one thread. 2: four threads, each with
 * its own communicators. 3: requests that are never completed, as the last mode. 4: communicators
 * freed with requests in progress, which crashes Open MPI 4.1's own nonblocking barrier. 5:
 * agreements of several communicators at once, for messages that wait for memory.
 */
#include "tests/mpi/test.h"

#include <stdlib.h>
#include <string.h>

#define MORE    24 /* calls after the first AFTER */
#define REPEATS 6
#define COMMS   5
#define THREADS 4

enum { BARRIER, REDUCE, GATHER, KINDS };

/* One nonblocking call. */
struct call {
    int kind;
    uint64_t round; /* of a barrier */
    int mine, sum;
    int *all; /* [size] */
};

struct calls {
    struct test_proof proof;
    int size, count;
    MPI_Request *requests; /* [count] */
    struct call *list;
};

static long after;

static void calls_begin(struct calls *calls, MPI_Comm comm, int slot, uint32_t id)
{
    memset(calls, 0, sizeof *calls);
    test_proof_begin(&calls->proof, comm, "an agreement in a nonblocking barrier", slot, id);
    calls->proof.ahead = (uint32_t)after + 2 * MORE;
    MPI_Comm_size(comm, &calls->size);
    calls->requests = calloc((size_t)after + MORE, sizeof(MPI_Request));
    calls->list = calloc((size_t)after + MORE, sizeof calls->list[0]);
    TEST_CHECK(calls->requests != NULL && calls->list != NULL, "no memory");
}

static void calls_end(struct calls *calls)
{
    test_proof_end(&calls->proof);
    for (int i = 0; i < calls->count; i++)
        free(calls->list[i].all);
    free(calls->requests);
    free(calls->list);
}

static void call_start(struct calls *calls, int kind)
{
    struct call *call = &calls->list[calls->count];
    MPI_Request *request = &calls->requests[calls->count++];
    MPI_Comm comm = calls->proof.comm;

    call->kind = kind;
    call->mine = calls->count;
    switch (kind) {
    case BARRIER:
        test_proof_enter(&calls->proof);
        call->round = calls->proof.round;
        MPI_Ibarrier(comm, request);
        break;
    case REDUCE:
        MPI_Iallreduce(&call->mine, &call->sum, 1, MPI_INT, MPI_SUM, comm, request);
        break;
    default:
        call->all = calloc((size_t)calls->size, sizeof call->all[0]);
        TEST_CHECK(call->all != NULL, "no memory");
        MPI_Iallgather(&call->mine, 1, MPI_INT, call->all, 1, MPI_INT, comm, request);
    }
}

static void call_check(const struct calls *calls, int i)
{
    const struct call *call = &calls->list[i];

    if (BARRIER == call->kind)
        test_proof_look(&calls->proof, call->round, calls->proof.ahead);
    if (REDUCE == call->kind)
        TEST_CHECK(call->sum == call->mine * calls->size, "a reduction gave %d", call->sum);
    for (int rank = 0; call->all != NULL && rank < calls->size; rank++)
        TEST_CHECK(call->all[rank] == call->mine, "a gather gave %d", call->all[rank]);
}

/* Complete all calls, in an order of this rank. */
static void calls_complete(struct calls *calls, uint64_t *random)
{
    int index, flag;

    while (calls->count > 0 && test_random(random) % 8 != 0) {
        index = (int)(test_random(random) % (uint64_t)calls->count);
        if (MPI_REQUEST_NULL == calls->requests[index])
            continue;
        MPI_Test(&calls->requests[index], &flag, MPI_STATUS_IGNORE);
        if (flag)
            call_check(calls, index);
    }
    for (;;) {
        MPI_Waitany(calls->count, calls->requests, &index, MPI_STATUS_IGNORE);
        if (MPI_UNDEFINED == index)
            return;
        call_check(calls, index);
    }
}

/* A blocking call, the same on all ranks. */
static void blocking(struct calls *calls, uint64_t random)
{
    MPI_Comm comm = calls->proof.comm;
    int mine = 1, sum = 0;

    switch (random % 8) {
    case 0:
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
        TEST_CHECK(sum == calls->size, "a reduction gave %d", sum);
        break;
    case 1:
        MPI_Bcast(&mine, 1, MPI_INT, calls->size - 1, comm);
        break;
    case 2:
        test_proof_barrier(&calls->proof);
        break;
    default:
        break;
    }
}

/* Each barrier is completed before the next one. From the agreement on no rank calls MPI after a
 * barrier until all have left that barrier. */
static void one_by_one(MPI_Comm comm, int slot, uint32_t id, uint64_t *mine)
{
    struct calls calls;

    calls_begin(&calls, comm, slot, id);
    for (long i = 0; i < after + MORE; i++) {
        test_delay(mine);
        call_start(&calls, BARRIER);
        MPI_Wait(&calls.requests[i], MPI_STATUS_IGNORE);
        call_check(&calls, (int)i);
        if (i < after)
            continue;
        test_proof_enter(&calls.proof);
        test_proof_await(&calls.proof, calls.proof.round);
    }
    calls_end(&calls);
}

/* All calls are posted before the first one is completed. */
static void posted(MPI_Comm comm, int slot, uint32_t id, uint64_t *mine)
{
    struct calls calls;

    calls_begin(&calls, comm, slot, id);
    for (long i = 0; i < after + MORE; i++) {
        test_delay(mine);
        call_start(&calls, BARRIER);
    }
    calls_complete(&calls, mine);
    calls_end(&calls);
}

/* Nonblocking calls of all kinds, blocking ones between them, and completions at any time. */
static void mixed(MPI_Comm comm, int slot, uint32_t id, bool block, uint64_t *mine)
{
    uint64_t ours = test_seed(id);
    struct calls calls;

    calls_begin(&calls, comm, slot, id);
    for (long i = 0; i < after + MORE; i++) {
        uint64_t random = test_random(&ours);

        test_delay(mine);
        call_start(&calls, i < after || random % 2 == 0 ? BARRIER : (int)(random / 2 % KINDS));
        if (block)
            blocking(&calls, random / 16);
        if (test_random(mine) % 6 == 0)
            calls_complete(&calls, mine);
    }
    calls_complete(&calls, mine);
    calls_end(&calls);
}

static void everything(MPI_Comm world, int slot, uint32_t id, uint64_t *mine)
{
    MPI_Comm comm;

    for (uint32_t kind = 0; kind < 4; kind++) {
        if (kind % 2 == 0)
            MPI_Comm_dup(world, &comm);
        else
            MPI_Comm_split(world, 0, -test_rank, &comm);
        if (kind == 0)
            one_by_one(comm, slot, id + kind, mine);
        else if (kind == 1)
            posted(comm, slot, id + kind, mine);
        else
            mixed(comm, slot, id + kind, kind == 3, mine);
        MPI_Comm_free(&comm);
    }
}

/* Rank 0 calls its barriers only when all others have left their calls of MPI_Ibarrier. */
static void late(void)
{
    struct calls calls;
    MPI_Comm comm;
    int token = 0;

    test_step("nonblocking barriers that one rank calls late");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    calls_begin(&calls, comm, 0, 100);
    for (int i = 1; test_rank == 0 && i < test_size; i++)
        MPI_Recv(&token, 1, MPI_INT, i, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (long i = 0; i < after + MORE; i++)
        call_start(&calls, BARRIER);
    if (test_rank != 0)
        MPI_Send(&token, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
    MPI_Waitall(calls.count, calls.requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < calls.count; i++)
        call_check(&calls, i);
    calls_end(&calls);
    MPI_Comm_free(&comm);
}

/* A blocking barrier, and a persistent one, called during the agreement on some ranks and after it
 * on the others. */
static void during(bool persists, uint64_t *mine)
{
    struct calls calls;
    MPI_Request request;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    calls_begin(&calls, comm, 1, persists ? 150 : 151);
    for (long i = 0; i < after + 1; i++)
        call_start(&calls, BARRIER);
    if (test_rank % 2 == 1)
        calls_complete(&calls, mine);
    calls.proof.ahead = 2;
    if (!persists) {
        test_proof_barrier(&calls.proof);
    } else if (test_barrier_init(comm, &request)) {
        for (int i = 0; i < 5; i++)
            test_proof_start(&calls.proof, &request);
        MPI_Request_free(&request);
    }
    calls.proof.ahead = (uint32_t)after + 2 * MORE;
    for (int i = 0; i < 2; i++)
        call_start(&calls, BARRIER);
    calls_complete(&calls, mine);
    calls_end(&calls);
    MPI_Comm_free(&comm);
}

/* Several communicators, whose barriers the ranks call in different orders. */
static void crossed(uint64_t *mine)
{
    struct calls calls[COMMS];
    MPI_Comm comms[COMMS];

    test_step("nonblocking barriers of communicators in different orders");
    for (int i = 0; i < COMMS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        calls_begin(&calls[i], comms[i], i, 200 + (uint32_t)i);
    }
    for (long n = 0; n < after + MORE; n++)
        for (int i = 0; i < COMMS; i++)
            call_start(&calls[(i + test_rank) % COMMS], BARRIER);
    for (int i = 0; i < COMMS; i++)
        calls_complete(&calls[(i + 2 * test_rank) % COMMS], mine);
    for (int i = 0; i < COMMS; i++) {
        calls_end(&calls[i]);
        MPI_Comm_free(&comms[i]);
    }
}

static void single(void)
{
    uint64_t mine = test_seed(1000 + (uint64_t)test_rank);

    test_step("agreements in nonblocking barriers");
    for (uint32_t i = 0; i < REPEATS; i++)
        everything(MPI_COMM_WORLD, 0, 1 + 10 * i, &mine);
    late();
    test_step("blocking and persistent barriers during the agreement");
    during(false, &mine);
    during(true, &mine);
    crossed(&mine);
}

static void *work(void *argument)
{
    const struct test_thread *worker = argument;
    uint64_t mine =
        test_seed(2000 + (uint64_t)worker->number * (uint64_t)test_size + (uint64_t)test_rank);

    for (uint32_t i = 0; i < 2; i++)
        mixed(worker->comm, 10 + worker->number, 1000 + 100 * (uint32_t)worker->number + i, i > 0,
              &mine);
    return NULL;
}

static void threads(void)
{
    test_step("agreements in nonblocking barriers of threads");
    for (int repeat = 0; repeat < REPEATS; repeat++)
        test_threads(work, repeat * THREADS, THREADS);
}

/* An error of the program, which may have any consequence except a hang or a crash. */
static void leaked(void)
{
    MPI_Request request;
    MPI_Comm comm;

    test_step("requests that are never completed");
    for (int i = 0; i < 3; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (long n = 0; n < after + 1 + i; n++)
            MPI_Ibarrier(comm, &request);
        if (i > 0)
            MPI_Comm_free(&comm);
    }
}

static void freed(void)
{
    uint64_t mine = test_seed(3000 + (uint64_t)test_rank);
    struct calls calls;
    MPI_Comm comm;

    test_step("a communicator freed during its agreement");
    for (uint32_t i = 0; i < REPEATS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        calls_begin(&calls, comm, 5, 300 + i);
        for (long n = 0; n < after + 1 + 2 * i; n++) {
            call_start(&calls, BARRIER);
            if (n < after) {
                MPI_Wait(&calls.requests[n], MPI_STATUS_IGNORE);
                call_check(&calls, (int)n);
            }
        }
        MPI_Comm_free(&comm);
        calls_complete(&calls, &mine);
        calls.proof.comm = MPI_COMM_WORLD; /* the same members, to end it together */
        calls_end(&calls);
    }
}

static void at_once(void)
{
    uint64_t mine = test_seed(4000 + (uint64_t)test_rank);

    crossed(&mine);
}

int main(int argc, char **argv)
{
    static void (*const modes[])(void) = {single, threads, leaked, freed, at_once};
    long mode = argc > 2 ? strtol(argv[2], NULL, 0) : 1;

    test_begin(&argc, &argv, mode == 2 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
    after = test_argument(argc, argv, 1, 1) - 1;
    for (int i = 2; i < (argc > 2 ? argc : 3); i++) {
        mode = test_argument(argc, argv, i, 1);
        TEST_CHECK(mode <= (long)(sizeof modes / sizeof modes[0]), "there is no mode %ld", mode);
        modes[mode - 1]();
    }
    return test_end();
}
