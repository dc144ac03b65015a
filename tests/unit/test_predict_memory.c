/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulation behind gba_predict on one host with a core for each rank: exact where a formula
 * can be written down, and against what was measured on 16 cores.
 */
#include "contrib/perf/lines.h"
#include "sim/predict/engine.h"
#include "tests/suite.h"

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
    const uint64_t signal = c.store_issue + c.store, own = c.load / c.load_overlap;
    const uint64_t next = larger(c.store_next, c.store_issue);

    for (uint32_t n = 2; n <= 8; n++) {
        const uint64_t rounds = n > 4 ? 3 : n > 2 ? 2 : 1;

        assert_int_equal(time_of(n, GBA_HIERARCHY_NODE, GBA_ALGORITHM_AUTO, 8, 1),
                         n * c.atomic + signal + (n - 2) * c.reload);
        assert_int_equal(flat(n, GBA_ALGORITHM_V1), rounds * signal);
        /* The signals of a round arrive as they leave, and the member polls each in turn. */
        assert_int_equal(flat(n, GBA_ALGORITHM_V2), signal + (n - 2) * larger(next, own));
        /* The first flag is polled; the others are there. */
        assert_int_equal(flat(n, GBA_ALGORITHM_V3), signal + (n - 2) * c.load);
        /* The root polls its first child, finds the others, and releases all. */
        assert_int_equal(flat(n, GBA_ALGORITHM_TREE), 2 * signal + (n - 2) * (own + next));
    }
}

ON_DEFAULTS(test_formulas)
{
    formulas();
    c.store_next = 0; /* the core that stores is the slower one */
    formulas();
    c.load_overlap = 1;
    formulas();
}

/* The paths: those of the loops of a calibration, and others. */
enum { DISSEMINATION = PERF_LOOPS, RADIX, TREE };

static const struct {
    const char *name;
    int32_t hierarchy, algorithm;
} paths[] = {[PERF_ONE_ROUND] = {"one round", GBA_HIERARCHY_FLAT, GBA_ALGORITHM_V2},
             [PERF_PULL] = {"central", GBA_HIERARCHY_FLAT, GBA_ALGORITHM_V3},
             [PERF_COUNTER] = {"counter", GBA_HIERARCHY_NODE, GBA_ALGORITHM_AUTO},
             [DISSEMINATION] = {"dissemination", GBA_HIERARCHY_FLAT, GBA_ALGORITHM_V1},
             [RADIX] = {"radix", GBA_HIERARCHY_FLAT, GBA_ALGORITHM_V2},
             [TREE] = {"tree", GBA_HIERARCHY_FLAT, GBA_ALGORITHM_TREE}};

/* ns from barrier to barrier, of many. */
static double path_ns(uint32_t kind, uint32_t n, uint32_t radix)
{
    return (double)time_of(n, paths[kind].hierarchy, paths[kind].algorithm, radix, 200) / 1e3;
}

static uint64_t ps(double ns)
{
    return (uint64_t)(1000 * ns + 0.5);
}

/* gba_perf --calibrate finds the terms of a description in the times that they lead to. */
ON_DEFAULTS(test_calibration)
{
    struct perf_loop_time times[3 * PERF_LOOPS];
    struct perf_lines lines;
    const double store = (double)c.store / 1e3;
    size_t count = 0;

    c.store_issue = 0;
    c.atomic = 31000;
    for (uint32_t n = 2; n <= 8; n *= 2)
        for (uint32_t i = 0; i < PERF_LOOPS; i++)
            times[count++] = (struct perf_loop_time){(enum perf_loop)i, n,
                                                     PERF_LEADER == i ? 2 * store + (n - 2) * 5
                                                                      : path_ns(i, n, 8)};
    lines = perf_lines_fit(store, times, count);
    assert_int_equal(ps(lines.store_next), c.store_next);
    assert_int_equal(ps(lines.load), c.load);
    assert_int_equal(ps(lines.atomic), c.atomic);
    assert_int_equal(lines.load_overlap, c.load / 5000);
    /* Loads that cost nothing, and loads that do not overlap. */
    times[PERF_LOOPS + PERF_LEADER].ns = 0;
    assert_int_equal(perf_lines_fit(store, times, count).load_overlap, 64);
    times[PERF_LOOPS + PERF_LEADER].ns = 1e6;
    assert_int_equal(perf_lines_fit(store, times, count).load_overlap, 1);
    /* Of two ranks only the counter has more than one line. */
    lines = perf_lines_fit(store, times, PERF_LOOPS);
    assert_int_equal(ps(lines.atomic), c.atomic);
    assert_true(0 == lines.load && 0 == lines.store_next && 0 == lines.load_overlap);
}

/* What gba_perf measured as MPI_Barrier on 16 cores of one socket and last-level cache (Xeon,
 * Sapphire Rapids, a virtual machine) on November 26, 2026: Open MPI 6.0.0rc2, each rank bound to a
 * core, medians of 3 interleaved runs. All paths of one host with 4 to 16 ranks, and 2. */
static const struct row {
    uint32_t ranks, kind, radix; /* kind: that of a loop, or one of the above */
    double ns;
} rows[] = {
    {2, DISSEMINATION, 8, 191},
    {4, DISSEMINATION, 8, 336},
    {4, RADIX, 3, 431},
    {4, PERF_ONE_ROUND, 4, 305},
    {4, PERF_ONE_ROUND, 8, 287},
    {4, PERF_ONE_ROUND, 16, 272},
    {4, PERF_PULL, 8, 466},
    {4, TREE, 8, 447},
    {4, PERF_COUNTER, 8, 494},
    {8, DISSEMINATION, 8, 558},
    {8, RADIX, 3, 516},
    {8, RADIX, 4, 464},
    {8, PERF_ONE_ROUND, 8, 537},
    {8, PERF_ONE_ROUND, 16, 526},
    {8, PERF_PULL, 8, 910},
    {8, TREE, 8, 783},
    {8, PERF_COUNTER, 8, 796},
    {12, DISSEMINATION, 8, 720},
    {12, RADIX, 3, 703},
    {12, RADIX, 4, 569},
    {12, RADIX, 8, 657},
    {12, PERF_ONE_ROUND, 16, 851},
    {12, PERF_PULL, 8, 1123},
    {12, TREE, 8, 880},
    {16, DISSEMINATION, 8, 747},
    {16, RADIX, 3, 762},
    {16, RADIX, 4, 641},
    {16, RADIX, 8, 723},
    {16, PERF_ONE_ROUND, 16, 1149},
    {16, PERF_PULL, 8, 1321},
    {16, TREE, 8, 1066},
    {16, PERF_COUNTER, 8, 1255},
};

#define ROWS (sizeof rows / sizeof rows[0])

/* The bare loops on the same machine, pinned; medians of 7 runs. gba_perf --calibrate measured
 * 167.6 ns as `store`. */
static const struct perf_loop_time bare[] = {
    {PERF_ONE_ROUND, 2, 147}, {PERF_ONE_ROUND, 4, 250}, {PERF_ONE_ROUND, 8, 461},
    {PERF_PULL, 2, 161},      {PERF_PULL, 4, 442},      {PERF_PULL, 8, 941},
    {PERF_LEADER, 2, 290},    {PERF_LEADER, 4, 412},    {PERF_LEADER, 8, 457},
    {PERF_COUNTER, 2, 230},   {PERF_COUNTER, 4, 400},   {PERF_COUNTER, 8, 786}};

static void describe(double store, const struct perf_loop_time *times, size_t count)
{
    const struct perf_lines lines = perf_lines_fit(store, times, count);

    c.store_issue = 0;
    c.store = ps(store);
    c.store_next = ps(lines.store_next);
    c.load = ps(lines.load);
    c.atomic = ps(lines.atomic);
    print_message("store %.1f, store_next %.1f, load %.1f, load_overlap %u, atomic %.1f\n", store,
                  lines.store_next, lines.load, (unsigned)c.load_overlap, lines.atomic);
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* The description that was set, against the rows of 4 ranks and more. */
static void check_rows(void)
{
    double errors[ROWS];
    size_t count = 0;

    for (size_t i = 0; i < ROWS; i++) {
        const struct row *row = &rows[i];
        const double predicted = path_ns(row->kind, row->ranks, row->radix);
        const double error = predicted / row->ns - 1;

        print_message("%2u ranks, %s, radix %u: predicted %.0f, measured %.0f ns: %+.0f%%\n",
                      row->ranks, paths[row->kind].name, row->radix, predicted, row->ns,
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

/* The terms from the rows of 2, 4 and 8 ranks. The time of a store is the slope over the rounds of
 * dissemination; no path depends on load_overlap alone. */
ON_DEFAULTS(test_measured)
{
    struct perf_loop_time times[ROWS];
    double xx = 0, xy = 0;
    size_t count = 0;

    for (size_t i = 0; i < ROWS && rows[i].ranks <= 8; i++) {
        const double rounds = rows[i].ranks > 4 ? 3 : rows[i].ranks / 2;

        if (rows[i].kind < PERF_LOOPS)
            times[count++] =
                (struct perf_loop_time){(enum perf_loop)rows[i].kind, rows[i].ranks, rows[i].ns};
        if (rows[i].kind == DISSEMINATION) {
            xx += rounds * rounds;
            xy += rounds * rows[i].ns;
        }
    }
    describe(xy / xx, times, count);
    check_rows();
}

/* The terms from the bare loops, as gba_perf --calibrate has them. */
ON_DEFAULTS(test_calibrated)
{
    const size_t count = sizeof bare / sizeof bare[0];

    c.load_overlap = perf_lines_fit(167.6, bare, count).load_overlap;
    describe(167.6, bare, count);
    check_rows();
}

TEST_MAIN()
