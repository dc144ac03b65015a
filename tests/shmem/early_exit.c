/* SPDX-License-Identifier: BSD-3-Clause */
/* No PE leaves a barrier or a sync of all PEs before all have entered: early_exit [ROUNDS] */
#include "tests/shmem/test.h"

int main(int argc, char **argv)
{
    struct test_set all = {0};
    uint64_t mine, common;
    long count;

    test_begin("early_exit");
    count = test_argument(argc, argv, 1, 300);
    all.size = test_pes;
    mine = test_seed(1000 + (uint64_t)test_me);
    common = test_seed(1);
    for (long i = 0; i < count; i++) {
        test_delay(&mine);
        test_round(&all, 0, test_random(&common) % 2 == 0);
    }
    return test_end();
}
