/* SPDX-License-Identifier: BSD-3-Clause */
/* The performance variables after 1000 barriers, of which the parameter sample measures 100. */
#include <stdio.h>

#include "tests/mpi/test.h"

static MPI_T_pvar_session session;

static MPI_T_pvar_handle handle(const char *name, int class, MPI_Comm *comm)
{
    MPI_T_pvar_handle result;
    char full[96];
    int index, count;

    snprintf(full, sizeof full, "coll_gba_barrier_%s", name);
    TEST_CHECK(MPI_T_pvar_get_index(full, class, &index) == MPI_SUCCESS, "no variable %s", full);
    TEST_CHECK(MPI_T_pvar_handle_alloc(session, index, comm, &result, &count) == MPI_SUCCESS,
               "no handle of %s", full);
    return result;
}

static unsigned long long value(MPI_T_pvar_handle variable)
{
    unsigned long long result = 0;

    TEST_CHECK(MPI_T_pvar_read(session, variable, &result) == MPI_SUCCESS, "cannot read");
    MPI_T_pvar_handle_free(session, &variable);
    return result;
}

int main(int argc, char **argv)
{
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_T_pvar_handle barriers, sampled, of_process, waits, longest;
    unsigned long long wait, most;
    int provided;

    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    /* Between MPI_Init and MPI_Finalize: else Open MPI 4.1.4 crashes in MPI_Finalize. */
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    barriers = handle("comm_barriers", MPI_T_PVAR_CLASS_COUNTER, &world);
    sampled = handle("comm_barriers_sampled", MPI_T_PVAR_CLASS_COUNTER, &world);
    of_process = handle("barriers_sampled", MPI_T_PVAR_CLASS_COUNTER, NULL);
    waits = handle("comm_wait_ns", MPI_T_PVAR_CLASS_TIMER, &world);
    longest = handle("comm_imbalance_max_ns", MPI_T_PVAR_CLASS_HIGHWATERMARK, &world);
    for (int i = 0; i < 1000; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    TEST_CHECK(value(barriers) == 1000, "not all barriers are counted");
    TEST_CHECK(value(sampled) == 100 && value(of_process) == 100, "another number is measured");
    wait = value(waits);
    most = value(longest);
    TEST_CHECK(most > 0 && most <= wait, "waits: %llu ns, the longest %llu ns", wait, most);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return test_end();
}
