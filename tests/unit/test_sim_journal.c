/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The journal of the simulator: a change of a group, cut off after any part of its stores, is
 * undone completely. test_sim_step.c kills processes at single instructions of such changes,
 * test_sim_alloc.c also at random.
 */
#include "tests/limit.h"
#include "tests/unit/sim_test.h"

#include "sim/model/control.h"
#include "sim/model/event.h"
#include "sim/model/group.h"

/* Undo a change after any part of its stores: with each combination of core, table, ports and
 * record as before or as after the change, the undo restores the state before it. */
static void assert_undone(struct gba_sim_segment *segment, const struct gba_model_group *before)
{
    struct gba_model_group *group = &segment->model.group[0];
    const uint64_t what = gba_word_load_relaxed(&segment->group[0].journal.what);
    const struct gba_model_group after = *group;

    assert_memory_not_equal(before, &after, sizeof after);
    for (uint32_t part = 0; part < 16; part++) {
        group->core = (part & 1 ? before : &after)->core;
        memcpy(group->table, (part & 2 ? before : &after)->table, sizeof group->table);
        memcpy(group->bound, (part & 4 ? before : &after)->bound, sizeof group->bound);
        group->record = (part & 8 ? before : &after)->record;
        gba_word_store_relaxed(&segment->group[0].journal.what, what);
        gba_sim_journal_undo(segment, 0);
        assert_memory_equal(before, group, sizeof *group);
    }
}

enum { JOIN, MAP, ARM, LEAVE, ARRIVE, COMPLETE, LAST_LEAVE, PORT_LEAVE, CALLS };

/* Change the group as member 1. */
static void change(struct gba_model *model, int call, uint32_t port,
                   const gba_group_handle_t *handle)
{
    const uint32_t generation = handle->generation;
    struct gba_model_effects effects;

    gba_model_clear(&effects);
    switch (call) {
    case JOIN:
        assert_int_equal(gba_control_join(model, port, 0, generation, handle->key, 1),
                         GBA_RESULT_OK);
        break;
    case MAP:
        assert_int_equal(gba_model_store_table(&model->group[0], 1, gba_sim_slot_address(0, 1)),
                         GBA_ERROR_NONE);
        break;
    case ARM:
        assert_int_equal(gba_control_arm(model, port, 0, generation, 9), GBA_RESULT_OK);
        break;
    case LEAVE:
    case LAST_LEAVE: /* the group is freed and reset */
        assert_int_equal(gba_control_leave(model, port, 0, generation, 1, 0, &effects),
                         GBA_RESULT_OK);
        break;
    case PORT_LEAVE:
        gba_control_port_leave(model, port, 0, &effects);
        assert_int_equal(model->group[0].record.life, GBA_LIFE_FREE);
        break;
    default: /* the first arrival, and one that completes the round */
        gba_model_arrive(model, 0, port, GBA_ARRIVAL(1, 1), &effects);
        assert_true(effects.completed == (COMPLETE == call));
        break;
    }
}

/* Each change of a group, done and then undone from the journal. */
SIM_TEST(test_undo)
{
    struct gba_sim_segment *segment = sim_segment(dev);
    const uint32_t port = gba_sim_holder((struct gba_sim_dev *)dev) - 1;
    static struct gba_model_group before;
    gba_group_handle_t handle;

    for (int call = 0; call < CALLS; call++) {
        assert_int_equal(sim_alloc(dev, 2, &handle), GBA_OK);
        assert_int_equal(handle.group, 0);
        member[0] = sim_join(dev, &handle, 0, 0);
        if (call > JOIN)
            assert_int_equal(gba_dev_sim.join(dev, &handle, 1, &member[1]), GBA_OK);
        if (call > MAP)
            assert_int_equal(gba_dev_sim.map_flag(member[1]), GBA_OK);
        if (call > ARM)
            assert_int_equal(gba_dev_sim.configure(member[0], 0), GBA_OK);
        if (call > ARRIVE)
            sim_arrive(member[0], 1);
        if (LAST_LEAVE == call)
            gba_dev_sim.leave(member[0]);
        assert_int_equal(gba_sim_group_lock(segment, 0), GBA_OK);
        before = segment->model.group[0];
        gba_sim_journal_begin(segment, 0,
                              ARRIVE == call || COMPLETE == call ? GBA_SIM_JOURNAL_CORE
                                                                 : GBA_SIM_JOURNAL_GROUP);
        change(&segment->model, call, port, &handle);
        assert_undone(segment, &before);
        gba_sim_group_unlock(segment, 0);
        if (LAST_LEAVE != call)
            gba_dev_sim.leave(member[0]);
        if (call > JOIN)
            gba_dev_sim.leave(member[1]);
        assert_int_equal(sim_info(dev).groups_free, GBA_GROUPS);
    }
}

/* The same for ALLOC, and for the end of an allocation without any JOIN. */
SIM_TEST(test_undo_alloc)
{
    struct gba_model *model = &sim_segment(dev)->model;
    static struct gba_model_group before;
    struct gba_model_effects effects;
    uint32_t group = 0;

    gba_model_clear(&effects);
    for (int call = 0; call < 2; call++) {
        assert_int_equal(gba_sim_group_lock(sim_segment(dev), 0), GBA_OK);
        if (1 == call)
            assert_int_equal(gba_control_alloc(model, 0, &group, 2, 5), GBA_RESULT_OK);
        before = model->group[0];
        gba_sim_journal_begin(sim_segment(dev), 0, GBA_SIM_JOURNAL_GROUP);
        if (0 == call)
            assert_int_equal(gba_control_alloc(model, 0, &group, 2, 5), GBA_RESULT_OK);
        else
            assert_int_equal(gba_control_free(model, 0, 0, 1), GBA_RESULT_OK);
        assert_undone(sim_segment(dev), &before);
        gba_sim_group_unlock(sim_segment(dev), 0);
    }
    assert_int_equal(gba_control_free(model, 0, 0, 1), GBA_RESULT_OK);
}

TEST_MAIN(alarm(test_limit(SIM_TEST_TIMEOUT)))
