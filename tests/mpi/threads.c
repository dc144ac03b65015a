/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE: threads make communicators and run barriers on them, all at once. MPI
 * forbids two threads to use one communicator for collectives at the same time, so each has its
 * own.
 *
 *   threads [COMMUNICATORS PER THREAD]
 */
#include "tests/mpi/test.h"

#define THREADS 4
#define ROUNDS  10

static long count; /* of the communicators of a thread */

/* Barriers on a communicator; slots 2n and 2n + 1 are thread n's. */
static void use(const struct test_thread *worker, MPI_Comm comm, const char *what, int slot,
                uint32_t id)
{
    struct test_proof proof;

    test_proof_begin(&proof, comm, what, 2 * worker->number + slot, id);
    for (int i = 0; i < ROUNDS; i++)
        if (i % 5 == 4)
            test_proof_ibarrier(&proof);
        else
            test_proof_barrier(&proof);
    test_proof_end(&proof);
}

static void *work(void *argument)
{
    const struct test_thread *worker = argument;
    uint64_t ours = test_seed(100 + (uint64_t)worker->number);
    uint64_t mine = test_seed(1000 + (uint64_t)(worker->number * test_size + test_rank));
    MPI_Request request;
    MPI_Comm comm;

    for (long i = 0; i < count; i++) {
        uint32_t id = (uint32_t)(3 * i);

        test_delay(&mine);
        switch (test_random(&ours) % 3) {
        case 0:
            MPI_Comm_dup(worker->comm, &comm);
            break;
        case 1:
            MPI_Comm_split(worker->comm, test_rank % 2, test_rank, &comm);
            break;
        default:
            MPI_Comm_idup(worker->comm, &comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            break;
        }
        use(worker, comm, "a thread's new communicator", 0, id + 1);
        use(worker, worker->comm, "a thread's communicator", 1, id + 2);
        MPI_Comm_free(&comm);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv, MPI_THREAD_MULTIPLE);
    count = test_argument(argc, argv, 1, 10);
    test_step("threads that make communicators");
    test_threads(work, 0, THREADS);
    return test_end();
}
