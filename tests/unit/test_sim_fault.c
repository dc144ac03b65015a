/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The options of the simulator: each fault happens as requested, the retry rules then hold, and a
 * request for other options than the simulator's is reported.
 */
#include "tests/limit.h"
#include "tests/unit/log_catch.h"
#include "tests/unit/sim_test.h"

static struct gba_dev *open_with(const struct gba_sim_options *options)
{
    struct gba_dev_path path = {.kind = GBA_DEV_SIM, .sim = *options};
    struct gba_dev *dev = sim_open(&path);

    assert_non_null(dev);
    return dev;
}

/* Every option that differs is named, with both values, and nothing is opened. */
TEST(test_options_differ)
{
    static const struct {
        size_t offset;
        const char *line;
    } options[] = {
        {offsetof(struct gba_sim_options, latency), "runs with ?latency=7; requested: ?latency=9;"},
        {offsetof(struct gba_sim_options, jitter), "runs with ?jitter=7; requested: ?jitter=9;"},
        {offsetof(struct gba_sim_options, seed), "runs with ?seed=7; requested: ?seed=9;"},
        {offsetof(struct gba_sim_options, lose_arrival),
         "runs with ?lose_arrival=7; requested: ?lose_arrival=9;"},
        {offsetof(struct gba_sim_options, lose_release),
         "runs with ?lose_release=7; requested: ?lose_release=9;"},
        {offsetof(struct gba_sim_options, repeat_release),
         "runs with ?repeat_release=7; requested: ?repeat_release=9;"},
        {offsetof(struct gba_sim_options, die_after),
         "runs with ?die_after=7; requested: ?die_after=9;"},
        {offsetof(struct gba_sim_options, die_arrival),
         "runs with ?die_arrival=7; requested: ?die_arrival=9;"},
        {offsetof(struct gba_sim_options, die_release),
         "runs with ?die_release=7; requested: ?die_release=9;"},
        {offsetof(struct gba_sim_options, die_call),
         "runs with ?die_call=7; requested: ?die_call=9;"},
        {offsetof(struct gba_sim_options, groups), "runs with ?groups=7; requested: ?groups=9;"},
        {offsetof(struct gba_sim_options, full), "runs with ?full=7; requested: ?full=9;"},
        {offsetof(struct gba_sim_options, refuse_rank),
         "runs with ?refuse_rank=6; requested: ?refuse_rank=8;"},
    };

    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        struct gba_dev_path path = sim_path(), other = path, none = path;
        struct gba_dev *dev, *second;
        uint32_t seven = 7, nine = 9;

        memcpy((char *)&path.sim + options[i].offset, &seven, sizeof seven);
        memcpy((char *)&other.sim + options[i].offset, &nine, sizeof nine);
        dev = sim_open(&path);
        assert_non_null(dev);
        log_forget();
        assert_int_equal(gba_dev_sim.open(&other, NULL, &second), GBA_ERR_BUSY);
        assert_logged(options[i].line);
        assert_non_null(strstr(log_last, path.name));
        /* The same options are accepted, and so are no options. */
        assert_int_equal(gba_dev_sim.open(&path, NULL, &second), GBA_OK);
        gba_dev_sim.close(second);
        assert_int_equal(gba_dev_sim.open(&none, NULL, &second), GBA_OK);
        gba_dev_sim.close(second);
        gba_dev_sim.close(dev);
    }
}

/* All processes of a job must give the same options. */
TEST(test_options_of_job)
{
    struct gba_dev_path path = {.kind = GBA_DEV_SIM, .sim = {.refuse_rank = 1}};
    struct gba_dev_path none = {.kind = GBA_DEV_SIM};
    const gba_device_attr_t attr = {.job = __FILE__};
    struct gba_dev *dev, *second;

    assert_int_equal(gba_dev_sim.open(&path, &attr, &dev), GBA_OK);
    assert_int_equal(gba_dev_sim.open(&none, &attr, &second), GBA_ERR_BUSY);
    assert_non_null(strstr(log_last, "runs with ?refuse_rank=0; requested: no options;"));
    gba_dev_sim.close(dev);
}

TEST(test_version)
{
    struct gba_dev_path path = {.kind = GBA_DEV_SIM};
    struct gba_dev *dev;

    path.sim.version = (GBA_REGS_MAJOR + 1) << 16 | 3;
    log_forget();
    assert_int_equal(gba_dev_sim.open(&path, NULL, &dev), GBA_ERR_VERSION);
    assert_logged("3.3");
    path.sim.version = GBA_REGS_MAJOR << 16 | 9; /* another minor version is accepted */
    dev = sim_open(&path);
    assert_non_null(dev);
    assert_int_equal(sim_info(dev).regs_version, GBA_REGS_MAJOR << 16 | 9);
    gba_dev_sim.close(dev);
}

TEST(test_groups_and_full)
{
    struct gba_dev *dev = open_with(&(struct gba_sim_options){.groups = 2});
    gba_group_handle_t handle[3];

    assert_int_equal(sim_info(dev).groups, 2);
    assert_int_equal(sim_alloc(dev, 1, &handle[0]), GBA_OK);
    assert_int_equal(sim_alloc(dev, 1, &handle[1]), GBA_OK);
    assert_int_equal(sim_alloc(dev, 1, &handle[2]), GBA_ERR_NO_GROUP);
    gba_dev_sim.close(dev);
    dev = open_with(&(struct gba_sim_options){.full = 1});
    assert_int_equal(sim_info(dev).groups_free, 0);
    assert_int_equal(sim_alloc(dev, 1, &handle[0]), GBA_ERR_NO_GROUP);
    gba_dev_sim.close(dev);
}

TEST(test_refuse)
{
    struct gba_dev *dev = open_with(&(struct gba_sim_options){.refuse_rank = 2});
    gba_group_handle_t handle;
    struct gba_membership *membership, *none;

    assert_int_equal(sim_alloc(dev, 3, &handle), GBA_OK);
    assert_int_equal(gba_dev_sim.join(dev, &handle, 0, &membership), GBA_OK);
    assert_int_equal(gba_dev_sim.join(dev, &handle, 1, &none), GBA_ERR_REFUSED);
    gba_dev_sim.leave(membership);
    gba_dev_sim.close(dev);
}

/* Every third arrival is lost: detected in the registers, and repaired by sending it again. */
TEST(test_lose_arrival)
{
    struct gba_dev *dev = open_with(&(struct gba_sim_options){.lose_arrival = 3});
    struct gba_membership *membership[2];
    gba_group_state_t group;

    sim_group(dev, 2, 0, membership);
    sim_round(membership, 2, 1);
    sim_arrive(membership[0], 2);
    assert_int_equal(gba_dev_sim.inspect(membership[0], &group), GBA_OK);
    assert_int_equal(group.arrived_mask[0], 0);
    sim_round(membership, 2, 2);
    assert_int_equal(sim_info(dev).counters[GBA_COUNTER_ARRIVALS], 4);
    assert_int_equal(sim_info(dev).counters[GBA_COUNTER_REPEATS], 0);
    sim_leave(membership, 2);
    gba_dev_sim.close(dev);
}

TEST(test_lose_release)
{
    struct gba_dev *dev = open_with(&(struct gba_sim_options){.lose_release = 2});
    struct gba_membership *membership[2];
    gba_group_state_t group;

    sim_group(dev, 2, 0, membership);
    sim_arrive(membership[0], 1);
    sim_arrive(membership[1], 1);
    assert_true(sim_released(membership[0], 1));
    assert_false(sim_released(membership[1], 1));
    assert_int_equal(gba_dev_sim.inspect(membership[1], &group), GBA_OK);
    assert_int_equal(group.sequence, 1);
    sim_arrive(membership[1], 1);
    assert_true(sim_released(membership[1], 1));
    assert_int_equal(sim_info(dev).counters[GBA_COUNTER_LATE], 1);
    sim_leave(membership, 2);
    gba_dev_sim.close(dev);
}

/* Each release store is made again while the member waits for a later round: the flag goes back, is
 * never taken for a release, and the round ends nevertheless. */
TEST(test_repeat_release)
{
    struct gba_dev *dev = open_with(&(struct gba_sim_options){.repeat_release = 1});
    struct gba_membership *membership[2];
    unsigned int stale = 0;

    sim_group(dev, 2, 0, membership);
    for (uint32_t round = 1; round <= 20; round++) {
        sim_arrive(membership[0], round);
        for (int i = 0; i < 5; i++)
            assert_false(sim_released(membership[0], round));
        stale += round - 1 != gba_flag_load_relaxed(membership[0]->flag);
        sim_arrive(membership[1], round);
        /* An existing release is not overwritten, because that would be a lost release. */
        gba_dev_sim.poll(membership[1]);
        assert_true(sim_released(membership[0], round) && sim_released(membership[1], round));
    }
    assert_in_range(stale, 5, 20);
    sim_leave(membership, 2);
    gba_dev_sim.close(dev);
}

/* The third arrival is not counted, and none after it. */
TEST(test_die_arrival)
{
    struct gba_dev *dev = open_with(&(struct gba_sim_options){.die_arrival = 3});
    struct gba_membership *membership[2];

    sim_group(dev, 2, 0, membership);
    sim_round(membership, 2, 1);
    assert_false(sim_info(dev).dead);
    sim_arrive(membership[0], 2);
    assert_true(sim_info(dev).dead);
    sim_arrive(membership[1], 2);
    assert_false(sim_released(membership[0], 2) || sim_released(membership[1], 2));
    assert_int_equal(sim_info(dev).counters[GBA_COUNTER_ARRIVALS], 2);
    sim_leave(membership, 2);
    gba_dev_sim.close(dev);
}

/* The device dies as the first member maps its flag; freeing the group works nevertheless. */
TEST(test_die_call)
{
    struct gba_dev *dev = open_with(&(struct gba_sim_options){.die_call = 3});
    const gba_group_request_t request = {.members = 2};
    struct gba_membership *membership;
    gba_group_handle_t handle;

    assert_int_equal(gba_dev_sim.alloc(dev, &request, &handle), GBA_OK);
    assert_int_equal(gba_dev_sim.join(dev, &handle, 0, &membership), GBA_OK);
    assert_false(sim_info(dev).dead);
    assert_int_equal(gba_dev_sim.map_flag(membership), GBA_ERR_DEAD);
    assert_true(sim_info(dev).dead);
    sim_leave(&membership, 1);
    assert_int_equal(sim_info(dev).groups_free, GBA_GROUPS);
    gba_dev_sim.close(dev);
}

/* One round is completed; of the second, two of three members are released. */
TEST(test_die_release)
{
    struct gba_dev *dev = open_with(&(struct gba_sim_options){.die_after = 1, .die_release = 2});
    struct gba_membership *membership[3];

    sim_group(dev, 3, 0, membership);
    for (uint32_t round = 1; round <= 2; round++) {
        assert_false(sim_info(dev).dead);
        for (uint32_t member = 0; member < 3; member++)
            sim_arrive(membership[member], round);
        for (uint32_t member = 0; member < 3; member++)
            assert_int_equal(sim_released(membership[member], round), 1 == round || member < 2);
    }
    assert_true(sim_info(dev).dead);
    sim_leave(membership, 3);
    gba_dev_sim.close(dev);
}

/* Two rounds are completed; of the third no member is released, and every later call fails. */
TEST(test_die)
{
    struct gba_dev *dev = open_with(&(struct gba_sim_options){.die_after = 2});
    struct gba_membership *membership[2], *none;
    gba_group_state_t group;
    gba_group_handle_t spare, handle;
    uint64_t value;

    sim_group(dev, 2, 0, membership);
    assert_int_equal(sim_alloc(dev, 2, &spare), GBA_OK);
    for (uint32_t round = 1; round <= 3; round++) {
        assert_false(sim_info(dev).dead);
        sim_arrive(membership[0], round);
        sim_arrive(membership[1], round);
        assert_int_equal(sim_released(membership[0], round), round <= 2);
        assert_int_equal(sim_released(membership[1], round), round <= 2);
    }
    sim_arrive(membership[0], 3);
    assert_false(sim_released(membership[0], 3));
    assert_true(sim_info(dev).dead);
    assert_int_equal(sim_info(dev).counters[GBA_COUNTER_ROUNDS], 2);
    assert_int_equal(sim_info(dev).counters[GBA_COUNTER_RELEASES], 4);
    assert_int_equal(sim_alloc(dev, 2, &handle), GBA_ERR_DEAD);
    assert_int_equal(gba_dev_sim.join(dev, &spare, 0, &none), GBA_ERR_DEAD);
    assert_int_equal(gba_dev_sim.map_flag(membership[0]), GBA_ERR_DEAD);
    assert_int_equal(gba_dev_sim.configure(membership[0], 0), GBA_ERR_DEAD);
    assert_int_equal(gba_dev_sim.inspect(membership[0], &group), GBA_ERR_DEAD);
    assert_int_equal(gba_dev_sim.reg_read(dev, GBA_DEVICE_BASE, 4, &value), GBA_OK);
    assert_int_equal(value, UINT32_MAX);
    assert_int_equal(gba_dev_sim.reg_read(dev, GBA_DEVICE_BASE, 8, &value), GBA_OK);
    assert_int_equal(value, GBA_READ_NONE);
    assert_int_equal(gba_dev_sim.reg_write(dev, GBA_DOORBELL(0), 8, 0), GBA_OK);
    sim_leave(membership, 2);
    gba_dev_sim.cancel(dev, &spare);
    assert_int_equal(sim_info(dev).groups_free, GBA_GROUPS);
    gba_dev_sim.close(dev);
}

/* A release comes no earlier than the latency, by the member's own polling. A repeated request does
 * not restart the delay. */
TEST(test_latency)
{
    const uint32_t latency = 20000000;
    struct gba_dev *dev = open_with(&(struct gba_sim_options){.latency = latency});
    struct gba_membership *membership[2];
    gba_word_t *due;

    sim_group(dev, 2, 0, membership);
    due = &sim_segment(dev)->slot[membership[0]->group][0].due;
    for (uint32_t round = 1; round <= 3; round++) {
        uint64_t start = gba_sim_clock_ns(), first;

        sim_arrive(membership[0], round);
        sim_arrive(membership[1], round);
        first = gba_word_load_relaxed(due);
        sim_arrive(membership[0], round);
        assert_int_equal(gba_word_load_relaxed(due), first);
        sim_wait(membership[0], round);
        assert_true(gba_sim_clock_ns() - start >= latency);
        sim_wait(membership[1], round);
    }
    sim_leave(membership, 2);
    gba_dev_sim.close(dev);
}

/* Random, but the same for the same seed, and within the range that was asked for. */
TEST(test_jitter)
{
    const struct gba_sim_options one = {.latency = 500, .jitter = 1000, .seed = 1};
    const struct gba_sim_options two = {.latency = 500, .jitter = 1000, .seed = 2};
    const struct gba_sim_options real = {.jitter = 1000000};
    struct gba_dev *dev;
    struct gba_membership *membership[4];
    unsigned int differ = 0, high = 0;

    for (uint64_t count = 1; count <= 1000; count++) {
        uint64_t delay = gba_sim_fault_delay(&one, count);

        assert_in_range(delay, 500, 1500);
        assert_int_equal(delay, gba_sim_fault_delay(&one, count));
        differ += delay != gba_sim_fault_delay(&two, count);
        high += delay > 1000;
    }
    assert_in_range(differ, 900, 1000);
    assert_in_range(high, 300, 700);
    dev = open_with(&real);
    sim_group(dev, 4, 0, membership);
    for (uint32_t round = 1; round <= 50; round++) {
        for (int i = 0; i < 4; i++)
            sim_arrive(membership[i], round);
        for (int i = 0; i < 4; i++)
            sim_wait(membership[i], round);
    }
    sim_leave(membership, 4);
    gba_dev_sim.close(dev);
}

int main(void)
{
    alarm(test_limit(SIM_TEST_TIMEOUT));
    gba_log_set(log_catch, NULL, GBA_LOG_WARN);
    return SUITE_RUN(NULL, NULL);
}
