/* SPDX-License-Identifier: BSD-3-Clause */
/* Shuffle tables in files: a plan that is written and read is the same, and invalid files are
 * refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model.h"

/* In round 1 of this seed, PE 0 has 4 blocks, PE 2 has 3, and PEs 1 and 3 have none. */
#define PES    4
#define BLOCKS 4
#define SEED   22

#define HEAD  "tables 1 pes 4 blocks 4 seed 22\nround 1\n"
#define ROLES "pe 0 sender 1\npe 1 receiver 0\npe 2 none\npe 3 none\n"

static int read_text(struct kv_tables *tables, const char *text, int rounds,
                     char message[KV_MESSAGE_BYTES])
{
    FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    int status;

    assert_non_null(file);
    status = kv_tables_read(tables, file, "f", PES, BLOCKS, rounds, SEED, message);
    fclose(file);
    return status;
}

static void test_valid(void **state)
{
    static const char text[] = "# a comment\n\n" HEAD ROLES "destination 1 2 0\nsource 0 3 1\n";
    char message[KV_MESSAGE_BYTES] = "";
    struct kv_tables tables;

    (void)state;
    if (read_text(&tables, text, 1, message) != 0)
        fail_msg("%s", message);
    assert_int_equal(tables.first[1], 2);
    assert_int_equal(tables.move[0].sender, 0);
    assert_int_equal(tables.move[0].receiver, 1);
    assert_int_equal(tables.move[0].from, 3);
    assert_int_equal(tables.move[0].to, 2);
    assert_int_equal(tables.move[1].from, 1);
    assert_int_equal(tables.move[1].to, 0);
    assert_true(tables.move[0].sequence > 0);
    kv_tables_fini(&tables);
}

/* The message names file, line, value, and what is allowed. */
static void test_invalid(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"#", "f:1: the file has 0 rounds, and the run 1"},
        {"round 1\n", "f:1: round: tables is expected"},
        {"tables\n", "f:1: the version is missing: 0 to 1073741824 is allowed"},
        {"tables 2 pes 4 blocks 4 seed 22\n", "f:1: version 2: this run has 1"},
        {"tables 1 pes 5 blocks 4 seed 22\n", "f:1: pes 5: this run has 4"},
        {"tables 1 pes 4 blocks 9 seed 22\n", "f:1: blocks 9: this run has 4"},
        {"tables 1 pes 4 blocks 4 seed 1\n", "f:1: seed 1: this run has 22"},
        {"tables 1 pes 4 seed 1\n", "f:1: seed: the word blocks is expected"},
        {"tables 1 pes 4 blocks 4 seed 22 x\n", "f:1: x: the line should end here"},
        {"tables 1 pes 4 blocks 4 seed 22\npe 0 none\n", "f:2: pe: round is allowed"},
        {HEAD "round 2\n", "f:3: round 2: 0 to 1 is allowed"},
        {"tables 1 pes 4 blocks 4 seed 22\nround 0\n", "f:2: round 0: 1 is expected"},
        {HEAD "pe 0 none\npe 1 none\npe 3 none\n", "f:5: round 1 ends here, and PE 2 has no role"},
        {HEAD "pe 4 none\n", "f:3: PE 4: 0 to 3 is allowed"},
        {HEAD "pe -1 none\n", "f:3: PE -1: 0 to 3 is allowed"},
        {HEAD "pe 99999999999999999999 none\n", "f:3: PE 99999999999999999999: 0 to 3 is allowed"},
        {HEAD "pe 0 none\npe 0 none\n", "f:4: PE 0: its role is in line 3 already"},
        {HEAD "pe 0 both\n", "f:3: role both: sender, receiver or none is allowed"},
        {HEAD "pe 0\n", "f:3: role missing: sender, receiver or none is allowed"},
        {HEAD "pe 0 sender\n", "f:3: the partner is missing: 0 to 3 is allowed"},
        {HEAD "pe 0 sender 4\n", "f:3: partner 4: 0 to 3 is allowed"},
        {HEAD "pe 0 sender 0\n", "f:3: partner 0: another PE than 0 itself is allowed"},
        {HEAD "pe 0 sender 1\npe 1 none\npe 2 none\npe 3 none\nsource 0 1\n",
         "f:3: PE 0 and its partner 1: a sender and a receiver are allowed"},
        {HEAD "pe 0 sender 1\npe 1 sender 0\npe 2 none\npe 3 none\nsource 0 1\n",
         "f:3: PE 0 and its partner 1: a sender and a receiver are allowed"},
        {HEAD
         "pe 0 sender 1\npe 1 receiver 2\npe 2 sender 1\npe 3 none\nsource 0 1\ndestination 1 1\n",
         "f:3: PE 0 has the partner 1, whose partner is 2"},
        {HEAD ROLES,
         "f:3: PE 0 lists 0 blocks, and its partner 0: the same number from 1 on is allowed"},
        {HEAD ROLES "source 0 0 1\ndestination 1 0\n",
         "f:3: PE 0 lists 2 blocks, and its partner 1: the same number from 1 on is allowed"},
        {HEAD ROLES "source 1 0\n", "f:7: PE 1: a sender is allowed; its role comes first"},
        {HEAD ROLES "destination 0 0\n", "f:7: PE 0: a receiver is allowed; its role comes first"},
        {HEAD "source 0 0\n", "f:3: PE 0: a sender is allowed; its role comes first"},
        {HEAD ROLES "source 0\n", "f:7: the block is missing: 0 to 3 is allowed"},
        {HEAD ROLES "source 0 4\n", "f:7: block 4: 0 to 3 is allowed"},
        {HEAD ROLES "source 0 1x\n", "f:7: block 1x: 0 to 3 is allowed"},
        {HEAD ROLES "source 0 1 2 1\n", "f:7: block 1: it is listed twice"},
        {HEAD ROLES "destination 1 1 2 1\n", "f:7: block 1: it is listed twice"},
        {HEAD ROLES "source 0 1\nsource 0 2\n", "f:8: PE 0: it has a block table already"},
        {HEAD "pe 1 sender 3\npe 3 receiver 1\nsource 1 0\n",
         "f:5: block 0 of PE 1: it is free in round 1"},
        {HEAD "pe 0 receiver 2\npe 2 sender 0\ndestination 0 0\n",
         "f:5: block 0 of PE 0: it is in use in round 1"},
        {HEAD ROLES "sources 0 1\n", "f:7: sources: round, pe, source or destination is allowed"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char message[KV_MESSAGE_BYTES] = "";
        struct kv_tables tables;

        assert_int_equal(read_text(&tables, cases[i].text, 1, message), -1);
        assert_string_equal(message, cases[i].message);
    }
}

/* What the planner plans in many rounds is written, read, and written again. */
static void test_plan_survives(void **state)
{
    const struct kv_shape shape = {BLOCKS, 1, 2, 3};
    enum { ROUNDS = 50 };
    char *text = NULL, *again = NULL, message[KV_MESSAGE_BYTES] = "";
    uint64_t sums[ROUNDS][PES];
    struct kv_tables tables;
    struct kv_model model;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);

    (void)state;
    assert_int_equal(kv_model_init(&model, &shape, PES, SEED), 0);
    kv_tables_write_head(file, PES, BLOCKS, SEED);
    for (int r = 0; r < ROUNDS; r++) {
        assert_null(kv_model_round(&model));
        kv_tables_write(file, &model.plan, PES, r + 1);
        for (int pe = 0; pe < PES; pe++)
            sums[r][pe] = kv_checksum(&shape, model.caches[pe]);
    }
    fclose(file);
    kv_model_fini(&model);

    if (read_text(&tables, text, ROUNDS, message) != 0)
        fail_msg("%s", message);
    assert_true(tables.first[ROUNDS] > ROUNDS / 2);
    assert_int_equal(kv_model_init(&model, &shape, PES, SEED), 0);
    model.given = &tables;
    file = open_memstream(&again, &bytes);
    kv_tables_write_head(file, PES, BLOCKS, SEED);
    for (int r = 0; r < ROUNDS; r++) {
        assert_null(kv_model_round(&model));
        kv_tables_write(file, &model.plan, PES, r + 1);
        for (int pe = 0; pe < PES; pe++)
            assert_true(kv_checksum(&shape, model.caches[pe]) == sums[r][pe]);
    }
    fclose(file);
    assert_string_equal(again, text);
    kv_model_fini(&model);
    kv_tables_fini(&tables);
    free(again);
    free(text);
}

/* A file that ends anywhere is refused or complete, and never crashes the reader. */
static void test_truncated(void **state)
{
    static const char text[] = HEAD ROLES "source 0 0 1\ndestination 1 2 3\n";
    char part[sizeof text], message[KV_MESSAGE_BYTES];
    struct kv_tables tables;

    (void)state;
    for (size_t n = 1; n < sizeof text; n++) {
        memcpy(part, text, n);
        part[n] = '\0';
        /* The last newline is optional. */
        if (read_text(&tables, part, 1, message) == 0) {
            assert_true(n >= sizeof text - 2);
            kv_tables_fini(&tables);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),
        cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_plan_survives),
        cmocka_unit_test(test_truncated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
