/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that are killed while they work on the simulator, at chosen points and at random ones:
 * the device stays consistent, the others continue, and all that the dead processes held is free
 * again.
 */
#include "tests/unit/sim_test.h"

#include "gba/spec/gba_ioctl.h"

/* A group for comparison: the record and the registers, without lock and journal. */
struct snapshot {
    struct gba_driver_record record;
    struct gba_model_group model;
};

static void snapshot_take(struct gba_sim_segment *segment, uint32_t group, struct snapshot *shot)
{
    shot->record = *gba_sim_record(segment, group);
    shot->model = segment->model.group[group];
}

/* Undo a call after any part of its stores: with each combination of head, memberships, core and
 * table as before or as after the call, the undo restores the state before the call. */
static void assert_undone(struct gba_sim_segment *segment, const struct snapshot *before)
{
    struct gba_driver_record *record = gba_sim_record(segment, 0);
    struct gba_model_group *model = &segment->model.group[0];
    const uint64_t what = gba_word_load_relaxed(&segment->group[0].journal.what);
    static struct snapshot after, undone;

    snapshot_take(segment, 0, &after);
    assert_memory_not_equal(before, &after, sizeof after);
    for (uint32_t part = 0; part < 16; part++) {
        record->head = (part & 1 ? before : &after)->record.head;
        memcpy(record->membership, (part & 2 ? before : &after)->record.membership,
               sizeof record->membership);
        model->core = (part & 4 ? before : &after)->model.core;
        memcpy(model->table, (part & 8 ? before : &after)->model.table, sizeof model->table);
        gba_word_store_relaxed(&segment->group[0].journal.what, what);
        gba_sim_journal_undo(segment, 0);
        snapshot_take(segment, 0, &undone);
        assert_memory_equal(before, &undone, sizeof undone);
    }
}

/* Each call of the driver, and an arrival, done and then undone from the journal. */
static void test_undo(void **state)
{
    struct gba_dev_path path = {.kind = GBA_DEV_SIM};
    struct gba_dev *dev = sim_open(&path);
    struct gba_sim_segment *segment = sim_segment(dev);
    const uint32_t self = gba_sim_holder((struct gba_sim_dev *)dev);
    static struct snapshot before;
    struct gba_model_effects effects;
    struct gba_driver_record *record = gba_sim_record(segment, 0);
    struct gba_model_group *model = &segment->model.group[0];
    gba_group_handle_t handle;
    struct gba_membership *membership[2];

    (void)state;
    for (int call = 0; call < 7; call++) {
        assert_int_equal(sim_alloc(dev, 2, &handle), GBA_OK);
        assert_int_equal(handle.group, 0);
        membership[0] = sim_join(dev, &handle, 0, 0);
        if (call >= 1)
            assert_int_equal(gba_dev_sim.join(dev, &handle, 1, &membership[1]), GBA_OK);
        if (call >= 2)
            assert_int_equal(gba_dev_sim.map_flag(membership[1]), GBA_OK);
        if (call >= 3)
            assert_int_equal(gba_dev_sim.configure(membership[0], 0), GBA_OK);
        if (call >= 5)
            sim_arrive(membership[0], 1);
        if (call == 6)
            gba_dev_sim.leave(membership[0]);
        snapshot_take(segment, 0, &before);
        assert_int_equal(gba_sim_group_lock(segment, 0), GBA_OK);
        gba_sim_journal_begin(segment, 0, GBA_SIM_JOURNAL_ALL, 0, 1);
        switch (call) {
        case 0:
            assert_int_equal(gba_driver_join(record, handle.generation, handle.key, 1, self),
                             GBA_OK);
            break;
        case 1:
            assert_int_equal(gba_driver_map(record, model, handle.generation, 1,
                                            gba_sim_slot_address(0, 1), self),
                             GBA_OK);
            break;
        case 2:
            assert_int_equal(gba_driver_configure(record, model, handle.generation, 9, self, 0),
                             GBA_OK);
            break;
        case 3: /* not the last member, then (6) the last: the group is freed and reset */
        case 6:
            assert_int_equal(gba_driver_leave(record, model, handle.generation, 1, self), GBA_OK);
            break;
        default: /* the first arrival, and one that completes the round */
            gba_model_arrive(&segment->model, 0, 0, GBA_ARRIVAL(1, 1), &effects);
            break;
        }
        assert_undone(segment, &before);
        gba_sim_group_unlock(segment, 0);
        if (call != 6)
            gba_dev_sim.leave(membership[0]);
        if (call >= 1)
            gba_dev_sim.leave(membership[1]);
        assert_int_equal(sim_info(dev).groups_free, GBA_GROUPS);
    }
    gba_dev_sim.close(dev);
}

/* The same for ALLOC, and for the end of an allocation without any JOIN. ALLOC clears the
 * memberships of a free record, which no call reads: they are clear before it here. */
static void test_undo_alloc(void **state)
{
    struct gba_dev_path path = {.kind = GBA_DEV_SIM};
    struct gba_dev *dev = sim_open(&path);
    struct gba_sim_segment *segment = sim_segment(dev);
    const struct gba_driver_request request = {
        .members = 2, .key = 5, .holder = gba_sim_holder((struct gba_sim_dev *)dev)};
    struct gba_driver_record *record = gba_sim_record(segment, 0);
    struct gba_model_group *model = &segment->model.group[0];
    static struct snapshot before;

    (void)state;
    for (int call = 0; call < 2; call++) {
        assert_int_equal(gba_sim_group_lock(segment, 0), GBA_OK);
        if (1 == call)
            assert_int_equal(gba_driver_alloc(record, model, &request), GBA_OK);
        snapshot_take(segment, 0, &before);
        gba_sim_journal_begin(segment, 0, GBA_SIM_JOURNAL_GROUP, 0, 0);
        if (0 == call)
            assert_int_equal(gba_driver_alloc(record, model, &request), GBA_OK);
        else
            assert_int_equal(gba_driver_leave(record, model, 1, GBA_MEMBER_NONE, request.holder),
                             GBA_OK);
        assert_undone(segment, &before);
        gba_sim_group_unlock(segment, 0);
    }
    gba_dev_sim.close(dev);
}

/* The point at which the holder of the lock dies, relative to the journal. */
enum place { BEFORE_BEGIN, AFTER_BEGIN, AFTER_CHANGE, AFTER_END, PLACES };

/* The arrival that completes a round, interrupted at that point; does not return. */
static void arrive_and_die(struct gba_sim_segment *segment, uint32_t group, uint64_t value,
                           enum place place)
{
    struct gba_model_effects effects;

    CHECK(GBA_OK == gba_sim_group_lock(segment, group));
    if (BEFORE_BEGIN == place)
        raise(SIGKILL);
    gba_sim_journal_begin(segment, group, GBA_SIM_JOURNAL_CORE, 0, 0);
    if (AFTER_BEGIN == place) { /* half an arrival */
        segment->model.group[group].core.arrived_count = 77;
        raise(SIGKILL);
    }
    gba_model_arrive(&segment->model, group, 0, value, &effects);
    CHECK(effects.completed);
    if (AFTER_CHANGE == place)
        raise(SIGKILL);
    gba_sim_journal_end(segment, group);
    raise(SIGKILL);
}

/* Before the journal is closed the arrival is lost, after that the releases are lost. Sending the
 * arrival again repairs both. */
static void test_kill_in_lock(void **state)
{
    struct gba_dev_path path = {.kind = GBA_DEV_SIM};
    struct gba_dev *dev = sim_open(&path);
    struct gba_membership *membership[2];
    gba_group_state_t group;
    uint32_t round = 0;

    (void)state;
    sim_group(dev, 2, 0, membership);
    for (enum place place = BEFORE_BEGIN; place < PLACES; place++) {
        pid_t child;

        round++;
        sim_arrive(membership[0], round);
        child = sim_fork();
        if (0 == child)
            arrive_and_die(sim_segment(dev), membership[0]->group, GBA_ARRIVAL(round, 1), place);
        assert_true(sim_child_killed(child));
        assert_int_equal(gba_dev_sim.inspect(membership[0], &group), GBA_OK);
        assert_int_equal(group.sequence, AFTER_END == place ? round : round - 1);
        assert_int_equal(group.arrived_count, AFTER_END == place ? 0 : 1);
        assert_false(sim_released(membership[0], round));
        if (AFTER_END == place)
            sim_arrive(membership[0], round);
        sim_arrive(membership[1], round);
        assert_true(sim_released(membership[0], round) && sim_released(membership[1], round));
        sim_round(membership, 2, ++round);
    }
    assert_int_equal(sim_info(dev).counters[GBA_COUNTER_ROUNDS], round);
    sim_leave(membership, 2);
    gba_dev_sim.close(dev);
}

/* A reaper is killed when it has taken back one of several memberships of dead processes, and is in
 * the second. */
static void test_kill_reaper(void **state)
{
    struct gba_dev_path path = {.kind = GBA_DEV_SIM};
    struct gba_dev *dev = sim_open(&path);
    struct gba_sim_segment *segment = sim_segment(dev);
    const struct gba_driver_head *head = &gba_sim_record(segment, 0)->head;
    gba_group_handle_t handle;
    struct gba_membership *membership;
    pid_t child;

    (void)state;
    assert_int_equal(sim_alloc(dev, 4, &handle), GBA_OK);
    membership = sim_join(dev, &handle, 0, 0);
    child = sim_fork();
    if (0 == child) {
        for (uint32_t i = 1; i < 4; i++)
            CHECK(NULL != sim_join(dev, &handle, i, 0));
        CHECK(GBA_OK == gba_sim_group_lock(segment, 0));
        for (uint32_t i = 1; i < 3; i++) {
            gba_sim_journal_begin(segment, 0, GBA_SIM_JOURNAL_ALL, 0, i);
            CHECK(GBA_OK == gba_driver_leave(gba_sim_record(segment, 0), &segment->model.group[0],
                                             handle.generation, i,
                                             gba_sim_holder((struct gba_sim_dev *)dev)));
            if (1 == i)
                gba_sim_journal_end(segment, 0);
        }
        raise(SIGKILL);
    }
    assert_true(sim_child_killed(child));
    assert_int_equal(gba_sim_group_lock(segment, 0), GBA_OK);
    assert_int_equal(head->present, 3);
    assert_int_equal(head->mapped, 3);
    gba_sim_group_unlock(segment, 0);
    assert_int_equal(sim_info(dev).groups_free, GBA_GROUPS - 1);
    assert_int_equal(head->present, 1);
    gba_dev_sim.leave(membership);
    assert_int_equal(sim_info(dev).groups_free, GBA_GROUPS);
    gba_dev_sim.close(dev);
}

/* An interrupted RESET is completed; the counters are kept. */
static void test_kill_in_reset(void **state)
{
    struct gba_dev_path path = {.kind = GBA_DEV_SIM};
    struct gba_dev *dev = sim_open(&path);
    struct gba_sim_segment *segment = sim_segment(dev);
    struct gba_membership *membership[2];
    pid_t child;

    (void)state;
    sim_group(dev, 2, 0, membership);
    sim_round(membership, 2, 1);
    child = sim_fork();
    if (0 == child) {
        CHECK(GBA_OK == gba_sim_group_lock(segment, 0));
        gba_sim_journal_begin(segment, 0, GBA_SIM_JOURNAL_CORE | GBA_SIM_JOURNAL_RESET, 0, 0);
        memset(&segment->model.group[0].core, 0, sizeof segment->model.group[0].core);
        segment->model.group[0].table[0] = 0;
        raise(SIGKILL);
    }
    assert_true(sim_child_killed(child));
    assert_int_equal(sim_info(dev).counters[GBA_COUNTER_ROUNDS], 1);
    assert_int_equal(segment->model.group[0].table[1], 0);
    assert_int_equal(segment->model.group[0].core.member_count, 0);
    sim_leave(membership, 2);
    gba_dev_sim.close(dev);
}

enum { KILLS = 400, WORKERS = 2 };

struct shared {
    gba_word_t stop; /* set by the parent */
    gba_word_t last; /* the round after which the workers end, set by the first of them */
    gba_word_t rounds[WORKERS];
};

static void worker_run(struct gba_membership *membership, struct shared *shared, uint32_t member)
{
    for (uint32_t round = 1;; round++) {
        if (0 == member && 0 != gba_word_load_relaxed(&shared->stop))
            gba_word_store_relaxed(&shared->last,
                                   round); /* the barrier makes it visible to the others */
        sim_arrive(membership, round);
        sim_wait(membership, round);
        gba_word_store_relaxed(&shared->rounds[member], round);
        if (round == gba_word_load_relaxed(&shared->last))
            _exit(0);
    }
}

/* All operations on a device, without end, and arrivals at the workers' group. The device refuses
 * those arrivals, but under the lock that the workers need. */
static void victim_run(const struct gba_dev_path *path, struct gba_dev *dev, uint32_t busy_group)
{
    struct gba_dev *own = NULL;
    uint64_t value;

    for (uint32_t i = 0;; i++) {
        struct gba_membership *membership[3];
        gba_group_handle_t handle;
        uint32_t members = 1 + i % 3;

        if (5 == i % 8) {
            own = sim_open(path);
            CHECK(NULL != own);
            gba_dev_sim.close(own);
        }
        if (GBA_OK != sim_alloc(dev, members, &handle))
            continue;
        for (uint32_t m = 0; m < members; m++) {
            membership[m] = sim_join(dev, &handle, m, 0);
            CHECK(NULL != membership[m]);
        }
        CHECK(GBA_OK == gba_dev_sim.configure(membership[0], 0));
        for (uint32_t round = 1; round <= 4; round++) {
            for (uint32_t m = 0; m < members; m++)
                sim_arrive(membership[m], round);
            CHECK(sim_released(membership[0], round));
            gba_dev_sim.reg_write(dev, GBA_DOORBELL(busy_group), 8, GBA_ARRIVAL(0, 700));
            gba_dev_sim.reg_read(dev, GBA_GROUP_REG(busy_group, GBA_REG_STATUS), 8, &value);
        }
        if (3 == i % 5)
            gba_dev_sim.reg_write(dev, GBA_GROUP_REG(handle.group, GBA_REG_CONTROL), 4,
                                  GBA_CONTROL_RESET);
        for (uint32_t m = 0; m < members; m++)
            gba_dev_sim.leave(membership[m]);
    }
}

static void test_kill_at_random(void **state)
{
    struct gba_dev_path path = sim_path();
    struct gba_dev *dev = sim_open(&path);
    struct shared *shared = sim_shared(sizeof *shared);
    struct gba_membership *membership[WORKERS], *held[GBA_GROUPS][WORKERS];
    pid_t worker[WORKERS], victim[2];
    uint64_t rounds;
    uint32_t random = 1;

    (void)state;
    assert_non_null(dev);
    /* This process has the memberships; the workers only use them. */
    sim_group(dev, WORKERS, 0, membership);
    for (uint32_t w = 0; w < WORKERS; w++) {
        worker[w] = sim_fork();
        if (0 == worker[w])
            worker_run(membership[w], shared, w);
    }
    for (int i = 0; i < KILLS; i += 2) {
        for (int v = 0; v < 2; v++) {
            victim[v] = sim_fork();
            if (0 == victim[v])
                victim_run(&path, dev, membership[0]->group);
        }
        random = random * 1664525 + 1013904223; /* Knuth, TAOCP 2, 3.3.4 */
        usleep(1000 + (random >> 16) % 3000);
        for (int v = 0; v < 2; v++) {
            kill(victim[v], SIGKILL);
            assert_true(sim_child_killed(victim[v]));
        }
        /* The workers still complete the barrier. */
        rounds = gba_word_load_relaxed(&shared->rounds[0]);
        while (gba_word_load_relaxed(&shared->rounds[0]) < rounds + 2)
            sched_yield();
        if (0 == i % 50)
            assert_int_equal(sim_info(dev).groups_free, GBA_GROUPS - 1);
    }
    gba_word_store_relaxed(&shared->stop, 1);
    for (uint32_t w = 0; w < WORKERS; w++)
        assert_true(sim_child_ok(worker[w]));
    assert_int_equal(sim_info(dev).groups_free, GBA_GROUPS - 1);
    sim_leave(membership, WORKERS);
    /* And all of them make progress. */
    for (uint32_t group = 0; group < GBA_GROUPS; group++) {
        sim_group(dev, WORKERS, group, held[group]);
        assert_int_equal(held[group][0]->group, group);
        sim_round(held[group], WORKERS, group + 1);
    }
    for (uint32_t group = 0; group < GBA_GROUPS; group++)
        sim_leave(held[group], WORKERS);
    munmap(shared, sizeof *shared);
    gba_dev_sim.close(dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_undo),          cmocka_unit_test(test_undo_alloc),
        cmocka_unit_test(test_kill_in_lock),  cmocka_unit_test(test_kill_reaper),
        cmocka_unit_test(test_kill_in_reset), cmocka_unit_test(test_kill_at_random),
    };

    alarm(SIM_TEST_TIMEOUT);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
