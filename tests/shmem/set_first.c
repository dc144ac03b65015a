/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PEs but the first one agree on the path of their set before all PEs do: set_first [ROUNDS].
 * Their set begins with PE 1 and has a size of PES - 1.
 */
#include "tests/shmem/test.h"

int main(int argc, char **argv)
{
    struct test_set all = {0}, set = {.start = 1};
    long rounds;

    test_begin("set_first");
    rounds = test_argument(argc, argv, 1, 10);
    all.size = test_pes;
    set.size = test_pes - 1;
    for (long i = 0; i < rounds && test_set_rank(&set, test_me) >= 0; i++)
        test_round(&set, 1, false);
    for (long i = 0; i < rounds; i++) {
        test_round(&all, 0, false);
        if (test_set_rank(&set, test_me) >= 0)
            test_round(&set, 1, false);
    }
    return test_end();
}
