/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of the tests of groups that the simulator takes back: the requesters, and the
 * outcome. */
#ifndef GBA_TESTS_SIM_RECLAIM_TEST_H
#define GBA_TESTS_SIM_RECLAIM_TEST_H

#include "tests/unit/sim_test.h"

enum { MEMBERS = 3 };

/* A device with few groups. */
static inline struct gba_dev *scarce(uint32_t groups)
{
    struct gba_dev_path path = {.kind = GBA_DEV_SIM, .sim.groups = groups};
    struct gba_dev *dev = sim_open(&path);

    assert_non_null(dev);
    return dev;
}

static inline gba_status_t ask(struct gba_dev *dev, uint32_t barrier_rate, uint32_t groups_max,
                               gba_group_handle_t *handle)
{
    const gba_group_request_t request = {
        .members = MEMBERS, .groups_max = groups_max, .barrier_rate = barrier_rate};

    return gba_dev_sim.alloc(dev, &request, handle);
}

/* Make the last sample of every group a window old, so that no test has to wait. */
static inline void age_samples(struct gba_dev *dev)
{
    for (uint32_t group = 0; group < GBA_GROUPS; group++)
        sim_segment(dev)->group[group].usage.sampled_at -= GBA_USAGE_WINDOW_NS;
}

static inline void memberships_take(struct gba_dev *dev, const gba_group_handle_t *handle,
                                    struct gba_membership **membership, uint32_t sequence)
{
    for (uint32_t i = 0; i < MEMBERS; i++) {
        membership[i] = sim_join(dev, handle, i, sequence);
        assert_non_null(membership[i]);
    }
    assert_int_equal(gba_dev_sim.configure(membership[0], sequence), GBA_OK);
}

static inline bool is_marked(const struct gba_membership *membership)
{
    return 0 != (gba_flag_load_acquire(membership->flag) & GBA_FLAG_RECLAIMED);
}

/* As gba_state_poll does. */
static inline bool is_released(const struct gba_membership *membership, uint32_t sequence)
{
    return GBA_SEQ_REACHED((uint32_t)gba_flag_load_acquire(membership->flag), sequence);
}

static inline uint32_t places_taken(struct gba_dev *dev)
{
    uint32_t taken = 0;

    for (uint32_t i = 0; i < GBA_SIM_PLACES; i++)
        taken += 0 != gba_word_load_acquire(&sim_segment(dev)->home[i]);
    return taken;
}

#endif
