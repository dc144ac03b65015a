/* SPDX-License-Identifier: BSD-3-Clause */
/* Members and nodes: all members must derive the same nodes, whatever the placement. */

#include "gba/algo/topology.h"
#include "tests/suite.h"

static const struct gba_host *host_of(const void *ctx, uint32_t rank)
{
    const uint32_t *placement = ctx;
    static struct gba_host host;

    host = (struct gba_host){{7, placement[rank], 0, 1}};
    return &host;
}

/* Compare the result of each member with a count that is made in another way. */
static void check_placement(const uint32_t *placement, uint32_t size)
{
    struct gba_topology first, t;

    assert_int_equal(gba_topology_init(&first, 0, size, host_of, placement), GBA_OK);
    for (uint32_t rank = 0; rank < size; rank++) {
        uint32_t locals = 0;

        assert_int_equal(gba_topology_init(&t, rank, size, host_of, placement), GBA_OK);
        assert_int_equal(t.size, size);
        assert_int_equal(t.nodes, first.nodes);
        assert_int_equal(t.largest, first.largest);
        assert_memory_equal(t.leaders, first.leaders, t.nodes * sizeof *t.leaders);
        assert_int_equal(placement[t.leaders[t.node]], placement[rank]);
        for (uint32_t r = 0; r < size; r++)
            if (placement[r] == placement[rank]) {
                assert_int_equal(t.locals[locals], r);
                if (r == rank)
                    assert_int_equal(t.local_rank, locals);
                locals++;
            }
        assert_int_equal(t.local_size, locals);
        assert_int_equal(t.leaders[t.node], t.locals[0]);
        assert_true(t.largest >= locals);
        gba_topology_fini(&t);
    }
    for (uint32_t node = 1; node < first.nodes; node++)
        assert_true(first.leaders[node - 1] < first.leaders[node]);
    gba_topology_fini(&first);
}

/* All placements of up to 6 members on up to 6 nodes. */
TEST(test_all_small_placements)
{
    uint32_t placement[6];

    for (uint32_t size = 1; size <= 6; size++) {
        uint32_t count = 1;

        for (uint32_t i = 0; i < size; i++)
            count *= size;
        for (uint32_t code = 0; code < count; code++) {
            for (uint32_t i = 0, rest = code; i < size; i++, rest /= size)
                placement[i] = rest % size;
            check_placement(placement, size);
        }
    }
}

TEST(test_large_random_placements)
{
    uint32_t placement[708];

    srand(1);
    for (uint32_t nodes = 1; nodes <= 708; nodes = nodes * 3 + 1) {
        for (uint32_t i = 0; i < 708; i++)
            placement[i] = (uint32_t)rand() % nodes;
        check_placement(placement, 708);
    }
}

TEST_MAIN()
