/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulation behind gba_predict on one host with a core for each rank: exact where a formula
 * can be written down, and against what was measured on 16 cores.
 */
#include "sim/predict/engine.h"
#include "tests/suite.h"
#include "tests/unit/measured_cores.h"

static struct gba_cluster c;

static int defaults(void **state)
{
    (void)state;
    gba_cluster_default(&c);
    c.sockets = 1;
    return 0;
}

#define ON_DEFAULTS(name) TEST_WITH(name, defaults, NULL, NULL)

/* ps from barrier to barrier of n ranks on one host. */
static uint64_t time_of(uint32_t n, int32_t hierarchy, int32_t algorithm, uint32_t radix,
                        uint32_t barriers)
{
    const struct predict_setup setup = {.cluster = &c,
                                        .choice = {.hierarchy = hierarchy, .algorithm = algorithm},
                                        .hosts = 1,
                                        .ranks = n,
                                        .radix = radix,
                                        .warmup = barriers / 10,
                                        .barriers = barriers,
                                        .seed = 1};
    struct predict_result result;

    assert_int_equal(predict_run(&setup, &result), GBA_OK);
    return result.mean;
}

static uint64_t flat(uint32_t n, int32_t algorithm)
{
    return time_of(n, GBA_HIERARCHY_FLAT, algorithm, 8, 1);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void formulas(void)
{
    const uint64_t signal = c.store_issue + c.store, own = c.store / 15;
    const uint64_t next = larger(c.store / 3, c.store_issue);

    for (uint32_t n = 2; n <= 8; n++) {
        const uint64_t rounds = n > 4 ? 3 : n > 2 ? 2 : 1;

        assert_int_equal(time_of(n, GBA_HIERARCHY_NODE, GBA_ALGORITHM_AUTO, 8, 1),
                         n * c.atomic + signal + (n - 2) * GBA_CLUSTER_RELOAD);
        assert_int_equal(flat(n, GBA_ALGORITHM_V1), rounds * signal);
        /* The signals of a round arrive as they leave, and the member polls each in turn. */
        assert_int_equal(flat(n, GBA_ALGORITHM_V2), signal + (n - 2) * larger(next, own));
        /* The first flag is polled; the others are there. */
        assert_int_equal(flat(n, GBA_ALGORITHM_V3), signal + (n - 2) * (2 * c.store / 3));
        /* The root polls its first child, finds the others, and releases all. */
        assert_int_equal(flat(n, GBA_ALGORITHM_TREE), 2 * signal + (n - 2) * (own + next));
    }
}

ON_DEFAULTS(test_formulas)
{
    formulas();
    c.store_issue = 25000; /* the core that stores is the slower one */
    formulas();
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* The barriers of 4 to 16 ranks, from two terms: the slopes of the times of 2, 4 and 8 ranks over
 * the rounds of dissemination and over the ranks of the counter. */
ON_DEFAULTS(test_measured)
{
    double errors[ROWS];
    size_t count = 0;

    c.store_issue = 0;
    c.store = 181200;
    c.atomic = 90400;
    for (size_t i = 0; i < ROWS; i++) {
        const struct row *row = &rows[i];
        const double predicted =
            (double)time_of(row->ranks, row->hierarchy, row->algorithm, row->radix, 200) / 1e3;
        const double error = predicted / row->ns - 1;

        print_message("%2u ranks, hierarchy %d, algorithm %d, radix %u: predicted %.0f, measured "
                      "%u ns: %+.0f%%\n",
                      row->ranks, row->hierarchy, row->algorithm, row->radix, predicted, row->ns,
                      100 * error);
        if (row->ranks >= 4)
            errors[count++] = error < 0 ? -error : error;
    }
    qsort(errors, count, sizeof errors[0], compare);
    print_message("%zu rows: %.1f%% in the median, %.1f%% in 95%%, %.1f%% at most\n", count,
                  100 * errors[count / 2], 100 * errors[(count * 95 + 99) / 100 - 1],
                  100 * errors[count - 1]);
    assert_true(errors[count / 2] < 0.15);
    assert_true(errors[(count * 95 + 99) / 100 - 1] < 0.35);
}

TEST_MAIN()
