/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking barriers: many at once, completed by every function of MPI, among blocking ones and
 * other collectives; none of them is complete before all ranks have called it.
 *
 *   ibarrier [MODE...]
 *
 * Modes run one after the other; 2 only as the first one, and 3 only as the last. MODE 1, the
 * default: everything that follows from MPI alone, in one thread. 2: four threads, each with its
 * own communicator. 3: requests that are never completed. 4: with a device, or a counter in shared
 * memory, a member that has called MPI_Ibarrier delays no other member, whatever it does then; with
 * messages it would. 5: the communicator is freed with requests in progress. Modes 3 and 5 crash
 * Open MPI 4.1's own nonblocking barrier, which does not retain the communicator. 6: for a device
 * that dies during nonblocking barriers; all members leave it in the next blocking one. 7, for two
 * ranks and messages that wait for memory (ibarrier_nested in cases.sh): a communicator that ends
 * within the call of a nonblocking barrier on another one. 8: the communicator is freed with
 * messages and nonblocking collectives in progress, and others are never freed.
 */
#include "tests/mpi/test.h"

#include <stdlib.h>

#include "gba/base/order.h"

#define MANY    100
#define REPEATS 5
#define THREADS 4

/* Sends that wait for the other rank, and bytes of each: more than it takes before its receive. */
#define PENDING       6
#define PENDING_BYTES 1000000

#define WORDS  50000 /* more than the eager limit of any transport */
#define LEAKED 5

enum { BY_WAIT, BY_TEST, BY_WAITALL, BY_WAITANY, BY_TESTSOME, BY_WAITSOME, BY_TESTALL, WAYS };

/* Requests in progress on one communicator, and the round of each. */
struct batch {
    struct test_proof proof;
    MPI_Request requests[MANY];
    uint64_t rounds[MANY];
};

static struct batch *batch_begin(MPI_Comm comm, const char *what, int slot, uint32_t id)
{
    struct batch *batch = malloc(sizeof *batch);

    TEST_CHECK(batch != NULL, "no memory");
    test_proof_begin(&batch->proof, comm, what, slot, id);
    /* The others may have called all barriers of the batch, and the blocking ones between them. */
    batch->proof.ahead = 2 * MANY;
    return batch;
}

static void batch_look(const struct batch *batch, int i)
{
    test_proof_look(&batch->proof, batch->rounds[i], batch->proof.ahead);
    TEST_CHECK(batch->requests[i] == MPI_REQUEST_NULL, "a request is not null when it is over");
}

static void batch_start(struct batch *batch, int i)
{
    test_proof_enter(&batch->proof);
    batch->rounds[i] = batch->proof.round;
    MPI_Ibarrier(batch->proof.comm, &batch->requests[i]);
}

static void batch_one_by_one(struct batch *batch, int count, int way)
{
    int flag, i;

    for (int n = 0; n < count; n++) {
        i = n;
        if (way == BY_WAITANY)
            MPI_Waitany(count, batch->requests, &i, MPI_STATUS_IGNORE);
        else if (way == BY_WAIT) /* in any order: the last one first */
            MPI_Wait(&batch->requests[i = count - 1 - n], MPI_STATUS_IGNORE);
        else
            for (flag = 0; !flag;)
                MPI_Test(&batch->requests[i], &flag, MPI_STATUS_IGNORE);
        batch_look(batch, i);
    }
}

static void batch_some(struct batch *batch, int count, int way)
{
    int indices[MANY], done, n = 0;

    while (n < count) {
        if (way == BY_WAITSOME)
            MPI_Waitsome(count, batch->requests, &done, indices, MPI_STATUSES_IGNORE);
        else
            MPI_Testsome(count, batch->requests, &done, indices, MPI_STATUSES_IGNORE);
        for (int i = 0; i < done; i++)
            batch_look(batch, indices[i]);
        n += done;
    }
}

static void batch_end(struct batch *batch, int count, int way)
{
    int flag = 0;

    if (way == BY_WAITALL)
        MPI_Waitall(count, batch->requests, MPI_STATUSES_IGNORE);
    while (way == BY_TESTALL && !flag)
        MPI_Testall(count, batch->requests, &flag, MPI_STATUSES_IGNORE);
    if (way == BY_TESTSOME || way == BY_WAITSOME)
        batch_some(batch, count, way);
    else if (way == BY_WAITALL || way == BY_TESTALL)
        for (int i = 0; i < count; i++)
            batch_look(batch, i);
    else
        batch_one_by_one(batch, count, way);
}

/* Another call between two barriers, the same on all members. */
static void other_collective(struct batch *batch, uint64_t random)
{
    MPI_Comm comm = batch->proof.comm;
    int mine = 1, sum = 0, size;
    MPI_Request request;

    MPI_Comm_size(comm, &size);
    switch (random % 8) {
    case 0:
        test_proof_barrier(&batch->proof);
        return;
    case 1:
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
        break;
    case 2:
        MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    case 3:
        sum = size;
        MPI_Bcast(&sum, 1, MPI_INT, 0, comm);
        break;
    default:
        return;
    }
    TEST_CHECK(sum == size, "a collective among the barriers gave %d, not %d", sum, size);
}

/* A batch, completed in the way `way`. pause: whether members are late sometimes. */
static void batch_run(MPI_Comm comm, int slot, uint32_t id, int count, int way, uint64_t *pause)
{
    uint64_t ours = test_seed(id);
    struct batch *batch = batch_begin(comm, "ibarrier", slot, id);

    for (int i = 0; i < count; i++) {
        test_delay(pause);
        batch_start(batch, i);
        other_collective(batch, test_random(&ours));
    }
    batch_end(batch, count, way);
    test_proof_end(&batch->proof);
    free(batch);
}

/* A member that waits in MPI_Recv, or computes and calls MPI_Test, advances the barriers. */
static void progress_other_comm(MPI_Comm comm)
{
    MPI_Request requests[2];
    int token = 0, flag = 0, others;

    MPI_Ibarrier(comm, &requests[0]);
    MPI_Ibarrier(comm, &requests[1]);
    if (test_rank == 0) {
        for (others = 1; others < test_size; others++)
            MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Send(&token, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
    }
    MPI_Ibarrier(comm, &requests[0]);
    while (!flag) {
        for (int i = 0; i < 20; i++)
            gba_cpu_pause();
        MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

/* An active request can be neither freed nor cancelled. */
static void refused(MPI_Comm comm)
{
    int token = 0, class, code;
    MPI_Request request;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (test_rank == 0) /* active, because this rank arrives last */
        for (int i = 1; i < test_size; i++)
            MPI_Recv(&token, 1, MPI_INT, i, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Ibarrier(comm, &request);
    if (test_rank != 0) {
        code = MPI_Request_free(&request);
        MPI_Error_class(code, &class);
        TEST_CHECK(class == MPI_ERR_REQUEST, "MPI_Request_free gave class %d", class);
        code = MPI_Cancel(&request);
        MPI_Error_class(code, &class);
        TEST_CHECK(class == MPI_ERR_REQUEST, "MPI_Cancel gave class %d", class);
        TEST_CHECK(request != MPI_REQUEST_NULL, "the request is gone");
        MPI_Send(&token, 1, MPI_INT, 0, 8, MPI_COMM_WORLD);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* MPI_Comm_free with all barriers of a batch in progress. */
static void freed(void)
{
    struct batch *batch;
    MPI_Comm comm;

    test_step("a communicator freed with nonblocking barriers");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    batch = batch_begin(comm, "ibarriers on a freed communicator", 5, 7000);
    MPI_Barrier(comm);
    for (int i = 0; i < MANY; i++)
        batch_start(batch, i);
    MPI_Comm_free(&comm);
    batch_end(batch, MANY, BY_WAITANY);
    batch->proof.comm = MPI_COMM_WORLD; /* the same members, to end it together */
    test_proof_end(&batch->proof);
    free(batch);
}

static void everything(void)
{
    uint64_t mine = test_seed(1000 + (uint64_t)test_rank);
    uint32_t id = 1;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    test_step("nonblocking barriers before the first blocking one");
    batch_run(comm, 1, id++, 10, BY_WAITALL, &mine);
    test_step("many nonblocking barriers");
    for (int i = 0; i < REPEATS; i++)
        for (int way = 0; way < WAYS; way++)
            batch_run(comm, 1, id++, way % 2 == 0 ? MANY : 1 + i, way, &mine);
    MPI_Barrier(comm);
    test_step("progress of nonblocking barriers in other calls");
    progress_other_comm(comm);
    test_step("nonblocking barriers freed and cancelled");
    refused(comm);
    MPI_Comm_free(&comm);
}

static void *work(void *argument)
{
    const struct test_thread *worker = argument;
    uint64_t mine =
        test_seed(2000 + (uint64_t)worker->number * (uint64_t)test_size + (uint64_t)test_rank);

    MPI_Barrier(worker->comm);
    for (int i = 0; i < REPEATS * WAYS; i++)
        batch_run(worker->comm, 10 + worker->number, (uint32_t)(100 * worker->number + i + 1), MANY,
                  (i + worker->number) % WAYS, &mine);
    return NULL;
}

static void threads(void)
{
    test_step("threads with nonblocking barriers");
    test_threads(work, 0, THREADS);
}

/* An error of the program, which may have any consequence except a hang or a crash. */
static void leaked(void)
{
    MPI_Request request;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(comm);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) {
        MPI_Ibarrier(comm, &request);
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
    }
    MPI_Comm_free(&comm);
}

/* Rank 0 calls MPI_Ibarrier, and then no function of MPI before all others have left it. */
static void alone(void)
{
    gba_word_t *left;
    MPI_Request request;
    MPI_Win window;
    MPI_Aint size;
    int unit;

    MPI_Win_allocate_shared(test_rank == 0 ? sizeof *left : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                            &left, &window);
    MPI_Win_shared_query(window, 0, &size, &unit, &left);
    if (test_rank == 0)
        gba_word_store_relaxed(left, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    test_step("a nonblocking barrier while one member is away");
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (test_rank == 0 && gba_word_load_relaxed(left) < (uint64_t)test_size - 1)
        gba_cpu_pause();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (test_rank != 0)
        gba_word_add_relaxed(left, 1);
    MPI_Win_free(&window);
}

static void died(void)
{
    struct batch *batch;

    test_step("nonblocking barriers on a device that dies");
    MPI_Barrier(MPI_COMM_WORLD);
    batch = batch_begin(MPI_COMM_WORLD, "ibarriers and a device that dies", 7, 9000);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < MANY / 10; i++)
            batch_start(batch, i);
        test_proof_barrier(&batch->proof);
        batch_end(batch, MANY / 10, round % WAYS);
    }
    test_proof_end(&batch->proof);
    free(batch);
}

/*
 * A freed communicator has a send as its last reference, and the messages of a barrier need what
 * that send holds: it ends, and the communicator with it, in progress of the barrier's own start.
 */
static void nested(void)
{
    static char data[PENDING + 1][PENDING_BYTES];
    MPI_Request pending[PENDING], last, request;
    int other = 1 - test_rank;
    MPI_Comm ends, comm;

    TEST_CHECK(test_size == 2, "for two ranks");
    MPI_Comm_dup(MPI_COMM_WORLD, &ends);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(ends);
    MPI_Barrier(comm);
    MPI_Ibarrier(ends, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    test_step("a communicator that ends in a nonblocking barrier");
    if (test_rank == 0) {
        for (int i = 0; i < PENDING; i++)
            MPI_Isend(data[i], PENDING_BYTES, MPI_BYTE, other, 1, MPI_COMM_WORLD, &pending[i]);
        MPI_Isend(data[PENDING], PENDING_BYTES, MPI_BYTE, other, 1, ends, &last);
        MPI_Request_free(&last);
    } else {
        MPI_Irecv(data[PENDING], PENDING_BYTES, MPI_BYTE, other, 1, ends, &last);
    }
    MPI_Comm_free(&ends);
    MPI_Ibarrier(comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (test_rank == 0) {
        MPI_Waitall(PENDING, pending, MPI_STATUSES_IGNORE);
    } else {
        MPI_Wait(&last, MPI_STATUS_IGNORE);
        for (int i = 0; i < PENDING; i++)
            MPI_Recv(data[i], PENDING_BYTES, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&comm);
}

/* MPI_Comm_free only marks the communicator: the work in progress completes normally. */
static void freed_with_work(bool used_before)
{
    int *out = malloc(WORDS * sizeof out[0]), *in = malloc(WORDS * sizeof in[0]);
    int root = test_rank == 0 ? 4711 : 0, one = 1, sum = 0;
    int next = (test_rank + 1) % test_size, previous = (test_rank + test_size - 1) % test_size;
    MPI_Request requests[5];
    MPI_Comm comm;

    TEST_CHECK(out != NULL && in != NULL, "no memory");
    for (int i = 0; i < WORDS; i++) {
        out[i] = test_rank * WORDS + i;
        in[i] = -1;
    }
    test_step("a communicator freed with work outstanding");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (used_before)
        MPI_Barrier(comm);
    MPI_Irecv(in, WORDS, MPI_INT, previous, 5, comm, &requests[0]);
    MPI_Isend(out, WORDS, MPI_INT, next, 5, comm, &requests[1]);
    MPI_Ibcast(&root, 1, MPI_INT, 0, comm, &requests[2]);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[3]);
    if (used_before)
        MPI_Barrier(comm);
    MPI_Ibarrier(comm, &requests[4]);
    MPI_Comm_free(&comm);
    MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
    TEST_CHECK(root == 4711 && sum == test_size, "wrong values from a freed communicator");
    for (int i = 0; i < WORDS; i++)
        TEST_CHECK(in[i] == previous * WORDS + i, "message on a freed communicator is damaged");
    free(out);
    free(in);
}

static void outstanding(void)
{
    MPI_Comm never_freed;

    for (int i = 0; i < 4 * REPEATS; i++)
        freed_with_work(i % 2 == 0);
    for (int i = 0; i < LEAKED; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &never_freed);
        MPI_Barrier(never_freed);
        MPI_Comm_split(never_freed, test_rank % 2, 0, &never_freed);
        MPI_Barrier(never_freed);
    }
}

int main(int argc, char **argv)
{
    static void (*const modes[])(void) = {everything, threads, leaked, alone,
                                          freed,      died,    nested, outstanding};
    long mode = argc > 1 ? strtol(argv[1], NULL, 0) : 1;

    test_begin(&argc, &argv, mode == 2 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
    for (int i = 1; i < (argc > 1 ? argc : 2); i++) {
        mode = test_argument(argc, argv, i, 1);
        TEST_CHECK(mode <= (long)(sizeof modes / sizeof modes[0]), "there is no mode %ld", mode);
        modes[mode - 1]();
    }
    return test_end();
}
