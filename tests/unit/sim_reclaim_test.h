/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of groups that the simulator takes back share: who asks, and what comes of it. */
#ifndef GBA_TESTS_SIM_RECLAIM_TEST_H
#define GBA_TESTS_SIM_RECLAIM_TEST_H

#include "tests/unit/sim_test.h"

enum { MEMBERS = 3 };

/* A device that is scarce of groups. */
static inline struct gba_dev *scarce(uint32_t groups)
{
    struct gba_dev_path path = {.kind = GBA_DEV_SIM, .sim.groups = groups};
    struct gba_dev *dev = sim_open(&path);

    assert_non_null(dev);
    return dev;
}

static inline gba_status_t ask(struct gba_dev *dev, uint32_t heat, uint32_t groups_max,
                               gba_ticket_t *ticket)
{
    const gba_group_request_t request = {
        .members = MEMBERS, .groups_max = groups_max, .heat = heat};

    return gba_dev_sim.alloc(dev, &request, ticket);
}

/* As if all groups had had their last sample a window ago: no test has to wait. */
static inline void let_time_pass(struct gba_dev *dev)
{
    for (uint32_t group = 0; group < GBA_GROUPS; group++)
        gba_sim_record(sim_segment(dev), group)->head.sampled_at -= GBA_DRIVER_WINDOW_NS;
}

static inline void seats_take(struct gba_dev *dev, const gba_ticket_t *ticket,
                              struct gba_seat **seat, uint32_t sequence)
{
    for (uint32_t i = 0; i < MEMBERS; i++) {
        seat[i] = sim_join(dev, ticket, i, sequence);
        assert_non_null(seat[i]);
    }
    assert_int_equal(gba_dev_sim.configure(seat[0], sequence), GBA_OK);
}

static inline bool is_marked(const struct gba_seat *seat)
{
    return 0 != (gba_word_load_acquire(seat->flag) & GBA_FLAG_RECLAIMED);
}

/* As gba_state_poll does it. */
static inline bool is_released(const struct gba_seat *seat, uint32_t sequence)
{
    return GBA_SEQ_REACHED((uint32_t)gba_word_load_acquire(seat->flag), sequence);
}

static inline uint32_t places_taken(struct gba_dev *dev)
{
    uint32_t taken = 0;

    for (uint32_t i = 0; i < GBA_SIM_PLACES; i++)
        taken += 0 != gba_word_load_acquire(&sim_segment(dev)->home[i]);
    return taken;
}

#endif
