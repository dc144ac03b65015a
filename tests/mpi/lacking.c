/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank lacks a resource in an agreement (lack_preload.c): its first call for one fails, for the
 * next communicator the second one, and so on until none is left to fail. All barriers of each
 * communicator are proved. A rank that cannot take part at all ends the job; the script then
 * continues with the next call.
 *
 *   lacking BEFORE AFTER [FIRST [once]]
 *
 * The calls count after BEFORE barriers of a communicator, or, if that is 0, from its creation on,
 * for AFTER barriers. FIRST: the first call that fails; with "once" it is the only one, and the
 * communicator is MPI_COMM_WORLD. Rank 0 prints the number of each call before it fails.
 */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/mpi/test.h"

static void (*lack_set)(unsigned long number);
static unsigned long (*lack_calls)(void);

static bool once;

static void barriers(struct test_proof *proof, long count)
{
    for (long i = 0; i < count; i++)
        if (i % 5 == 3)
            test_proof_ibarrier(proof);
        else
            test_proof_barrier(proof);
}

/* Whether that call was made on any rank. */
static bool call_fails(unsigned long call, long before, long after)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    struct test_proof proof;
    unsigned long calls;

    if (test_rank == 0) {
        printf("call %lu\n", call);
        fflush(stdout);
    }
    if (before == 0)
        lack_set(call);
    if (!once)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    test_proof_begin(&proof, comm, "a communicator", 0, (uint32_t)call);
    barriers(&proof, before);
    if (before > 0)
        lack_set(call);
    barriers(&proof, after);
    calls = lack_calls();
    lack_set(0);
    test_proof_end(&proof);
    if (!once)
        MPI_Comm_free(&comm);
    MPI_Allreduce(MPI_IN_PLACE, &calls, 1, MPI_UNSIGNED_LONG, MPI_MAX, MPI_COMM_WORLD);
    return calls >= call;
}

int main(int argc, char **argv)
{
    const long before = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    unsigned long call;

    once = argc > 4 && strcmp(argv[4], "once") == 0;
    *(void **)&lack_set = dlsym(RTLD_DEFAULT, "lack_set");
    *(void **)&lack_calls = dlsym(RTLD_DEFAULT, "lack_calls");
    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    TEST_CHECK(lack_set != NULL && lack_calls != NULL, "lack_preload.so is not preloaded");
    call = (unsigned long)test_argument(argc, argv, 3, 1);
    test_step("barriers of a rank that lacks something");
    while (call_fails(call, before, test_argument(argc, argv, 2, 5)) && !once)
        call++;
    return test_end();
}
