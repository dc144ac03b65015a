/* SPDX-License-Identifier: BSD-3-Clause */
/* Which group an ALLOC gets (sim/model/reclaim.h): device.md, "Scarce groups". */

#include "sim/model/reclaim.h"
#include "tests/suite.h"

#define WINDOW GBA_USAGE_WINDOW_NS

enum { GROUPS = 3 };

/* What the choice reads of each group of a small device, and the request. */
static struct {
    uint32_t life;
    struct gba_usage usage;
    struct gba_model_core core;
} groups[GROUPS];
static struct gba_claim asker;

static void scarce(void)
{
    memset(groups, 0, sizeof groups);
    asker = (struct gba_claim){.uid = 7, .job = 70, .now = 1};
}

static void give(uint32_t number)
{
    gba_usage_begin(&groups[number].usage, &asker);
    gba_usage_arm(&groups[number].usage, &groups[number].core, asker.now);
    groups[number].life = GBA_LIFE_ARMED;
}

static void give_all(void)
{
    scarce();
    for (uint32_t i = 0; i < GROUPS; i++)
        give(i);
}

static void rounds(uint32_t number, uint64_t count)
{
    groups[number].core.counters[GBA_COUNTER_ROUNDS] += count;
}

/* The result of an ALLOC with that request. */
static gba_status_t ask(uint32_t *number, bool *reclaim)
{
    struct gba_survey survey;

    gba_survey_init(&survey);
    for (uint32_t i = 0; i < GROUPS; i++)
        gba_survey_group(&survey, &groups[i].usage, groups[i].life, &groups[i].core, i, &asker);
    return gba_survey_decide(&survey, &asker, number, reclaim);
}

static void gets(uint32_t number, bool taken_back)
{
    uint32_t got = GBA_SURVEY_NONE;
    bool reclaim = !taken_back;

    assert_int_equal(ask(&got, &reclaim), GBA_OK);
    assert_int_equal(got, number);
    assert_int_equal(reclaim, taken_back);
}

static void takes_back(uint32_t number)
{
    gets(number, true);
    assert_true(gba_usage_can_reclaim(&groups[number].usage, groups[number].life,
                                      &groups[number].core, &asker));
}

static void refused(gba_status_t status)
{
    uint32_t got = 12345;
    bool reclaim = true;

    assert_int_equal(ask(&got, &reclaim), status);
    assert_int_equal(got, 12345);
    assert_true(reclaim);
}

TEST(test_DRV_11_a_job_has_no_more_than_its_limit)
{
    scarce();
    asker.groups_max = 2;
    gets(0, false);
    give(0);
    gets(1, false);
    /* Groups of another job, and of the same job number of another user, do not count. */
    asker.job = 71;
    give(1);
    asker.uid = 8;
    asker.job = 70;
    give(2);
    asker.uid = 7;
    refused(GBA_ERR_NO_GROUP);
    asker.groups_max = 1;
    refused(GBA_ERR_LIMIT);
    groups[0].life = GBA_LIFE_ALLOCATED; /* held without any join, too */
    refused(GBA_ERR_LIMIT);
    groups[0].life = GBA_LIFE_FREE;
    gets(0, false);
}

TEST(test_DRV_12_the_slowest_is_taken)
{
    give_all();
    rounds(0, 5); /* 100 a second */
    rounds(1, 1); /* 20 */
    rounds(2, 2); /* 40 */
    asker.now += WINDOW;
    refused(GBA_ERR_NO_GROUP); /* a request without a barrier rate takes nothing back, and makes no
                                  sample */
    assert_int_equal(groups[1].usage.rated, 0);
    asker.barrier_rate = 4 * 20;
    refused(GBA_ERR_NO_GROUP); /* 4 times the rate is not enough, more is */
    asker.barrier_rate++;
    takes_back(1);
    asker.barrier_rate = UINT32_MAX;
    groups[1].core.arrived_count = 1; /* only between two rounds */
    takes_back(2);
    groups[2].usage.uid = 8;
    takes_back(0);
    asker.barrier_rate = 4 * 100;
    refused(GBA_ERR_NO_GROUP);
}

TEST(test_DRV_12_of_several_the_lowest_number)
{
    give_all();
    asker.barrier_rate = 1;
    asker.now += WINDOW;
    takes_back(0);
    groups[0].life = GBA_LIFE_ALLOCATED; /* not armed: its members are about to agree */
    takes_back(1);
}

TEST(test_DRV_12_at_the_limit_one_of_the_same_job)
{
    scarce();
    give(0);
    asker.job = 71;
    give(1);
    rounds(1, 1);
    asker.now += WINDOW;
    asker.barrier_rate = 1000;
    asker.groups_max = 1;
    takes_back(1); /* although 2 is free, and 0 has a lower rate */
    asker.groups_max = 2;
    gets(2, false);
    give(2);
    asker.groups_max = 1; /* the job has two: replacing one would leave two */
    refused(GBA_ERR_LIMIT);
}

TEST(test_DRV_13_rates)
{
    const struct gba_usage *usage = &groups[0].usage;

    give_all();
    asker.barrier_rate = UINT32_MAX;
    asker.now += WINDOW - 1;
    refused(GBA_ERR_NO_GROUP);
    rounds(0, 10);
    asker.now++;
    takes_back(1);
    assert_int_equal(usage->rate, 200);
    assert_true(usage->sampled_at == asker.now);
    rounds(0, 10); /* no sample before the window has passed */
    asker.now += WINDOW - 1;
    takes_back(1);
    assert_int_equal(usage->rate, 200);
    asker.now += WINDOW + 1; /* 10 rounds in two windows */
    takes_back(1);
    assert_int_equal(usage->rate, 100);
    asker.now += 4000000000u; /* a quarter of a round per second counts as none */
    rounds(0, 1);
    takes_back(0);
    assert_int_equal(usage->rate, 0);
    asker.now -= 1000000000u; /* the clock goes back */
    takes_back(0);
    asker.now += 2000000000u;
    rounds(0, UINT64_C(1) << 60);
    takes_back(1);
    assert_true(usage->rate == UINT32_MAX);
}

TEST_MAIN()
