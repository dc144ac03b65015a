/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Active sets: sets KIND [ROUNDS]
 *   mixed   overlapping ones, strided ones, sets of one, and all PEs, interleaved
 *   pairs   each PE with each other one that an active set of two can have
 *   first   all PEs but the first one, which agree on the path of their set before all PEs do
 *   60      sixty different sets of two and more (needs 10 PEs)
 */
#include <shmem.h>
#include <string.h>

#include "tests/shmem/test.h"

static struct test_set sets[TEST_SLOTS];
static int count;

static void add(int start, int log_stride, int size)
{
    struct test_set set = {start, log_stride, size};

    if (count < TEST_SLOTS && size >= 1 && test_set_pe(&set, size - 1) < test_pes)
        sets[count++] = set;
}

/* The same order on all PEs, so each pair of PEs uses its sets in one order. */
static void run(long rounds)
{
    uint64_t mine = test_seed(2000 + (uint64_t)test_me), common = test_seed(2);

    for (long i = 0; i < rounds; i++)
        for (int slot = 0; slot < count; slot++) {
            bool sync = test_random(&common) % 2 == 0;

            if (test_set_rank(&sets[slot], test_me) < 0)
                continue;
            test_delay(&mine);
            test_round(&sets[slot], slot, sync);
        }
}

static void add_mixed(void)
{
    add(0, 0, test_pes);
    add(0, 0, test_pes / 2 + 1);
    add(test_pes / 2, 0, test_pes - test_pes / 2);
    add(0, 1, (test_pes + 1) / 2);
    add(1, 1, test_pes / 2);
    add(0, 2, (test_pes + 3) / 4);
    add(test_pes - 1, 0, 1);
    add(0, 0, 1);
}

static void add_pairs(void)
{
    for (int log_stride = 0; 1 << log_stride < test_pes; log_stride++)
        for (int start = 0; start + (1 << log_stride) < test_pes; start++)
            add(start, log_stride, 2);
}

static void add_first(long rounds)
{
    add(1, 0, test_pes - 1);
    run(rounds);
    add(0, 0, test_pes);
}

static void add_sixty(void)
{
    for (int log_stride = 0; log_stride < 3; log_stride++)
        for (int size = 2; size < test_pes; size++)
            for (int start = 0; start + ((size - 1) << log_stride) < test_pes && count < 60;
                 start++)
                add(start, log_stride, size);
    TEST_CHECK(count == 60, "%d sets only", count);
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "mixed";
    long rounds;

    test_begin("sets");
    rounds = test_argument(argc, argv, 2, 20);
    if (strcmp(kind, "mixed") == 0)
        add_mixed();
    else if (strcmp(kind, "pairs") == 0)
        add_pairs();
    else if (strcmp(kind, "first") == 0)
        add_first(rounds);
    else if (strcmp(kind, "60") == 0)
        add_sixty();
    else
        test_fail("no kind \"%s\"", kind);
    run(rounds);
    /* And at last the set that gets its barrier group in any case. */
    for (int i = 0; i < 20; i++)
        shmem_barrier_all();
    return test_end();
}
