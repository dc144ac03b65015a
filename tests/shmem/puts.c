/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All puts before a barrier are visible after it on every PE, however large and however many they
 * are: puts [ROUNDS]
 */
#include <shmem.h>
#include <string.h>

#include "tests/shmem/test.h"

#define WORDS 16384

int main(int argc, char **argv)
{
    static long source[WORDS];
    long rounds, *target;

    test_begin("puts");
    rounds = test_argument(argc, argv, 1, 50);
    target = shmem_malloc((size_t)test_pes * WORDS * sizeof *target);
    TEST_CHECK(target != NULL, "no memory");
    memset(target, 0, (size_t)test_pes * WORDS * sizeof *target);
    shmem_barrier_all();
    for (long round = 1; round <= rounds; round++) {
        for (int i = 0; i < WORDS; i++)
            source[i] = round * 1000 + test_me;
        for (int pe = 0; pe < test_pes; pe++)
            shmem_long_put_nbi(&target[test_me * WORDS], source, WORDS, pe);
        shmem_barrier_all();
        for (int pe = 0; pe < test_pes; pe++)
            for (int i = 0; i < WORDS; i++)
                TEST_CHECK(target[pe * WORDS + i] == round * 1000 + pe,
                           "round %ld: word %d of PE %d is %ld", round, i, pe,
                           target[pe * WORDS + i]);
        shmem_barrier_all();
    }
    shmem_free(target);
    return test_end();
}
