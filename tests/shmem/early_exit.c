/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No PE leaves a barrier or a sync of all PEs before all have entered.
 *
 *   early_exit [ROUNDS [FILE]]
 *
 * With FILE the rounds are repeated until PE 0 has found that file before they begin, as in
 * tests/mpi/early_exit.c. Then all PEs but the first one make ROUNDS barriers of their own set.
 */
#include <shmem.h>
#include <unistd.h>

#include "tests/shmem/test.h"

static int last = 1; /* symmetric */

int main(int argc, char **argv)
{
    struct test_set all = {0}, others = {.start = 1};
    uint64_t mine, common;
    long count;

    test_begin("early_exit");
    count = test_argument(argc, argv, 1, 300);
    all.size = test_pes;
    others.size = test_pes - 1;
    mine = test_seed(1000 + (uint64_t)test_me);
    common = test_seed(1);
    do {
        int found = argc > 2 && access(argv[2], F_OK) == 0;

        for (int pe = 0; argc > 2 && test_me == 0 && pe < test_pes; pe++)
            shmem_int_p(&last, found, pe);
        for (long i = 0; i < count; i++) {
            test_delay(&mine);
            test_round(&all, 0, i > 0 && test_random(&common) % 2 == 0);
        }
    } while (last == 0);
    for (long i = 0; argc > 2 && test_me != 0 && i < count; i++)
        test_round(&others, 1, false);
    return test_end();
}
