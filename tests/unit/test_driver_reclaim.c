/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of gba/spec/device.md on scarce groups, on the driver's model. */
#include "tests/unit/driver_bench.h"

#define WINDOW GBA_USAGE_WINDOW_NS

enum { GROUPS = 3 };

/* A small device: records of its groups, and the request of a user. */
static struct gba_driver_record records[GROUPS];
static struct gba_driver_request asker;

static void scarce(void)
{
    bench_power_on(GROUPS);
    memset(records, 0, sizeof records);
    asker = (struct gba_driver_request){
        .members = 2, .holder = ann, .claim = {.uid = 7, .job = 70, .now = 1}};
}

/* Give that group to the job of the request; ann is member 0, bob is member 1. */
static void give(uint32_t number)
{
    struct gba_driver_record *r = &records[number];
    struct gba_model_group *g = &bench.group[number];

    assert_int_equal(gba_driver_alloc(r, g, &asker), GBA_OK);
    for (uint32_t member = 0; member < 2; member++) {
        const uint32_t holder = member ? bob : ann;

        assert_int_equal(gba_driver_join(r, r->head.generation, r->head.key, member, holder),
                         GBA_OK);
        assert_int_equal(
            gba_driver_map(r, g, r->head.generation, member, bench_flag(number, member), holder),
            GBA_OK);
    }
    assert_int_equal(gba_driver_configure(r, g, r->head.generation, 0, bob, asker.claim.now),
                     GBA_OK);
}

static void rounds(uint32_t number, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t next = bench.group[number].core.sequence + 1;

        bench_arrive(number, 0, next);
        assert_int_equal(bench_arrive(number, 1, next), 2);
    }
}

/* The result of an ALLOC with that request. */
static gba_status_t ask(uint32_t *number, bool *reclaim)
{
    struct gba_survey survey;

    gba_survey_init(&survey);
    for (uint32_t i = 0; i < GROUPS; i++)
        gba_survey_group(&survey, &records[i].head.usage, records[i].head.state,
                         &bench.group[i].core, i, &asker.claim);
    return gba_survey_decide(&survey, &asker.claim, number, reclaim);
}

static void gets_free(uint32_t number)
{
    uint32_t got = GBA_SURVEY_NONE;
    bool reclaim = true;

    assert_int_equal(ask(&got, &reclaim), GBA_OK);
    assert_int_equal(got, number);
    assert_false(reclaim);
}

static void takes_back(uint32_t number)
{
    uint32_t got = GBA_SURVEY_NONE;
    bool reclaim = false;

    assert_int_equal(ask(&got, &reclaim), GBA_OK);
    assert_int_equal(got, number);
    assert_true(reclaim);
    assert_true(gba_usage_can_reclaim(&records[number].head.usage, records[number].head.state,
                                      &bench.group[number].core, &asker.claim));
}

static void refused(gba_status_t status)
{
    uint32_t got = 12345;
    bool reclaim = true;

    assert_int_equal(ask(&got, &reclaim), status);
    assert_int_equal(got, 12345);
    assert_true(reclaim);
}

static void test_DRV_11_a_job_has_no_more_than_its_limit(void **state)
{
    (void)state;
    scarce();
    asker.claim.groups_max = 2;
    gets_free(0);
    give(0);
    gets_free(1);
    asker.claim.job = 71; /* groups of another job, and of the same job number of another user: they
                       do not count */
    give(1);
    asker.claim.uid = 8;
    asker.claim.job = 70;
    give(2);
    asker.claim.uid = 7;
    refused(GBA_ERR_NO_GROUP);
    asker.claim.groups_max = 1;
    refused(GBA_ERR_LIMIT);
    asker.claim.groups_max = 0;
    refused(GBA_ERR_NO_GROUP);
    asker.claim.groups_max = 1;

    assert_int_equal(
        gba_driver_leave(&records[0], &bench.group[0], records[0].head.generation, 0, ann), GBA_OK);
    refused(GBA_ERR_LIMIT); /* bob still holds it */
    assert_int_equal(
        gba_driver_leave(&records[0], &bench.group[0], records[0].head.generation, 1, bob), GBA_OK);
    gets_free(0);
}

/* An allocation without any join is held, too. */
static void test_DRV_11_allocated_is_held(void **state)
{
    (void)state;
    scarce();
    asker.claim.groups_max = 1;
    assert_int_equal(gba_driver_alloc(&records[1], &bench.group[1], &asker), GBA_OK);
    refused(GBA_ERR_LIMIT);
}

static void test_DRV_12_the_slowest_is_taken(void **state)
{
    (void)state;
    scarce();
    for (uint32_t i = 0; i < GROUPS; i++)
        give(i);
    rounds(0, 5); /* 100 a second */
    rounds(1, 1); /* 20 */
    rounds(2, 2); /* 40 */
    asker.claim.now += WINDOW;
    refused(GBA_ERR_NO_GROUP); /* a request without a barrier rate takes nothing back, and makes no
                                  sample */
    assert_int_equal(records[1].head.usage.rated, 0);
    asker.claim.barrier_rate = 4 * 20;
    refused(GBA_ERR_NO_GROUP); /* 4 times the rate is not enough, more is */
    asker.claim.barrier_rate++;
    takes_back(1);
    asker.claim.barrier_rate = UINT32_MAX;
    takes_back(1);
    bench_arrive(1, 1, 2); /* a member has arrived at its round */
    takes_back(2);
    records[2].head.usage.uid = 8;
    takes_back(0);
    asker.claim.barrier_rate = 4 * 100;
    refused(GBA_ERR_NO_GROUP);
}

static void test_DRV_12_of_several_the_lowest_number(void **state)
{
    (void)state;
    scarce();
    for (uint32_t i = 0; i < GROUPS; i++)
        give(i);
    asker.claim.barrier_rate = 1;
    asker.claim.now += WINDOW;
    takes_back(0);
    records[0].head.state = GBA_LIFE_ALLOCATED; /* not armed: its members are about to agree */
    takes_back(1);
}

static void test_DRV_12_at_the_limit_one_of_the_same_job(void **state)
{
    (void)state;
    scarce();
    give(0);
    asker.claim.job = 71;
    give(1);
    rounds(1, 1);
    asker.claim.now += WINDOW;
    asker.claim.barrier_rate = 1000;
    asker.claim.groups_max = 1;
    takes_back(1); /* although 2 is free, and 0 has a lower rate */
    asker.claim.groups_max = 2;
    gets_free(2);
    give(2);
    asker.claim.groups_max = 1; /* the job has two: replacing one would leave two */
    refused(GBA_ERR_LIMIT);
}

/* Only between two rounds. */
static void test_DRV_12_at_every_point_of_a_round(void **state)
{
    (void)state;
    scarce();
    for (uint32_t i = 0; i < GROUPS; i++)
        give(i);
    records[1].head.usage.uid = records[2].head.usage.uid = 8;
    asker.claim.now += WINDOW;
    asker.claim.barrier_rate = 1000000;
    for (uint32_t round = 1; round <= 3; round++) {
        takes_back(0);
        bench_arrive(0, round % 2, round);
        refused(GBA_ERR_NO_GROUP);
        bench_arrive(0, round % 2, round); /* a repeat */
        refused(GBA_ERR_NO_GROUP);
        assert_int_equal(bench_arrive(0, 1 - round % 2, round), 2);
        takes_back(0);
    }
}

static void test_DRV_13_rates(void **state)
{
    struct gba_driver_head *head = &records[0].head;

    (void)state;
    scarce();
    for (uint32_t i = 0; i < GROUPS; i++)
        give(i);
    asker.claim.barrier_rate = UINT32_MAX;
    asker.claim.now += WINDOW - 1;
    refused(GBA_ERR_NO_GROUP);
    rounds(0, 10);
    asker.claim.now++;
    takes_back(1);
    assert_int_equal(head->usage.rate, 200);
    assert_true(head->usage.sampled_at == asker.claim.now);
    rounds(0, 10); /* no sample before the window has passed */
    asker.claim.now += WINDOW - 1;
    takes_back(1);
    assert_int_equal(head->usage.rate, 200);
    asker.claim.now += WINDOW + 1; /* 10 rounds in two windows */
    takes_back(1);
    assert_int_equal(head->usage.rate, 100);
    asker.claim.now += 4000000000u; /* a quarter of a round per second counts as none */
    rounds(0, 1);
    takes_back(0);
    assert_int_equal(head->usage.rate, 0);
    asker.claim.now -= 1000000000u; /* the clock goes back */
    takes_back(0);
}

/* However long the members take to agree. */
static void test_DRV_13_begins_when_it_is_armed(void **state)
{
    struct gba_driver_head *head = &records[0].head;
    struct gba_model_group *g = &bench.group[0];

    (void)state;
    scarce();
    asker.members = 1;
    for (uint32_t i = 1; i < GROUPS; i++)
        assert_int_equal(gba_driver_alloc(&records[i], &bench.group[i], &asker), GBA_OK);
    assert_int_equal(gba_driver_alloc(&records[0], g, &asker), GBA_OK);
    asker.claim.barrier_rate = UINT32_MAX;
    asker.claim.now += 10 * WINDOW;
    refused(GBA_ERR_NO_GROUP);
    assert_int_equal(gba_driver_join(&records[0], head->generation, head->key, 0, ann), GBA_OK);
    assert_int_equal(gba_driver_map(&records[0], g, head->generation, 0, bench_flag(0, 0), ann),
                     GBA_OK);
    assert_int_equal(
        gba_driver_configure(&records[0], g, head->generation, 0, ann, asker.claim.now), GBA_OK);
    assert_int_equal(bench_arrive(0, 0, 1), 1);
    asker.claim.now += WINDOW - 1;
    refused(GBA_ERR_NO_GROUP);
    asker.claim.now++;
    takes_back(0);
    assert_int_equal(head->usage.rate, 20);
}

static void test_DRV_13_rates_of_long_times(void **state)
{
    struct gba_driver_head *head = &records[0].head;

    (void)state;
    scarce();
    give(0);
    asker.claim.barrier_rate = 1;
    bench.group[0].core.counters[GBA_COUNTER_ROUNDS] = UINT64_C(1) << 60;
    asker.claim.now += 1000000000u;
    gets_free(1);
    assert_true(head->usage.rate == UINT32_MAX);
}

static void test_DRV_14_no_round_completes_any_more(void **state)
{
    (void)state;
    power_on();
    arm(3, 9);
    gba_driver_reclaim(&record, group);
    assert_int_equal(record.head.state, GBA_LIFE_TAKEN);
    assert_int_equal(bench_reg(4, GBA_REG_CONTROL), 0);
    for (uint32_t member = 0; member < 3; member++)
        assert_true(group->table[member] == 0);
    for (uint32_t sequence = 8; sequence <= 11; sequence++)
        for (uint32_t member = 0; member < 3; member++) {
            bench_refused_write(8, GBA_DOORBELL(4), GBA_ARRIVAL(sequence, member),
                                GBA_ERROR_DISABLED);
            assert_int_equal(effects.releases, 0);
            assert_false(effects.interrupt);
        }
}

/* An interruption is possible at any point; the whole step is then repeated. */
static void test_DRV_14_can_be_made_again(void **state)
{
    (void)state;
    for (int part = 0; part < 4; part++) {
        struct gba_driver_head old;
        struct gba_model_group after;

        power_on();
        arm(3, 9);
        old = record.head;
        gba_driver_reclaim(&record, group);
        after = *group;
        if (part & 1)
            record.head = old;
        if (part & 2)
            group->table[2] = bench_flag(4, 2);
        gba_driver_reclaim(&record, group);
        assert_int_equal(record.head.state, GBA_LIFE_TAKEN);
        assert_memory_equal(group, &after, sizeof after);
    }
}

/* The group belongs to another team now: no call of the old one changes it. */
static void test_DRV_15_the_record_goes_on_without_its_group(void **state)
{
    static struct gba_driver_record old;
    struct gba_model_group theirs;
    uint32_t last;

    (void)state;
    power_on();
    arm(3, 9);
    last = generation();
    gba_driver_reclaim(&record, group);
    old = record;
    record.head = (struct gba_driver_head){.generation = last};
    arm(2, 9);
    assert_int_not_equal(generation(), last);
    bench_arrive(4, 0, 10);
    theirs = *group;
    assert_int_equal(gba_driver_inspect(&old, last), GBA_ERR_RECLAIMED);
    assert_int_equal(gba_driver_inspect(&old, last + 1), GBA_ERR_STALE);
    assert_int_equal(gba_driver_inspect(&record, last), GBA_ERR_STALE);
    assert_int_equal(gba_driver_inspect(&record, generation()), GBA_OK);
    assert_int_equal(gba_driver_join(&old, last, KEY, 0, eve), GBA_ERR_STALE);
    assert_int_equal(gba_driver_join(&old, last, 0, 0, eve), GBA_ERR_STALE);
    assert_int_equal(gba_driver_map(&old, group, last, 0, 8, ann), GBA_ERR_STALE);
    assert_int_equal(gba_driver_configure(&old, group, last, 1, ann, 0), GBA_ERR_STALE);
    assert_int_equal(gba_driver_leave(&old, group, last, GBA_MEMBER_NONE, ann), GBA_ERR_PARAM);
    assert_int_equal(gba_driver_leave(&old, group, last, 1, ann), GBA_ERR_PARAM);
    assert_int_equal(old.head.mapped, 3);
    assert_int_equal(gba_driver_leave(&old, group, last, 0, ann), GBA_OK);
    assert_int_equal(gba_driver_leave(&old, group, last, 0, ann), GBA_ERR_PARAM);
    assert_int_equal(old.head.mapped, 2);
    assert_int_equal(reap_record(&old, eve), 0);
    assert_int_equal(old.head.state, GBA_LIFE_TAKEN);
    assert_int_equal(reap_record(&old, bob), 2);
    assert_int_equal(old.head.state, GBA_LIFE_FREE);
    assert_memory_equal(group, &theirs, sizeof theirs);
    assert_int_equal(bench_arrive(4, 1, 10), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_DRV_11_a_job_has_no_more_than_its_limit),
        cmocka_unit_test(test_DRV_11_allocated_is_held),
        cmocka_unit_test(test_DRV_12_the_slowest_is_taken),
        cmocka_unit_test(test_DRV_12_of_several_the_lowest_number),
        cmocka_unit_test(test_DRV_12_at_the_limit_one_of_the_same_job),
        cmocka_unit_test(test_DRV_12_at_every_point_of_a_round),
        cmocka_unit_test(test_DRV_13_rates),
        cmocka_unit_test(test_DRV_13_begins_when_it_is_armed),
        cmocka_unit_test(test_DRV_13_rates_of_long_times),
        cmocka_unit_test(test_DRV_14_no_round_completes_any_more),
        cmocka_unit_test(test_DRV_14_can_be_made_again),
        cmocka_unit_test(test_DRV_15_the_record_goes_on_without_its_group),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
