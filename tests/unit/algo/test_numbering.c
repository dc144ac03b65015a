/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of members by their places, on machines of nodes, caches and cores. */

#include "gba/algo/algorithm.h"
#include "gba/algo/numbering.h"
#include "tests/suite.h"

#define MEMBERS_MAX 128u

/* Parts of a part. */
struct machine {
    uint32_t packages, nodes, caches, cores;
};

/* How ranks are laid out on the cores of a machine. */
enum layout { CONSECUTIVE, CACHES_TAKE_TURNS, PACKAGES_TAKE_TURNS, SHUFFLED, LAYOUTS };

static const struct machine machines[] = {{2, 1, 8, 8}, {2, 4, 2, 8}, {1, 1, 3, 8}, {2, 1, 3, 8},
                                          {1, 1, 2, 8}, {2, 2, 1, 5}, {1, 1, 1, 16}};

static uint64_t place_of(const struct machine *m, uint32_t core)
{
    const uint32_t cache = core / m->cores, node = cache / m->caches, package = node / m->nodes;

    /* Numbers as of hwloc: each part has that of its first core, a node one of its own. */
    return gba_place_make(package * m->nodes * m->caches * m->cores, node, cache * m->cores,
                          1 + core);
}

static uint32_t lay_out(const struct machine *m, enum layout layout, struct gba_numbered *members)
{
    const uint32_t count = m->packages * m->nodes * m->caches * m->cores;
    const uint32_t parts = CACHES_TAKE_TURNS == layout     ? count / m->cores
                           : PACKAGES_TAKE_TURNS == layout ? m->packages
                                                           : 1;

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t core =
            SHUFFLED == layout ? (37 * i + 5) % count : i % parts * (count / parts) + i / parts;

        members[i] = (struct gba_numbered){.member = i, .place = place_of(m, core)};
    }
    return count;
}

/* A copy in the order of the places. */
static void sort_places(struct gba_numbered *sorted, const struct gba_numbered *members,
                        uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;

        for (; at > 0 && sorted[at - 1].place > members[i].place; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = members[i];
    }
}

/* Whether each member has one number, and its entry the part of the machine that it had. */
static void expect_numbers(const struct gba_numbered *members, const struct gba_numbered *before,
                           uint32_t count)
{
    bool seen[MEMBERS_MAX] = {false};

    for (uint32_t number = 0; number < count; number++) {
        const uint32_t member = members[number].member;

        assert_in_range(member, 0, count - 1);
        assert_false(seen[member]);
        seen[member] = true;
        assert_int_equal(gba_numbering_find(members, count, member), number);
        for (uint32_t other = 0; other < number; other++)
            assert_int_equal(members[number].place >> 16 == members[other].place >> 16,
                             before[member].place >> 16 ==
                                 before[members[other].member].place >> 16);
    }
}

static void expect_identity(const struct gba_numbered *members, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(members[i].member, i);
}

/* The numbers cross no more borders than those by members, or by places in a row. */
TEST(never_more_crossings)
{
    struct gba_numbered members[MEMBERS_MAX], before[MEMBERS_MAX], sorted[MEMBERS_MAX];

    for (size_t m = 0; m < sizeof machines / sizeof machines[0]; m++)
        for (int layout = 0; layout < LAYOUTS; layout++)
            for (int a = GBA_ALGORITHM_V1; a <= GBA_ALGORITHM_TREE; a++)
                for (uint32_t radix = 2; radix <= 8; radix++) {
                    const struct gba_schedule *schedule = gba_algorithms[a].schedule;
                    const uint32_t count = lay_out(&machines[m], (enum layout)layout, members);
                    uint64_t crossings;

                    memcpy(before, members, sizeof members);
                    sort_places(sorted, members, count);
                    gba_numbering_make(members, count, schedule, radix);
                    crossings = gba_numbering_crossings(members, count, schedule, radix);
                    assert_true(crossings <=
                                gba_numbering_crossings(before, count, schedule, radix));
                    assert_true(crossings <=
                                gba_numbering_crossings(sorted, count, schedule, radix));
                    expect_numbers(members, before, count);
                    if (schedule->link == NULL || 1 == machines[m].packages * machines[m].caches)
                        expect_identity(members, count);
                }
}

/* 2 x 64 cores, 8 caches a package: the figures of gba/algo/README.md. */
TEST(crossings)
{
    static const struct {
        int algorithm;
        uint32_t radix;
        uint64_t before[LAYOUTS], after;
    } expected[] = {
        {GBA_ALGORITHM_V1, 2, {1132, 992, 880, 2076}, 768},
        {GBA_ALGORITHM_V2, 3, {1500, 2208, 2240, 2540}, 1500},
        {GBA_ALGORITHM_V2, 4, {1688, 1472, 1488, 2832}, 1280},
        {GBA_ALGORITHM_V2, 8, {2736, 3328, 2592, 3880}, 2432},
        {GBA_ALGORITHM_TREE, 2, {496, 490, 490, 506}, 490},
        {GBA_ALGORITHM_TREE, 8, {496, 490, 490, 522}, 490},
    };
    struct gba_numbered members[MEMBERS_MAX];

    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        for (int layout = 0; layout < LAYOUTS; layout++) {
            const struct gba_schedule *schedule = gba_algorithms[expected[i].algorithm].schedule;
            const uint32_t radix = expected[i].radix;
            const uint32_t count = lay_out(&machines[0], (enum layout)layout, members);
            const uint64_t before = gba_numbering_crossings(members, count, schedule, radix);
            uint64_t after;

            gba_numbering_make(members, count, schedule, radix);
            after = gba_numbering_crossings(members, count, schedule, radix);
            assert_int_equal(before, expected[i].before[layout]);
            assert_int_equal(after, expected[i].after);
        }
}

TEST(without_places)
{
    struct gba_numbered members[MEMBERS_MAX];

    for (uint32_t none = 0; none < MEMBERS_MAX; none++) {
        const uint32_t count = lay_out(&machines[0], SHUFFLED, members);

        members[none].place = GBA_PLACE_NONE;
        gba_numbering_make(members, count, gba_algorithms[GBA_ALGORITHM_V2].schedule, 4);
        expect_identity(members, count);
    }
}

/* Members of a cache that are bound to the whole of it, or to one core, keep their order. */
TEST(equal_places)
{
    struct gba_numbered members[16];

    for (uint32_t i = 0; i < 16; i++)
        members[i] =
            (struct gba_numbered){.member = i, .place = gba_place_make(0, 0, 8 * (i % 7 % 2), 1)};
    gba_numbering_make(members, 16, gba_algorithms[GBA_ALGORITHM_V2].schedule, 4);
    for (uint32_t number = 0; number < 16; number++)
        for (uint32_t other = 0; other < number; other++)
            if (members[number].member % 7 % 2 == members[other].member % 7 % 2)
                assert_true(members[number].member > members[other].member);
}

TEST_MAIN()
