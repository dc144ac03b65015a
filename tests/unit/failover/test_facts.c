/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The graph and the tree of failure notifications (gba/algo/graph.h), and how many notifications a
 * round takes (gba/failover/facts.h): simulated teams, without a device.
 */

#include "tests/suite.h"
#include "tests/unit/ompi/notifications_count.h"
#include "gba/path/node.h"

#define SIZES 300u

TEST(test_neighbours)
{
    for (uint32_t size = 1; size <= SIZES; size++)
        for (uint32_t rank = 0; rank < size; rank++) {
            bool near[SIZES] = {false};
            uint32_t cursor = 0, other;

            while ((other = gba_graph_next(rank, size, &cursor)) != GBA_GRAPH_END) {
                assert_true(other < size && other != rank && !near[other]);
                near[other] = true;
            }
            assert_int_equal(gba_graph_next(rank, size, &cursor), GBA_GRAPH_END);
            for (other = 0; other < size; other++)
                if (other != rank) {
                    assert_int_equal(gba_graph_adjacent(rank, other, size), near[other]);
                    assert_int_equal(gba_graph_adjacent(other, rank, size), near[other]);
                }
            /* The tree is part of the graph. */
            assert_true(rank == 0 || near[gba_tree_parent(rank)]);
        }
}

static uint32_t degree_of(uint32_t size)
{
    uint32_t cursor = 0, degree = 0;

    while (gba_graph_next(0, size, &cursor) != GBA_GRAPH_END)
        degree++;
    return degree;
}

TEST(test_degree)
{
    for (uint32_t size = 2; size <= SIZES; size++) {
        const uint32_t degree = degree_of(size);

        assert_in_range(degree, 1, 2 * log2_of(size));
        if (size <= 5 || size == 7)
            assert_int_equal(degree, size - 1);
    }
}

/* The subtrees of the children of a member, and the member, are its subtree. */
TEST(test_subtrees)
{
    for (uint32_t size = 1; size <= SIZES; size++) {
        uint32_t sums[SIZES] = {0};

        for (uint32_t rank = size; rank-- > 0;) {
            assert_int_equal(sums[rank] + 1, gba_tree_members(rank, size));
            assert_true(rank == 0 || gba_tree_parent(rank) < rank);
            if (rank > 0)
                sums[gba_tree_parent(rank)] += gba_tree_members(rank, size);
        }
    }
}

/* Each step removes one member. As many members as a member has neighbours, less one, do not
 * disconnect the graph. All choices of that many members of a small team. */
static bool connected(uint32_t size, uint32_t missing)
{
    uint32_t seen = 0, open;

    for (open = 1; missing & open; open <<= 1)
        ;
    while (open != 0) {
        uint32_t next = 0;

        seen |= open;
        for (uint32_t rank = 0; rank < size; rank++) {
            uint32_t cursor = 0, other;

            while (open >> rank & 1 &&
                   (other = gba_graph_next(rank, size, &cursor)) != GBA_GRAPH_END)
                next |= 1u << other;
        }
        open = next & ~seen & ~missing;
    }
    return (seen | missing) == (1u << size) - 1;
}

TEST(test_connected)
{
    for (uint32_t size = 2; size <= 13; size++) {
        const uint32_t degree = degree_of(size);

        for (uint32_t missing = 0; missing < 1u << size; missing++)
            if ((uint32_t)__builtin_popcount(missing) < degree)
                assert_true(connected(size, missing));
    }
}

/* The bound of facts.h, for the orders of delivery of a few seeds. */
TEST(test_bound)
{
    static const uint32_t sizes[] = {2, 3, 4, 5, 6, 7, 8, 9, 16, 31, 64, 100, 256};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (unsigned seed = 1; seed <= 4; seed++)
            for (uint32_t released = 0; released < sizes[i]; released += 1 + sizes[i] / 3) {
                uint64_t sent = notifications_count(sizes[i], released, seed);

                assert_in_range(sent, 1, notifications_bound(sizes[i]));
            }
}

TEST(test_wrong_notifications)
{
    struct gba_facts *facts = malloc(gba_facts_bytes(4));
    gba_notification_t n = {.round = 1, .first_bypassed = UINT64_MAX, .member = 4, .members = 1};

    assert_non_null(facts);
    gba_facts_init(facts, 0, 4);
    assert_int_equal(gba_facts_take(facts, &n), GBA_ERR_PARAM);
    n.member = 3;
    n.members = 2;
    assert_int_equal(gba_facts_take(facts, &n), GBA_ERR_PARAM);
    n.members = 0;
    assert_int_equal(gba_facts_take(facts, &n), GBA_ERR_PARAM);
    n.members = UINT32_MAX;
    assert_int_equal(gba_facts_take(facts, &n), GBA_ERR_PARAM);
    n.member = 1;
    n.members = 3;
    assert_false(gba_facts_complete(facts, 1));
    assert_int_equal(gba_facts_take(facts, &n), GBA_OK);
    assert_true(gba_facts_complete(facts, 1));
    assert_false(gba_facts_complete(facts, 2));
    free(facts);
}

/* The extra peers are notified as well, each once. */
TEST(test_extra_peers)
{
    static const uint32_t ranks[] = {0, 1, 6, 11, 13};
    const struct gba_extra_peers extra = {.ranks = ranks, .size = 5, .index = 0};
    struct gba_facts *facts = malloc(gba_facts_bytes(32));
    uint32_t to, seen[32] = {0};
    gba_notification_t n;

    assert_non_null(facts);
    gba_facts_init(facts, 0, 32);
    for (unsigned kind = 0; kind < 2; kind++) {
        while (gba_facts_next(facts, 1, kind == 1, &extra, &n, &to) == GBA_OK) {
            assert_int_equal(n.completed, kind);
            seen[to]++;
        }
        for (uint32_t member = 1; member < 32; member++) {
            bool near = gba_graph_adjacent(0, member, 32) ||
                        gba_ranks_find(ranks, extra.size, member) != UINT32_MAX;

            assert_int_equal(seen[member], near * (kind + 1));
        }
    }
    free(facts);
}

TEST_MAIN()
