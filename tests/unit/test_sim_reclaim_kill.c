/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that are killed while they take back groups of the simulator, at single instructions
 * (ptrace; skipped where that is not permitted) or at any moment. A group was taken back completely
 * or not at all, and the dead processes hold nothing.
 */
#include "tests/limit.h"
#include "tests/unit/sim_reclaim_test.h"

/* A reaper is killed when it examines an unused place: the group is not changed. */
TEST(test_kill_at_a_free_place)
{
    struct gba_dev *dev = scarce(1);
    struct gba_sim_segment *segment = sim_segment(dev);
    struct gba_membership *membership[MEMBERS];
    pid_t child;

    sim_group(dev, MEMBERS, 0, membership);
    child = sim_fork();
    if (0 == child) {
        uint32_t holder;

        CHECK(GBA_OK == gba_sim_port_claim((struct gba_sim_dev *)dev, &holder));
        CHECK(GBA_OK == gba_sim_group_lock(segment, 0));
        gba_word_store_relaxed(&segment->home[GBA_GROUPS], 1);
        gba_sim_journal_begin(segment, 0, GBA_SIM_JOURNAL_GROUP);
        raise(SIGKILL);
    }
    assert_true(sim_child_killed(child));
    sim_round(membership, MEMBERS, 1);
    assert_int_equal(sim_info(dev).groups_free, 0);
    assert_int_equal(places_taken(dev), GBA_GROUPS);
    sim_leave(membership, MEMBERS);
    gba_dev_sim.close(dev);
}

/* A member of a team that lost its group is killed while it leaves, before or after the one store
 * of that: the old place is free in the end, and the group, which another team holds, is not
 * changed. */
TEST(test_kill_in_leave)
{
    struct gba_dev *dev = scarce(1);
    struct gba_sim_segment *segment = sim_segment(dev);
    struct gba_membership *old[MEMBERS], *new[MEMBERS];
    static struct gba_model_group theirs;
    gba_group_handle_t handle;
    pid_t child;

    sim_group(dev, MEMBERS, 0, old);
    age_samples(dev);
    assert_int_equal(ask(dev, UINT32_MAX, 0, &handle), GBA_OK);
    memberships_take(dev, &handle, new, 0);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        sim_arrive(new[0], i + 1);
        theirs = segment->model.group[0];
        child = sim_fork();
        if (0 == child) {
            uint32_t holder;

            CHECK(GBA_OK == gba_sim_port_claim((struct gba_sim_dev *)dev, &holder));
            CHECK(GBA_OK == gba_sim_group_lock(segment, 0));
            if (1 != i)
                segment->place[0].lost.port[i] = 0;
            raise(SIGKILL);
        }
        assert_true(sim_child_killed(child));
        assert_int_equal(gba_sim_group_lock(segment, 0), GBA_OK);
        assert_memory_equal(&segment->model.group[0], &theirs, sizeof theirs);
        gba_sim_group_unlock(segment, 0);
        gba_dev_sim.leave(old[i]);
        sim_round(new, MEMBERS, i + 1);
    }
    sim_info(dev); /* takes down the ports of the dead processes */
    assert_int_equal(places_taken(dev), GBA_GROUPS);
    sim_leave(new, MEMBERS);
    gba_dev_sim.close(dev);
}

/* The last call before a group is taken back: a child stops here (see tests/local.mk), because the
 * tens of thousands of instructions before it change nothing. */
static bool stops;
bool __real_gba_usage_can_reclaim(const struct gba_usage *usage, uint32_t life,
                                  const struct gba_model_core *core, const struct gba_claim *claim);
bool __wrap_gba_usage_can_reclaim(const struct gba_usage *usage, uint32_t life,
                                  const struct gba_model_core *core, const struct gba_claim *claim);

bool __wrap_gba_usage_can_reclaim(const struct gba_usage *usage, uint32_t life,
                                  const struct gba_model_core *core, const struct gba_claim *claim)
{
    if (stops)
        raise(SIGSTOP);
    return __real_gba_usage_can_reclaim(usage, life, core, claim);
}

static void ask_and_stop(void *arg)
{
    gba_group_handle_t handle;

    stops = true;
    CHECK(GBA_OK == ask(arg, 1, 0, &handle));
}

/* A process is killed at any point while it takes a group back: the group was taken back
 * completely, and is free, or not at all. */
TEST(test_step_reclaim)
{
    struct gba_dev *dev = scarce(1);
    struct gba_membership *old[MEMBERS], *new[MEMBERS];
    uint32_t taken = 0, kept = 0;
    uint64_t reclaimed;
    gba_group_handle_t handle;
    int ended = 0;

    for (unsigned int steps = 0; 0 == ended; steps += 1 + steps / 24) {
        uint32_t marks = 0;

        sim_group(dev, MEMBERS, steps, old);
        reclaimed = sim_info(dev).reclaimed;
        age_samples(dev);
        ended = sim_step_and_kill(ask_and_stop, dev, steps);
        if (ended < 0)
            skip();
        sim_info(dev); /* repairs the state that the dead process left */
        for (uint32_t i = 0; i < MEMBERS; i++)
            marks += is_marked(old[i]);
        if (0 == marks) {
            kept++;
            assert_int_equal(sim_info(dev).groups_free, 0);
            assert_int_equal(places_taken(dev), GBA_GROUPS);
            sim_round(old, MEMBERS, steps + 1);
        } else {
            taken++;
            assert_int_equal(marks, MEMBERS);
            assert_int_equal(sim_info(dev).groups_free, 1);
            assert_int_equal(places_taken(dev), GBA_GROUPS + 1);
            assert_int_equal(ask(dev, 0, 0, &handle), GBA_OK);
            memberships_take(dev, &handle, new, steps);
            for (uint32_t i = 0; i < MEMBERS; i++)
                sim_arrive(old[i], steps + 1);
            assert_false(is_released(new[0], steps + 1));
            sim_round(new, MEMBERS, steps + 1);
            assert_false(is_released(old[0], steps + 1));
            sim_leave(new, MEMBERS);
        }
        assert_true(sim_info(dev).reclaimed == reclaimed + (0 != marks));
        sim_leave(old, MEMBERS);
        assert_int_equal(sim_info(dev).groups_free, 1);
        assert_int_equal(places_taken(dev), GBA_GROUPS);
    }
    assert_true(kept > 10 && taken > 10);
    gba_dev_sim.close(dev);
}

static void lock_and_unlock(void *arg)
{
    struct gba_sim_segment *segment = arg;

    raise(SIGSTOP);
    CHECK(GBA_OK == gba_sim_group_lock(segment, 0));
    gba_sim_group_unlock(segment, 0);
}

/* A process is killed as it takes a group back, and the next one, at any point, as it repairs that:
 * the group is taken back completely. */
TEST(test_step_repair)
{
    struct gba_dev *dev = scarce(1);
    struct gba_sim_segment *segment = sim_segment(dev);
    struct gba_membership *old[MEMBERS], *new[MEMBERS];
    uint32_t cut = 0, next;
    int ended = 0;
    pid_t child;

    for (unsigned int steps = 0; 0 == ended; steps += 1 + steps / 24) {
        uint64_t reclaimed = sim_info(dev).reclaimed;

        sim_group(dev, MEMBERS, steps, old);
        next = 0 == segment->group[0].place ? GBA_GROUPS : 0;
        child = sim_fork();
        if (0 == child) {
            CHECK(GBA_OK == gba_sim_group_lock(segment, 0));
            gba_word_store_relaxed(&segment->home[next], 1);
            gba_sim_journal_reclaim(segment, 0, next);
            segment->model.group[0].core.control = 0; /* the first store */
            raise(SIGKILL);
        }
        assert_true(sim_child_killed(child));
        ended = sim_step_and_kill(lock_and_unlock, segment, steps);
        if (ended < 0)
            skip();
        cut += 0 != gba_word_load_relaxed(&segment->group[0].journal.what);
        assert_int_equal(sim_info(dev).groups_free, 1);
        assert_true(sim_info(dev).reclaimed == reclaimed + 1);
        assert_int_equal(places_taken(dev), GBA_GROUPS + 1);
        sim_group(dev, MEMBERS, steps, new);
        for (uint32_t i = 0; i < MEMBERS; i++) {
            assert_true(is_marked(old[i]) && !is_marked(new[i]));
            sim_arrive(old[i], steps + 1);
            gba_dev_sim.leave(old[i]);
        }
        sim_round(new, MEMBERS, steps + 1);
        sim_leave(new, MEMBERS);
        assert_int_equal(places_taken(dev), GBA_GROUPS);
    }
    assert_true(cut > 10);
    gba_dev_sim.close(dev);
}

/* A team in one process: it takes a group, makes rounds until the group is taken back, and requests
 * one again. */
static void request_repeatedly(struct gba_dev *dev)
{
    struct gba_membership *membership[MEMBERS];
    gba_group_handle_t handle;

    for (uint32_t first = 0;; first += 1000) {
        uint32_t round = first, released = MEMBERS;

        age_samples(dev);
        if (GBA_OK != ask(dev, UINT32_MAX, 0, &handle))
            continue;
        for (uint32_t i = 0; i < MEMBERS; i++) {
            membership[i] = sim_join(dev, &handle, i, first);
            CHECK(membership[i] != NULL);
        }
        CHECK(GBA_OK == gba_dev_sim.configure(membership[0], first));
        while (MEMBERS == released && round < first + 200) {
            round++;
            released = 0;
            for (uint32_t i = 0; i < MEMBERS; i++) {
                for (uint32_t j = 0; j < MEMBERS; j++)
                    CHECK(round - 1 == (uint32_t)gba_flag_load_acquire(membership[j]->flag));
                sim_arrive(membership[i], round);
            }
            for (uint32_t i = 0; i < MEMBERS; i++)
                released += round == (uint32_t)gba_flag_load_acquire(membership[i]->flag);
            CHECK(MEMBERS == released || 0 == released);
        }
        for (uint32_t i = 0; i < MEMBERS; i++) {
            CHECK(MEMBERS == released || is_marked(membership[i]));
            gba_dev_sim.leave(membership[i]);
        }
    }
}

/* Some of the processes that take groups from each other are killed, at any moment. The others see
 * no round end early, no round is lost, and the dead processes hold nothing. */
TEST(test_kill_at_random)
{
    enum { KILLS = 200, TEAMS = 3 };
    struct gba_dev *dev = scarce(2);
    pid_t child[TEAMS];
    uint32_t random = 7;

    for (uint32_t team = 0; team < TEAMS; team++)
        child[team] = 0;
    for (uint32_t i = 0; i < KILLS || 0 == sim_info(dev).reclaimed; i++) {
        uint32_t team = i % TEAMS;

        if (0 != child[team]) {
            kill(child[team], SIGKILL);
            assert_true(sim_child_killed(child[team])); /* killed, and not ended by a check */
        }
        child[team] = sim_fork();
        if (0 == child[team])
            request_repeatedly(dev);
        random = random * 1664525 + 1013904223; /* Knuth, TAOCP 2, 3.3.4 */
        usleep(500 + (random >> 16) % 3000);
    }
    for (uint32_t team = 0; team < TEAMS; team++) {
        kill(child[team], SIGKILL);
        assert_true(sim_child_killed(child[team]));
    }
    assert_int_equal(sim_info(dev).groups_free, 2);
    assert_int_equal(places_taken(dev), GBA_GROUPS);
    gba_dev_sim.close(dev);
}

TEST_MAIN(alarm(test_limit(SIM_TEST_TIMEOUT)))
