/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The options of the simulator: each fault happens as requested, the retry rules then hold, and a
 * request for other options than the simulator's is reported.
 */
#include "gba/base/clock.h"
#include "tests/limit.h"
#include "tests/unit/log_catch.h"
#include "tests/unit/shm/sim_test.h"

/* Every option that differs is named, with both values, and nothing is opened. */
TEST(test_options_differ)
{
#define OPTION(name)                                  \
    {                                                 \
        offsetof(struct gba_sim_options, name), #name \
    }
    static const struct {
        size_t offset;
        const char *name;
    } options[] = {
        OPTION(latency),      OPTION(jitter),    OPTION(seed),        OPTION(lose_arrival),
        OPTION(lose_release), OPTION(die_after), OPTION(die_arrival), OPTION(die_release),
        OPTION(refuse_rank),  OPTION(die_call),  OPTION(groups),      OPTION(full),
    };
#undef OPTION

    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        struct gba_dev_path seven = sim_path(), nine = seven, none = seven;
        const uint32_t values[] = {7, 9};
        const int less = 0 == strcmp(options[i].name, "refuse_rank"); /* ranks begin at 0 */
        struct gba_dev *first, *second;
        char line[128];

        memcpy((char *)&seven.sim + options[i].offset, &values[0], sizeof values[0]);
        memcpy((char *)&nine.sim + options[i].offset, &values[1], sizeof values[1]);
        snprintf(line, sizeof line, "runs with ?%s=%d; requested: ?%s=%d;", options[i].name,
                 7 - less, options[i].name, 9 - less);
        first = sim_open(&seven);
        assert_non_null(first);
        log_forget();
        assert_int_equal(gba_dev_sim.open(&nine, NULL, &second), GBA_ERR_BUSY);
        assert_logged(line);
        assert_non_null(strstr(log_last, seven.name));
        /* The same options are accepted, and so are no options. */
        for (int same = 0; same < 2; same++) {
            assert_int_equal(gba_dev_sim.open(same ? &seven : &none, NULL, &second), GBA_OK);
            gba_dev_sim.close(second);
        }
        gba_dev_sim.close(first);
    }
}

/* All processes of a job must give the same options. */
TEST(test_options_of_job)
{
    struct gba_dev_path refuses = {.kind = GBA_DEV_SIM, .sim = {.refuse_rank = 1}};
    struct gba_dev_path none = {.kind = GBA_DEV_SIM};
    const gba_device_attr_t attr = {.job = __FILE__};
    struct gba_dev *first, *second;

    assert_int_equal(gba_dev_sim.open(&refuses, &attr, &first), GBA_OK);
    assert_int_equal(gba_dev_sim.open(&none, &attr, &second), GBA_ERR_BUSY);
    assert_non_null(strstr(log_last, "runs with ?refuse_rank=0; requested: no options;"));
    gba_dev_sim.close(first);
}

SIM_TEST(test_groups, .groups = 2)
{
    gba_group_handle_t handle[3];

    assert_int_equal(sim_info(dev).groups, 2);
    for (int i = 0; i < 3; i++)
        assert_int_equal(sim_alloc(dev, 1, &handle[i]), i < 2 ? GBA_OK : GBA_ERR_NO_GROUP);
    gba_dev_sim.cancel(dev, &handle[0]);
    gba_dev_sim.cancel(dev, &handle[1]);
}

SIM_TEST(test_full, .full = 1)
{
    gba_group_handle_t handle;

    assert_int_equal(sim_info(dev).groups_free, 0);
    assert_int_equal(sim_alloc(dev, 1, &handle), GBA_ERR_NO_GROUP);
}

SIM_TEST(test_refuse, .refuse_rank = 2)
{
    gba_group_handle_t handle;
    struct gba_membership *membership, *none;

    assert_int_equal(sim_alloc(dev, 3, &handle), GBA_OK);
    assert_int_equal(gba_dev_sim.join(dev, &handle, 0, &membership), GBA_OK);
    assert_int_equal(gba_dev_sim.join(dev, &handle, 1, &none), GBA_ERR_REFUSED);
    gba_dev_sim.leave(membership);
}

/* What is lost, and when the device dies. */
static const struct fault {
    struct gba_sim_options options;
    uint32_t size;
    uint32_t released[3]; /* by the arrivals of a round: a bit for each member */
    bool dead;            /* after the last round; else sending the arrivals again repairs it */
    uint32_t counter;
    uint64_t count;
} faults[] = {
    {{.lose_arrival = 3}, 2, {3, 0}, false, GBA_COUNTER_ARRIVALS, 4},
    {{.lose_release = 2}, 2, {1}, false, GBA_COUNTER_LATE, 1},
    {{.die_arrival = 3}, 2, {3, 0}, true, GBA_COUNTER_ARRIVALS, 2},
    {{.die_after = 1, .die_release = 2}, 3, {7, 3}, true, GBA_COUNTER_ARRIVALS, 6},
    {{.die_after = 2}, 2, {3, 3, 0}, true, GBA_COUNTER_ARRIVALS, 6},
};

static uint32_t released(uint32_t round)
{
    uint32_t mask = 0;

    for (uint32_t i = 0; i < members; i++)
        mask |= (uint32_t)sim_released(member[i], round) << i;
    return mask;
}

TEST(test_faults)
{
    for (const struct fault *row = faults; row < faults + sizeof faults / sizeof faults[0]; row++) {
        const uint32_t all = (1u << row->size) - 1;
        uint32_t round = 0;

        sim_begin(row->options);
        sim_group(row->size, 0);
        do {
            assert_false(sim_info(dev).dead);
            round++;
            for (uint32_t i = 0; i < members; i++)
                sim_arrive(member[i], round);
            assert_int_equal(released(round), row->released[round - 1]);
        } while (all == row->released[round - 1]);
        assert_int_equal(sim_info(dev).dead, row->dead);
        for (uint32_t i = 0; i < members; i++)
            if (0 == (row->released[round - 1] >> i & 1))
                sim_arrive(member[i], round);
        assert_int_equal(released(round), row->dead ? row->released[round - 1] : all);
        assert_int_equal(sim_info(dev).counters[row->counter], row->count);
        assert_int_equal(sim_info(dev).counters[GBA_COUNTER_REPEATS], 0);
        sim_end();
    }
}

/* The device dies as the first member maps its flag; freeing the group works nevertheless. */
SIM_TEST(test_die_call, .die_call = 3)
{
    struct gba_membership *membership;
    gba_group_handle_t handle;

    assert_int_equal(sim_alloc(dev, 2, &handle), GBA_OK);
    assert_int_equal(gba_dev_sim.join(dev, &handle, 0, &membership), GBA_OK);
    assert_false(sim_info(dev).dead);
    assert_int_equal(gba_dev_sim.map_flag(membership), GBA_ERR_DEAD);
    assert_true(sim_info(dev).dead);
    gba_dev_sim.leave(membership);
}

/* Every call of a dead device fails. */
SIM_TEST(test_die, .die_after = 2)
{
    struct gba_membership *none;
    gba_group_state_t group;
    gba_group_handle_t spare, handle;
    uint64_t value;

    sim_group(2, 0);
    assert_int_equal(sim_alloc(dev, 2, &spare), GBA_OK);
    sim_round(1);
    sim_round(2);
    sim_arrive(member[0], 3);
    sim_arrive(member[1], 3);
    assert_true(sim_info(dev).dead);
    assert_int_equal(sim_alloc(dev, 2, &handle), GBA_ERR_DEAD);
    assert_int_equal(gba_dev_sim.join(dev, &spare, 0, &none), GBA_ERR_DEAD);
    assert_int_equal(gba_dev_sim.map_flag(member[0]), GBA_ERR_DEAD);
    assert_int_equal(gba_dev_sim.configure(member[0], 0), GBA_ERR_DEAD);
    assert_int_equal(gba_dev_sim.inspect(member[0], &group), GBA_ERR_DEAD);
    assert_int_equal(gba_dev_sim.reg_read(dev, GBA_DEVICE_BASE, 4, &value), GBA_OK);
    assert_int_equal(value, UINT32_MAX);
    assert_int_equal(gba_dev_sim.reg_read(dev, GBA_DEVICE_BASE, 8, &value), GBA_OK);
    assert_int_equal(value, GBA_READ_NONE);
    assert_int_equal(gba_dev_sim.reg_write(dev, GBA_DOORBELL(0), 8, 0), GBA_OK);
    gba_dev_sim.cancel(dev, &spare);
}

/* A release comes no earlier than the latency, by the member's own polling. A repeated request does
 * not restart the delay. */
SIM_TEST(test_latency, .latency = 20000000)
{
    gba_word_t *due;

    sim_group(2, 0);
    due = &sim_segment(dev)->slot[member[0]->group][0].due;
    for (uint32_t round = 1; round <= 3; round++) {
        uint64_t start = gba_clock_ns(), first;

        sim_arrive(member[0], round);
        sim_arrive(member[1], round);
        first = gba_word_load_relaxed(due);
        sim_arrive(member[0], round);
        assert_int_equal(gba_word_load_relaxed(due), first);
        sim_wait(member[0], round);
        assert_true(gba_clock_ns() - start >= path.sim.latency);
        sim_wait(member[1], round);
    }
}

/* Random, but the same for the same seed, and within the range that was asked for. */
SIM_TEST(test_jitter, .jitter = 1000000)
{
    const struct gba_sim_options one = {.latency = 500, .jitter = 1000, .seed = 1};
    const struct gba_sim_options two = {.latency = 500, .jitter = 1000, .seed = 2};
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
    sim_group(4, 0);
    for (uint32_t round = 1; round <= 50; round++) {
        for (int i = 0; i < 4; i++)
            sim_arrive(member[i], round);
        for (int i = 0; i < 4; i++)
            sim_wait(member[i], round);
    }
}

TEST_MAIN(alarm(test_limit(SIM_TEST_TIMEOUT)); gba_log_set(log_catch, NULL, GBA_LOG_WARN))
