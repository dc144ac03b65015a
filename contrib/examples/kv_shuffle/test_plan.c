/* SPDX-License-Identifier: BSD-3-Clause */
/* The planner of kv_shuffle: the pairs, the senders, the number of blocks, and the target
 * blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model.h"

#define BLOCKS  12
#define PES_MAX 9

static struct kv_table tables[PES_MAX];

/* PE pe holds sequences of these lengths (0 ends the list), one block in two, from the end. */
static void hold(int pe, const int *lengths)
{
    int b = BLOCKS - 1, sequence = 100 * (pe + 1);

    memset(&tables[pe], 0, sizeof tables[pe]);
    for (; *lengths > 0; lengths++, sequence++)
        for (int index = 0; index < *lengths; index++) {
            tables[pe].block[b] = (struct kv_block){sequence, index};
            b = b >= 2 ? b - 2 : BLOCKS - 2;
        }
}

static void make(struct kv_plan *plan, int pes)
{
    assert_int_equal(kv_plan_init(plan, pes, BLOCKS), 0);
    kv_plan_make(plan, tables, pes, BLOCKS);
    assert_null(kv_plan_check(plan, tables, pes, BLOCKS));
}

static void test_smallest_is_paired_with_largest(void **state)
{
    struct kv_plan plan;

    (void)state;
    hold(0, (int[]){3, 0});
    hold(1, (int[]){2, 2, 2, 2, 0});
    hold(2, (int[]){1, 0});
    hold(3, (int[]){2, 2, 0});
    make(&plan, 4); /* mean 4 */
    assert_int_equal(plan.partner[2], 1);
    assert_int_equal(plan.partner[0], 3);
    assert_int_equal(plan.partner[1], 2);
    assert_int_equal(plan.partner[3], 0);
    /* PE 2 has room for 3 below the mean: one sequence of 2. PE 3 is at the mean: it keeps all. */
    assert_int_equal(plan.count, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(plan.move[i].sender, 1);
        assert_int_equal(plan.move[i].receiver, 2);
        assert_int_equal(plan.move[i].index, i);
    }
    kv_plan_fini(&plan);
}

static void test_largest_that_fits_goes_first(void **state)
{
    struct kv_plan plan;

    (void)state;
    hold(0, (int[]){1, 5, 3, 1, 0});
    hold(1, (int[]){0});
    make(&plan, 2); /* mean 5: the sequence of 5, and no other */
    assert_int_equal(plan.count, 5);
    assert_int_equal(plan.move[0].sequence, 101);
    kv_plan_fini(&plan);

    hold(0, (int[]){6, 3, 1, 0});
    make(&plan, 2); /* 6 is more than the 5 that may go: 3 and 1 */
    assert_int_equal(plan.count, 4);
    assert_int_equal(plan.move[0].sequence, 101);
    assert_int_equal(plan.move[3].sequence, 102);
    kv_plan_fini(&plan);
}

static void test_blocks_map_in_order_to_free_ones(void **state)
{
    struct kv_plan plan;

    (void)state;
    hold(0, (int[]){3, 2, 2, 0});
    hold(1, (int[]){0});
    tables[1].block[1].sequence = 1; /* in use: the planner skips it */
    make(&plan, 2);
    assert_int_equal(plan.count, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(plan.move[i].from, BLOCKS - 1 - 2 * i);
        assert_int_equal(plan.move[i].to, i == 0 ? 0 : i + 1);
    }
    kv_plan_apply(&plan, &tables[0], 0);
    kv_plan_apply(&plan, &tables[1], 1);
    assert_int_equal(kv_table_load(&tables[0], BLOCKS), 4);
    assert_int_equal(kv_table_load(&tables[1], BLOCKS), 4);
    assert_int_equal(tables[1].block[3].sequence, 100);
    assert_int_equal(tables[1].block[3].index, 2);
    kv_plan_fini(&plan);
}

static void test_nothing_to_move(void **state)
{
    struct kv_plan plan;

    (void)state;
    for (int pe = 0; pe < 5; pe++)
        hold(pe, (int[]){2, 2, 0});
    for (int pes = 1; pes <= 5; pes++) {
        make(&plan, pes);
        assert_int_equal(plan.count, 0);
        kv_plan_fini(&plan);
    }
    for (int pe = 0; pe < 5; pe++)
        hold(pe, (int[]){0});
    make(&plan, 5);
    assert_int_equal(plan.count, 0);
    kv_plan_fini(&plan);
}

static void test_odd_one_has_no_partner(void **state)
{
    struct kv_plan plan;

    (void)state;
    hold(0, (int[]){1, 0});
    hold(1, (int[]){4, 4, 0});
    hold(2, (int[]){2, 2, 0});
    make(&plan, 3);
    assert_int_equal(plan.partner[2], -1);
    assert_int_equal(plan.partner[0], 1);
    kv_plan_fini(&plan);
}

/* The check detects a wrong plan. */
static void test_check_finds_faults(void **state)
{
    struct kv_plan plan;

    (void)state;
    hold(0, (int[]){3, 3, 0});
    hold(1, (int[]){1, 0});
    make(&plan, 2); /* nothing fits: 3 is more than the 2 that may go */
    assert_int_equal(plan.count, 0);
    plan.count = 1;
    plan.move[0] = (struct kv_move){0, 1, 100, 0, BLOCKS - 1, 0};
    assert_string_equal(kv_plan_check(&plan, tables, 2, BLOCKS),
                        "part of a sequence is left behind");
    plan.move[0].to = BLOCKS - 1;
    assert_string_equal(kv_plan_check(&plan, tables, 2, BLOCKS),
                        "a block is moved onto one in use");
    plan.move[0].from = 0;
    assert_string_equal(kv_plan_check(&plan, tables, 2, BLOCKS),
                        "a block is moved that its sender does not hold");
    plan.move[0].to = BLOCKS;
    assert_string_equal(kv_plan_check(&plan, tables, 2, BLOCKS), "a block number is out of range");
    kv_plan_fini(&plan);
}

/* The serial model checks its plan in each round; over all rounds some blocks must move. */
static void test_many_rounds(void **state)
{
    const struct kv_shape shape = {BLOCKS, 1, 2, 3};

    (void)state;
    for (int pes = 1; pes <= PES_MAX; pes++) {
        struct kv_model model;
        int moved = 0, empty = 0;

        assert_int_equal(kv_model_init(&model, &shape, pes, 7), 0);
        for (int round = 0; round < 300; round++) {
            assert_null(kv_model_round(&model));
            moved += model.plan.count;
            for (int pe = 0; pe < pes; pe++)
                empty += kv_table_load(&model.tables[pe], BLOCKS) == 0;
        }
        assert_int_equal(moved > 0, pes > 1);
        assert_true(empty > 0); /* so PEs without sequences are part of every run */
        kv_model_fini(&model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_smallest_is_paired_with_largest),
        cmocka_unit_test(test_largest_that_fits_goes_first),
        cmocka_unit_test(test_blocks_map_in_order_to_free_ones),
        cmocka_unit_test(test_nothing_to_move),
        cmocka_unit_test(test_odd_one_has_no_partner),
        cmocka_unit_test(test_check_finds_faults),
        cmocka_unit_test(test_many_rounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
