/* SPDX-License-Identifier: BSD-3-Clause */
/* The decisions of a trial, as pure functions. test_trial.c runs trials. */
#include "gba/agree/trial.h"
#include "tests/suite.h"

#define SECOND UINT64_C(1000000000)

static void list_is(const char *expected, struct gba_terms terms, uint32_t hosts, uint32_t size,
                    bool fallback)
{
    const struct gba_info info = {.terms = terms, .hosts = hosts, .size = size};
    struct gba_choice list[GBA_CHOICES_MOST];
    char text[256] = "", name[GBA_CHOICE_NAME];
    uint32_t count;

    count = gba_choices_list(&info, fallback, list);
    assert_true(count <= GBA_CHOICES_MOST);
    for (uint32_t i = 0; i < count; i++) {
        strcat(text, 0 == i ? "" : ", ");
        gba_choice_name(&list[i], 1 != hosts, name);
        strcat(text, name);
    }
    assert_string_equal(text, expected);
}

TEST(test_candidates)
{
    static const struct gba_terms any;

    list_is("counter, dissemination, radix 3, radix 4, tree, central, fallback", any, 1, 4, true);
    list_is("counter, dissemination, radix 4, radix 8, radix 3, tree, central, fallback", any, 1,
            16, true);
    list_is("counter, dissemination, radix 4, radix 3, radix 8, tree, central", any, 1, 8, false);
    list_is("counter, dissemination, radix 5, tree, central", (struct gba_terms){.radix = 5}, 1, 8,
            false);
    list_is("counter, dissemination, central", any, 1, 2, false);
    list_is("dissemination, radix 3, radix 4, tree, central",
            (struct gba_terms){.hierarchy = GBA_HIERARCHY_FLAT}, 1, 4, true);
    list_is("counter", (struct gba_terms){.hierarchy = GBA_HIERARCHY_NODE}, 1, 4, true);
    list_is("", (struct gba_terms){.algorithm = GBA_ALGORITHM_V2}, 1, 4, true);
    list_is("node dissemination, node radix 3, node tree, flat dissemination, flat radix 4, "
            "flat radix 3, flat radix 6, flat tree, fallback",
            any, 3, 6, true);
    list_is("node dissemination, flat dissemination, flat radix 3, flat radix 4, flat tree", any, 2,
            4, false);
    list_is("node dissemination, node radix 3, node radix 4, node tree, fallback", any, 4, 4, true);
    list_is("node dissemination, fallback", any, 2, 2, true);
    list_is("node radix 8, flat radix 8",
            (struct gba_terms){.algorithm = GBA_ALGORITHM_V2, .radix = 8}, 3, 6, true);
    list_is("flat dissemination, flat radix 3, flat tree",
            (struct gba_terms){.hierarchy = GBA_HIERARCHY_FLAT}, 3, 3, true);
    list_is("", (struct gba_terms){.algorithm = GBA_ALGORITHM_V3}, 3, 6, true);
    list_is("node tree, flat tree", (struct gba_terms){.algorithm = GBA_ALGORITHM_TREE}, 2, 6,
            true);
}

/* The trials of a long run cost less than 1% of it. */
TEST(test_cost)
{
    static const uint64_t intervals[] = {200, 3000, 100000, SECOND};

    assert_false(gba_trial_affordable(0, 0, 0));
    assert_false(gba_trial_affordable(1000 * SECOND, 30000, 0));
    assert_true(gba_trial_affordable(2 * SECOND, 50000, 0)); /* the default of trial_after */
    assert_false(gba_trial_affordable(99 * SECOND, 1000, SECOND));
    assert_true(gba_trial_affordable(100 * SECOND, 1000, SECOND));
    for (size_t i = 0; i < sizeof intervals / sizeof intervals[0]; i++) {
        uint64_t pause = 30000, now = 0, began = 0, last = 0, spent = 0, trials = 0;

        for (uint64_t barriers = 0; barriers < UINT64_C(1000000000); barriers += pause) {
            const uint64_t cost = 3000000 + 350 * intervals[i];

            now += pause * intervals[i];
            if (gba_trial_affordable(now - began, (now - began) / intervals[i], last)) {
                trials++;
                spent += cost;
                began = now;
                last = cost;
                pause = gba_trial_pause(pause, 30000);
            }
            assert_true(100 * spent <= now);
        }
        assert_true(trials > 2);
    }
    assert_int_equal(gba_trial_pause(7, 7), 14);
    assert_int_equal(gba_trial_pause(1024 * 7, 7), 1024 * 7);
}

TEST(test_batches)
{
    assert_int_equal(gba_trial_batch(0), 12);
    assert_int_equal(gba_trial_batch(1), 256);
    assert_int_equal(gba_trial_batch(1000 * 1000), 100);
    assert_int_equal(gba_trial_batch(UINT64_MAX), 12);
    assert_false(gba_trial_hopeless(200, 100));
    assert_true(gba_trial_hopeless(202, 100));
    assert_true(gba_trial_hopeless(UINT64_MAX, 100));
}

/* Whatever the costs: the choice is never slower than the current barrier, it is the fastest if
 * that gains more than 3%, and costs that differ by less change nothing. */
TEST(test_choice)
{
    uint64_t costs[GBA_TRIAL_MOST] = {0};

    srandom(1);
    for (int n = 0; n < 200000; n++) {
        const uint32_t count = 1 + (uint32_t)random() % GBA_TRIAL_MOST;
        const bool current = 0 != random() % 4;
        uint64_t least = UINT64_MAX;
        uint32_t best;

        for (uint32_t i = 0; i < count; i++) {
            /* Close to each other, or of any size. */
            costs[i] = n % 2 ? 100000 + (uint64_t)random() % 8000 : (uint64_t)random() << n % 24;
            least = costs[i] < least ? costs[i] : least;
        }
        best = gba_trial_best(costs, count, current);
        assert_true(best < count);
        if (0 == best && current)
            assert_true(least + costs[0] / 100 * 3 + 4 >= costs[0]);
        else
            assert_true(costs[best] == least &&
                        (!current || least <= costs[0] - costs[0] / 100 * 3));
    }
}

/* The median of three passes, whichever pass a path is missing in. */
TEST(test_passes)
{
    const struct gba_choice flat = {.hierarchy = GBA_HIERARCHY_FLAT}, own = {.fallback = true};
    struct gba_trial_record record = {.passes = 0};
    const uint64_t costs[] = {1, 2, UINT64_MAX}; /* the last one: missing */
    uint64_t median = 0;

    assert_false(gba_trial_median(&record, own, &median));
    for (int order = 0; order < 27; order++) {
        const int digit[] = {order % 3, order / 3 % 3, order / 9};
        const int least = digit[0] < digit[1] ? digit[0] : digit[1];
        const int most = digit[0] < digit[1] ? digit[1] : digit[0];
        const int middle = digit[2] < least ? least : digit[2] > most ? most : digit[2];

        record = (struct gba_trial_record){.passes = 0};
        for (; record.passes < GBA_TRIAL_PASSES; record.passes++) {
            gba_trial_add(&record, own, 7);
            if (2 != digit[record.passes])
                gba_trial_add(&record, flat, costs[digit[record.passes]]);
        }
        assert_int_equal(gba_trial_median(&record, flat, &median), 2 != middle);
        if (2 != middle)
            assert_int_equal(median, costs[middle]);
        assert_true(gba_trial_median(&record, own, &median));
        assert_int_equal(median, 7);
    }
}

/* A path that a member gave up has no cost, whatever is measured before and after. */
TEST(test_a_lost_path_has_no_cost)
{
    const struct gba_choice flat = {.hierarchy = GBA_HIERARCHY_FLAT}, own = {.fallback = true};

    for (uint32_t lost = 0; lost <= GBA_TRIAL_PASSES; lost++) {
        struct gba_trial_record record = {.passes = 0};
        uint64_t median = 0;

        for (uint32_t pass = 0; pass <= GBA_TRIAL_PASSES; pass++) {
            if (pass == lost)
                gba_trial_lose(&record, flat);
            gba_trial_add(&record, flat, 1);
            gba_trial_add(&record, own, 7);
            assert_int_equal(gba_trial_lost(&record, flat), pass >= lost);
            assert_false(gba_trial_lost(&record, own));
        }
        assert_false(gba_trial_median(&record, flat, &median));
        assert_true(gba_trial_median(&record, own, &median));
    }
}

TEST_MAIN()
