/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A PE that has left a barrier delays no other PE: leave DIRECTORY
 *
 * After each of its first barriers PE 0 calls no function of OpenSHMEM until all other PEs have
 * left the barrier, too. The PEs inform each other by files in DIRECTORY.
 */
#include <shmem.h>
#include <stdio.h>

#include "tests/shmem/test.h"

/* Enough for the PEs to agree on a path, and for a few barriers on it. */
#define BARRIERS 10

int main(int argc, char **argv)
{
    char name[16];

    test_begin("leave");
    TEST_CHECK(argc > 1, "no directory");
    for (int i = 0; i < BARRIERS; i++) {
        shmem_barrier_all();
        snprintf(name, sizeof name, "left-%d", i);
        test_file_make(argv[1], name, test_me);
        for (int pe = 1; 0 == test_me && pe < test_pes; pe++)
            test_file_await(argv[1], name, pe);
    }
    return test_end();
}
