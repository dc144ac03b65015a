/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrivals and releases: device.md, chapters "Arrival", "Sequences" and "Release". */
#include "tests/conformance/conformance.h"

#define ROUNDS 1000

static struct conf_group group;

/* [ARR-3, SEQ-3] */
static void thousand_rounds(struct conf *conf, uint32_t members)
{
    gba_device_info_t before = conf_info(conf);

    conf_group_make(conf, &group, members, 0);
    for (uint32_t round = 1; round <= ROUNDS; round++)
        conf_round(conf, &group, round, round % members);
    assert_int_equal(conf_inspect(conf, group.membership[0]).sequence, ROUNDS);
    assert_int_equal(conf_inspect(conf, group.membership[0]).status,
                     GBA_STATUS_READY | GBA_STATUS_COMPLETE);
    conf_counted(conf, &before, GBA_COUNTER_ROUNDS, ROUNDS);
    conf_counted(conf, &before, GBA_COUNTER_ARRIVALS, (uint64_t)ROUNDS * members);
    conf_counted(conf, &before, GBA_COUNTER_RELEASES, (uint64_t)ROUNDS * members);
    for (uint32_t counter = GBA_COUNTER_REPEATS; counter < GBA_COUNTERS; counter++)
        conf_counted(conf, &before, counter, 0);
    conf_group_leave(conf, &group);
}

static void rounds_1(struct conf *conf)
{
    thousand_rounds(conf, 1);
}

static void rounds_2(struct conf *conf)
{
    thousand_rounds(conf, 2);
}

static void rounds_3(struct conf *conf)
{
    thousand_rounds(conf, 3);
}

static void rounds_708(struct conf *conf)
{
    thousand_rounds(conf, 708);
}

/* [SEQ-1] */
static void sequences_wrap(struct conf *conf)
{
    static const uint32_t first[] = {0x7FFFFFFDu, 0xFFFFFFFCu, 0xFFFFFFFFu};

    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
        conf_group_make(conf, &group, 3, first[i]);
        for (uint32_t round = 1; round <= 8; round++)
            conf_round(conf, &group, first[i] + round, round % 3);
        assert_int_equal(conf_inspect(conf, group.membership[0]).sequence, first[i] + 8);
        conf_group_leave(conf, &group);
    }
}

/* A released member may arrive for the next round before the other members have polled. */
static void the_fast_member(struct conf *conf)
{
    conf_group_make(conf, &group, 3, 0);
    conf_arrive(conf, group.membership[1], 1);
    conf_arrive(conf, group.membership[2], 1);
    conf_arrive(conf, group.membership[0], 1);
    conf_wait(conf, group.membership[0], 1);
    conf_arrive(conf, group.membership[0], 2);
    assert_int_equal(conf_inspect(conf, group.membership[0]).arrived_mask[0], 1);
    conf_wait(conf, group.membership[1], 1);
    conf_wait(conf, group.membership[2], 1);
    conf_arrive(conf, group.membership[2], 2);
    conf_arrive(conf, group.membership[1], 2);
    for (uint32_t i = 0; i < 3; i++)
        conf_wait(conf, group.membership[i], 2);
    conf_group_leave(conf, &group);
}

/* [ARR-4] */
static void repeated_arrivals(struct conf *conf)
{
    gba_device_info_t before = conf_info(conf);

    conf_group_make(conf, &group, 2, 0);
    for (int i = 0; i < 5; i++)
        conf_arrive(conf, group.membership[0], 1);
    assert_int_equal(conf_flag(group.membership[0]), 0);
    assert_int_equal(conf_flag(group.membership[1]), 0);
    assert_int_equal(conf_inspect(conf, group.membership[0]).arrived_count, 1);
    assert_int_equal(conf_inspect(conf, group.membership[0]).status,
                     GBA_STATUS_READY | GBA_STATUS_ACTIVE);
    conf_counted(conf, &before, GBA_COUNTER_REPEATS, 4);
    conf_arrive(conf, group.membership[1], 1);
    conf_wait(conf, group.membership[0], 1);
    conf_wait(conf, group.membership[1], 1);
    conf_counted(conf, &before, GBA_COUNTER_ARRIVALS, 2);
    conf_group_leave(conf, &group);
}

/* [ARR-5] */
static void late_arrivals(struct conf *conf)
{
    gba_device_info_t before = conf_info(conf);

    conf_group_make(conf, &group, 2, 0);
    conf_round(conf, &group, 1, 0);
    /* The state after the release to member 1 was lost and member 0 continued. */
    gba_flag_store_relaxed(group.membership[1]->flag, 0);
    conf_arrive(conf, group.membership[0], 2);
    conf_arrive(conf, group.membership[1], 1);
    conf_wait(conf, group.membership[1], 1);
    assert_int_equal(conf_flag(group.membership[0]), 1);
    conf_counted(conf, &before, GBA_COUNTER_LATE, 1);
    conf_counted(conf, &before, GBA_COUNTER_RELEASES, 3);
    assert_int_equal(conf_inspect(conf, group.membership[0]).arrived_count, 1);
    conf_arrive(conf, group.membership[1], 2);
    conf_wait(conf, group.membership[0], 2);
    conf_wait(conf, group.membership[1], 2);
    conf_group_leave(conf, &group);
}

/* [ARR-6] Make an invalid arrival. This counter counts it, and the round continues as without it.
 */
static void wrong_arrival(struct conf *conf, uint64_t value, uint32_t counter, uint32_t error)
{
    gba_device_info_t before = conf_info(conf);
    gba_group_state_t was = conf_inspect(conf, group.membership[0]), is;
    uint64_t flag[3];

    for (uint32_t i = 0; i < 3; i++)
        flag[i] = conf_flag(group.membership[i]);
    conf_send(conf, group.membership[1], value);
    conf_run(conf);
    is = conf_inspect(conf, group.membership[0]);
    conf_same_round(&was, &is);
    assert_int_equal(is.status, was.status | GBA_STATUS_ERROR);
    assert_int_equal(is.last_error, error);
    for (uint32_t i = 0; i < GBA_COUNTERS; i++)
        conf_counted(conf, &before, i, i == counter);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(conf_flag(group.membership[i]), flag[i]);
}

static void wrong_arrivals(struct conf *conf)
{
    static const uint32_t sequences[] = {9, 12, 13, 0, 0x80000000u, 0x8000000Au, 0xFFFFFFFFu};
    static const uint32_t members[] = {3, 63, 64, 707, 708, 0x8001u, 0xFFFFu};

    conf_group_make(conf, &group, 3, 10);
    conf_arrive(conf, group.membership[0], 11);
    for (size_t i = 0; i < sizeof sequences / sizeof sequences[0]; i++)
        wrong_arrival(conf, GBA_ARRIVAL(sequences[i], group.handle.generation, 1),
                      GBA_COUNTER_ERR_SEQUENCE, GBA_ERROR_SEQUENCE);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        wrong_arrival(conf, GBA_ARRIVAL(11, group.handle.generation, members[i]),
                      GBA_COUNTER_ERR_MEMBER, GBA_ERROR_MEMBER);
    conf_arrive(conf, group.membership[1], 11);
    conf_arrive(conf, group.membership[2], 11);
    for (uint32_t i = 0; i < 3; i++)
        conf_wait(conf, group.membership[i], 11);
    conf_group_leave(conf, &group);
}

/* [ARR-2] A late copy of an arrival at the former allocation, for the round that waits for it. */
static void copies_of_the_former_allocation(struct conf *conf)
{
    gba_group_handle_t former;

    conf_group_make(conf, &group, 3, 0);
    conf_round(conf, &group, 1, 1);
    former = group.handle;
    conf_group_leave(conf, &group);
    conf_group_make(conf, &group, 3, 0);
    assert_int_equal(group.handle.group, former.group);
    conf_arrive(conf, group.membership[0], 1);
    conf_arrive(conf, group.membership[2], 1);
    wrong_arrival(conf, GBA_ARRIVAL(1, former.generation, 1), GBA_COUNTER_ERR_MEMBER,
                  GBA_ERROR_MEMBER);
    for (uint32_t bit = 0; bit < 16; bit++)
        wrong_arrival(conf, GBA_ARRIVAL(1, group.handle.generation ^ 1u << bit, 1),
                      GBA_COUNTER_ERR_MEMBER, GBA_ERROR_MEMBER);
    conf_arrive(conf, group.membership[1], 1);
    for (uint32_t i = 0; i < 3; i++)
        conf_wait(conf, group.membership[i], 1);
    conf_group_leave(conf, &group);
}

static void arrivals_before_the_group_is_armed(struct conf *conf)
{
    group.handle = conf_alloc(conf, 3);
    for (uint32_t i = 0; i < 3; i++)
        group.membership[i] = conf_membership(conf, &group.handle, i, 5);
    wrong_arrival(conf, GBA_ARRIVAL(6, group.handle.generation, 1), GBA_COUNTER_ERR_DISABLED,
                  GBA_ERROR_DISABLED);
    wrong_arrival(conf, GBA_ARRIVAL(1, group.handle.generation, 1), GBA_COUNTER_ERR_DISABLED,
                  GBA_ERROR_DISABLED);
    assert_int_equal(conf->ops->configure(group.membership[0], 5), GBA_OK);
    conf_round(conf, &group, 6, 1);
    conf_group_leave(conf, &group);
}

/* [ARR-7, TAB-3] No round completes without the member that left, and nothing is stored for it. */
static void withdrawn_members(struct conf *conf)
{
    gba_device_info_t before = conf_info(conf);
    gba_group_state_t state;

    conf_group_make(conf, &group, 3, 0);
    conf_round(conf, &group, 1, 0);
    conf->ops->leave(group.membership[1]);
    conf_arrive(conf, group.membership[0], 2);
    conf_arrive(conf, group.membership[2], 2);
    state = conf_inspect(conf, group.membership[2]);
    assert_int_equal(state.sequence, 1);
    assert_int_equal(state.arrived_count, 2);
    assert_int_equal(state.arrived_mask[0], 5);
    assert_int_equal(conf_flag(group.membership[0]), 1);
    assert_int_equal(conf_flag(group.membership[2]), 1);
    /* It arrives nevertheless, by the doorbell of member 0, and is bound to no port any more. */
    conf_send(conf, group.membership[0], GBA_ARRIVAL(2, group.handle.generation, 1));
    conf_run(conf);
    conf_counted(conf, &before, GBA_COUNTER_ERR_MEMBER, 1);
    assert_int_equal(conf_inspect(conf, group.membership[0]).sequence, 1);
    conf->ops->leave(group.membership[0]);
    conf->ops->leave(group.membership[2]);
}

/* [GRP-4] The arrived mask shows a watchdog which members are missing. */
static void inspect_shows_missing_members(struct conf *conf)
{
    static const uint32_t present[] = {0, 63, 64, 127, 640, 707};
    uint64_t mask[GBA_MASK_WORDS] = {0};
    gba_group_state_t state;

    conf_group_make(conf, &group, 708, 0);
    for (size_t i = 0; i < sizeof present / sizeof present[0]; i++) {
        conf_arrive(conf, group.membership[present[i]], 1);
        mask[present[i] / 64] |= 1ull << present[i] % 64;
        state = conf_inspect(conf, group.membership[300]);
        assert_int_equal(state.arrived_count, i + 1);
        assert_memory_equal(state.arrived_mask, mask, sizeof mask);
        assert_int_equal(state.sequence, 0);
    }
    conf_group_leave(conf, &group);
}

const struct conf_test conf_round_tests[] = {
    {"a thousand rounds of 1 member", rounds_1},
    {"a thousand rounds of 2 members", rounds_2},
    {"a thousand rounds of 3 members", rounds_3},
    {"a thousand rounds of 708 members", rounds_708},
    {"sequences wrap", sequences_wrap},
    {"the fast member", the_fast_member},
    {"repeated arrivals", repeated_arrivals},
    {"late arrivals", late_arrivals},
    {"wrong arrivals", wrong_arrivals},
    {"copies of the former allocation", copies_of_the_former_allocation},
    {"arrivals before the group is armed", arrivals_before_the_group_is_armed},
    {"withdrawn members", withdrawn_members},
    {"inspect shows missing members", inspect_shows_missing_members},
    {NULL, NULL},
};
