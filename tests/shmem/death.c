/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device dies, and the program continues: device_path injects the fault, and the program proves
 * that no PE leaves a barrier early.
 *
 *   death [MODE [ROUNDS]]
 *
 * 1: barriers of all PEs and of active sets, with delays, until long after the death
 * 2: a PE that has left a barrier waits in shmem_wait_until for the PE above it, the last PE for
 *    none
 * 3: a PE that has left a barrier enters one of another set
 * 4: a PE that has left a barrier is in a broadcast, whose root is the last PE
 * 5: the device has completed ROUNDS rounds, and shmem_finalize's barrier is the next one
 *
 * With die_release=N the device releases only the first N members from the fatal round. In modes 2
 * to 4 these then wait for a PE that is still in it, whichever round that is. In mode 5 they close
 * their plugin.
 */
#include <mpi.h>
#include <shmem.h>

#include "tests/shmem/test.h"

static struct test_set all, sets[4];
static int set_count;

static void add(int start, int log_stride, int size)
{
    struct test_set set = {start, log_stride, size};

    if (size >= 2 && size < test_pes && test_set_pe(&set, size - 1) < test_pes)
        sets[set_count++] = set;
}

static void barriers(long rounds)
{
    uint64_t mine = test_seed((uint64_t)test_me + 1), ours = test_seed(0);

    for (long i = 0; i < rounds; i++) {
        uint64_t random = test_random(&ours);
        int slot = (int)(random % (uint64_t)(set_count + 1));
        const struct test_set *set = slot == 0 ? &all : &sets[slot - 1];

        if (test_set_rank(set, test_me) < 0)
            continue;
        test_delay(&mine);
        test_round(set, slot, random >> 32 & 1);
    }
}

/* Each PE puts to the PE below it when it has left; the last PE puts first. */
static void chain(long rounds)
{
    static long token_long;
    static int token_int;

    for (long i = 1; i <= rounds; i++) {
        bool wide = i % 2 == 0;

        test_round(&all, 0, false);
        if (test_me + 1 < test_pes && wide)
            shmem_long_wait_until(&token_long, SHMEM_CMP_GE, i);
        else if (test_me + 1 < test_pes)
            shmem_int_wait_until(&token_int, SHMEM_CMP_GE, (int)i);
        if (test_me > 0 && wide)
            shmem_long_p(&token_long, i, test_me - 1);
        else if (test_me > 0)
            shmem_int_p(&token_int, (int)i, test_me - 1);
        shmem_quiet();
    }
}

static void other_sets(long rounds)
{
    for (long i = 0; i < rounds; i++) {
        test_round(&all, 0, false);
        for (int slot = 1; slot <= set_count; slot++)
            if (test_set_rank(&sets[slot - 1], test_me) >= 0)
                test_round(&sets[slot - 1], slot, false);
    }
}

static void broadcasts(long rounds)
{
    static long source, target, words[2][SHMEM_BCAST_SYNC_SIZE];

    for (int i = 0; i < 2 * SHMEM_BCAST_SYNC_SIZE; i++)
        words[i % 2][i / 2] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    for (long i = 1; i <= rounds; i++) {
        test_round(&all, 0, false);
        source = i;
        shmem_broadcast64(&target, &source, 1, test_pes - 1, 0, 0, test_pes, words[i % 2]);
        TEST_CHECK(test_me + 1 == test_pes || target == i, "got %ld in round %ld", target, i);
    }
}

/* The barriers of the device, as this PE has counted them: all PEs count alike between two
 * barriers. */
static unsigned long long device_rounds(void)
{
    static MPI_T_pvar_session session;
    static MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    unsigned long long count = 0;
    int index, thread, number;

    if (handle == MPI_T_PVAR_HANDLE_NULL) {
        TEST_CHECK(
            MPI_T_init_thread(MPI_THREAD_SINGLE, &thread) == MPI_SUCCESS &&
                MPI_T_pvar_get_index("scoll_gba_barriers_sim", MPI_T_PVAR_CLASS_COUNTER, &index) ==
                    MPI_SUCCESS &&
                MPI_T_pvar_session_create(&session) == MPI_SUCCESS &&
                MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &number) == MPI_SUCCESS,
            "no variable scoll_gba_barriers_sim");
    }
    TEST_CHECK(MPI_T_pvar_read(session, handle, &count) == MPI_SUCCESS, "cannot read a variable");
    return count;
}

static void until_the_last(long rounds)
{
    while (device_rounds() < (unsigned long long)rounds)
        test_round(&all, 0, false);
}

int main(int argc, char **argv)
{
    long mode, rounds;

    test_begin("death");
    mode = test_argument(argc, argv, 1, 1);
    rounds = test_argument(argc, argv, 2, 40);
    all.size = test_pes;
    add(0, 0, test_pes - 1);
    add(1, 0, test_pes - 1);
    add(0, 1, (test_pes + 1) / 2);
    add(test_pes - 2, 0, 2);
    if (mode == 1)
        barriers(rounds);
    else if (mode == 2)
        chain(rounds);
    else if (mode == 3)
        other_sets(rounds);
    else if (mode == 4)
        broadcasts(rounds);
    else if (mode == 5)
        until_the_last(rounds);
    else
        test_fail("no mode %ld", mode);
    return mode == 5 ? test_leave() : test_end();
}
