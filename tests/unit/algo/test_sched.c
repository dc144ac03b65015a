/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The schedule by itself, without a state machine. Knowledge is a set of members. A signal adds the
 * sender's knowledge to the receiver's. After the last round each member must know all members. The
 * schedule treats all members alike (peer = rank + distance), but the test does not rely on that:
 * it follows every member.
 */

#include "gba/algo/sched.h"
#include "tests/suite.h"

#define SIZE_MAX_TESTED 1024u
#define WORDS           (SIZE_MAX_TESTED / 64u)

struct knowledge {
    uint64_t of[SIZE_MAX_TESTED][WORDS];
};

static struct knowledge now, next;

static void knowledge_init(uint32_t size)
{
    memset(&now, 0, sizeof now);
    for (uint32_t rank = 0; rank < size; rank++)
        now.of[rank][rank / 64] |= 1ull << (rank % 64);
}

static bool knows_all(uint32_t rank, uint32_t size)
{
    for (uint32_t other = 0; other < size; other++) {
        if ((now.of[rank][other / 64] >> (other % 64) & 1) == 0)
            return false;
    }
    return true;
}

/* One round: each signal carries the knowledge of its sender at the start of the round. */
static void run_round(uint32_t size, uint32_t radix, uint32_t distance)
{
    uint32_t lanes = gba_sched_lanes(distance, size, radix);

    memcpy(&next, &now, sizeof next);
    for (uint32_t rank = 0; rank < size; rank++) {
        for (uint32_t lane = 1; lane <= lanes; lane++) {
            uint32_t peer = gba_sched_peer(rank, lane * distance, size);

            assert_in_range(peer, 0, size - 1);
            assert_int_equal(gba_sched_source(peer, lane * distance, size), rank);
            for (uint32_t word = 0; word < WORDS; word++)
                next.of[peer][word] |= now.of[rank][word];
        }
    }
    memcpy(&now, &next, sizeof now);
}

static void check_everyone_is_reached(uint32_t size, uint32_t radix)
{
    knowledge_init(size);
    for (uint32_t distance = 1; distance < size; distance *= radix) {
        /* No round is superfluous: no member knows all before the last round. */
        assert_false(knows_all(0, size));
        run_round(size, radix, distance);
    }
    for (uint32_t rank = 0; rank < size; rank++)
        assert_true(knows_all(rank, size));
}

/* Each distance once, each slot once, and all slots below the number of slots. */
static void check_slots(uint32_t size, uint32_t radix)
{
    static bool distance_used[SIZE_MAX_TESTED];
    static bool slot_used[SIZE_MAX_TESTED];
    uint32_t slots = gba_sched_slots(size, radix), round = 0, count = 0;

    memset(distance_used, 0, sizeof distance_used);
    memset(slot_used, 0, sizeof slot_used);
    for (uint32_t distance = 1; distance < size; distance *= radix, round++) {
        for (uint32_t lane = 1; lane <= gba_sched_lanes(distance, size, radix); lane++, count++) {
            uint32_t slot = round * (radix - 1) + lane - 1;

            assert_in_range(lane * distance, 1, size - 1);
            assert_false(distance_used[lane * distance]);
            distance_used[lane * distance] = true;
            assert_true(slot < slots);
            assert_false(slot_used[slot]);
            slot_used[slot] = true;
        }
    }
    assert_int_equal(count, slots); /* so no slot is unused */
}

/* The largest i < radix with i * distance < size, counted instead of computed. */
static void check_lanes(uint32_t size, uint32_t radix)
{
    for (uint32_t distance = 1; distance < size; distance *= radix) {
        uint32_t lanes = 0;

        while (lanes + 1 < radix && (lanes + 1) * distance < size)
            lanes++;
        assert_int_equal(gba_sched_lanes(distance, size, radix), lanes);
    }
}

TEST(test_sizes)
{
    static const uint32_t large[] = {65,  81,  100, 127, 128, 129, 243, 256,
                                     343, 512, 513, 625, 707, 708, 1024};

    for (uint32_t i = 0; i < 64 + sizeof large / sizeof large[0]; i++) {
        const uint32_t size = i < 64 ? i + 1 : large[i - 64];

        for (uint32_t radix = GBA_RADIX_MIN; radix <= 16; radix++) {
            check_everyone_is_reached(size, radix);
            check_slots(size, radix);
            check_lanes(size, radix);
        }
        check_everyone_is_reached(size, GBA_RADIX_MAX);
        check_slots(size, GBA_RADIX_MAX);
    }
}

/* ------------------------------------------------------------------------------- the tree --- */

/* Every link has the same members at both ends, each word has one writer, and a member signals each
 * other member through one slot at most. */
static void check_tree_links(uint32_t size, uint32_t degree)
{
    uint32_t slots = gba_sched_tree_slots(size, degree), signals = 0;

    for (uint32_t rank = 0; rank < size; rank++)
        for (uint32_t slot = 0; slot < slots; slot++) {
            struct gba_sched_link link = gba_sched_tree_link(rank, size, degree, slot);

            if (link.target != GBA_SCHED_NONE) {
                assert_in_range(link.target, 0, size - 1);
                assert_int_not_equal(link.target, rank);
                assert_int_equal(gba_sched_tree_link(link.target, size, degree, slot).source, rank);
                signals++;
            }
            if (link.source != GBA_SCHED_NONE)
                assert_int_equal(gba_sched_tree_link(link.source, size, degree, slot).target, rank);
        }
    assert_int_equal(signals, 2 * (size - 1));
}

/* Follow the arrivals up and the releases down: the root knows all members, and then all do. */
static void check_tree_knowledge(uint32_t size, uint32_t degree)
{
    uint32_t slots = gba_sched_tree_slots(size, degree);
    uint32_t width = gba_sched_tree_width(size, degree);
    bool released[SIZE_MAX_TESTED] = {true};

    knowledge_init(size);
    for (uint32_t rank = size; rank-- > 1;) { /* children have higher numbers than their parent */
        uint32_t slot = gba_sched_tree_arrival_slot(gba_sched_tree_place(rank, degree));
        uint32_t parent = gba_sched_tree_parent(rank, degree);

        assert_true(slot < slots && parent < rank);
        assert_int_equal(gba_sched_tree_link(rank, size, degree, slot).target, parent);
        for (uint32_t word = 0; word < WORDS; word++)
            now.of[parent][word] |= now.of[rank][word];
    }
    assert_true(knows_all(0, size));
    for (uint32_t rank = 0; rank < size; rank++) {
        assert_true(released[rank]);
        for (uint32_t i = 0; i < gba_sched_tree_children(rank, size, degree); i++) {
            uint32_t child = gba_sched_tree_child(rank, degree, i);
            uint32_t slot = gba_sched_tree_release_slot(i, width);

            assert_int_equal(gba_sched_tree_parent(child, degree), rank);
            assert_int_equal(gba_sched_tree_place(child, degree), i);
            assert_true(slot < slots);
            assert_int_equal(gba_sched_tree_link(child, size, degree, slot).source, rank);
            assert_false(released[child]);
            released[child] = true;
        }
    }
}

TEST(test_tree)
{
    static const uint32_t large[] = {65, 127, 128, 129, 708, 1024};

    for (uint32_t degree = GBA_RADIX_MIN; degree <= GBA_RADIX_MAX; degree += degree < 9 ? 1 : 11) {
        for (uint32_t size = 1; size <= 64; size++) {
            check_tree_links(size, degree);
            check_tree_knowledge(size, degree);
        }
        for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
            check_tree_links(large[i], degree);
            check_tree_knowledge(large[i], degree);
        }
    }
    /* No overflow at the largest size. */
    for (uint32_t degree = GBA_RADIX_MIN; degree <= GBA_RADIX_MAX; degree++) {
        uint32_t last = GBA_SCHED_SIZE_MAX - 1, parent = gba_sched_tree_parent(last, degree);

        assert_int_equal(gba_sched_tree_children(last, GBA_SCHED_SIZE_MAX, degree), 0);
        assert_int_equal(gba_sched_tree_child(parent, degree, gba_sched_tree_place(last, degree)),
                         last);
    }
}

/* The links of the dissemination are those of its rounds. */
TEST(test_links)
{
    for (uint32_t size = 2; size <= 64; size++)
        for (uint32_t radix = GBA_RADIX_MIN; radix <= 16; radix++) {
            uint32_t slot = 0;

            for (uint32_t distance = 1; distance < size; distance *= radix)
                for (uint32_t lane = 1; lane <= gba_sched_lanes(distance, size, radix); lane++) {
                    struct gba_sched_link link = gba_sched_link(5 % size, size, radix, slot++);

                    assert_int_equal(link.target, gba_sched_peer(5 % size, lane * distance, size));
                    assert_int_equal(link.source,
                                     gba_sched_source(5 % size, lane * distance, size));
                }
        }
}

TEST(test_known_numbers)
{
    assert_int_equal(gba_sched_slots(1, 8), 0);
    assert_int_equal(gba_sched_slots(2, 2), 1);
    assert_int_equal(gba_sched_slots(708, 2), 10);
    assert_int_equal(gba_sched_slots(708, 8), 7 + 7 + 7 + 1); /* 512 < 708, 1024 is not */
    assert_int_equal(gba_sched_slots(16, 8), 7 + 1);
    assert_int_equal(gba_sched_tree_slots(1, 8), 1);
    assert_int_equal(gba_sched_tree_slots(3, 8), 1 + 2 * 2);
    assert_int_equal(gba_sched_tree_slots(708, 8), 1 + 2 * 8);
}

/* No overflow at the largest size: the loops end, after the expected number of rounds. */
TEST(test_limits)
{
    assert_int_equal(gba_sched_slots(GBA_SCHED_SIZE_MAX, 2), 25);
    for (uint32_t radix = GBA_RADIX_MIN; radix <= GBA_RADIX_MAX; radix++) {
        uint32_t rounds = 0;

        for (uint64_t distance = 1; distance < GBA_SCHED_SIZE_MAX; distance *= radix)
            rounds++;
        assert_in_range(gba_sched_slots(GBA_SCHED_SIZE_MAX, radix), rounds, rounds * (radix - 1));
    }
    assert_int_equal(
        gba_sched_peer(GBA_SCHED_SIZE_MAX - 1, GBA_SCHED_SIZE_MAX - 1, GBA_SCHED_SIZE_MAX),
        GBA_SCHED_SIZE_MAX - 2);
}

TEST_MAIN()
