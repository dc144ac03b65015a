/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups of the simulator that are taken back. The old members are never released by rounds of the
 * new ones, and their arrivals count in no round of the new ones. test_sim_reclaim_kill.c adds
 * processes that are killed in between.
 */
#include "tests/limit.h"
#include "tests/unit/sim_reclaim_test.h"

#include <errno.h>
#include <sys/types.h>

#include "tests/unit/log_catch.h"

int __real_fallocate(int file, int mode, off_t offset, off_t len);
int __wrap_fallocate(int file, int mode, off_t offset, off_t len);

/* There is no memory left (see tests/local.mk). */
static bool full;

int __wrap_fallocate(int file, int mode, off_t offset, off_t len)
{
    if (!full)
        return __real_fallocate(file, mode, offset, len);
    errno = ENOSPC;
    return -1;
}

/* The number of sleepers that were woken. */
static uint32_t wakes;
void __wrap_gba_flag_wake(gba_flag_t *flag);

void __wrap_gba_flag_wake(gba_flag_t *flag)
{
    (void)flag; /* no process sleeps there */
    wakes++;
}

TEST(test_DRV_14_members_are_reported)
{
    struct gba_dev *dev = scarce(1);
    struct gba_membership *old[MEMBERS], *new[MEMBERS];
    gba_group_state_t group;
    gba_group_handle_t handle, kept;

    sim_group(dev, MEMBERS, 40, old);
    sim_round(old, MEMBERS, 41);
    memset(&handle, 0x5a, sizeof handle);
    kept = handle;
    assert_int_equal(ask(dev, 1000000, 0, &handle), GBA_ERR_NO_GROUP); /* no rate yet */
    age_samples(dev);
    assert_int_equal(ask(dev, 0, 0, &handle), GBA_ERR_NO_GROUP);
    assert_memory_equal(&handle, &kept, sizeof handle);
    assert_false(is_marked(old[0]));
    gba_word_store_relaxed(&(old[1]->flag + 1)->device_order, 1); /* as if it slept */
    wakes = 0;
    assert_int_equal(ask(dev, 1000000, 0, &handle), GBA_OK);
    assert_int_equal(wakes, 1);
    assert_int_equal(handle.group, old[0]->group);
    assert_int_not_equal(handle.generation, old[0]->generation);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        assert_true(is_marked(old[i]));
        assert_int_equal((uint32_t)gba_flag_load_relaxed(old[i]->flag), 41);
        assert_int_equal(gba_dev_sim.inspect(old[i], &group), GBA_ERR_RECLAIMED);
        assert_int_equal(gba_dev_sim.configure(old[i], 41), GBA_ERR_STALE);
    }
    assert_int_equal(sim_info(dev).reclaimed, 1);
    assert_int_equal(places_taken(dev), GBA_GROUPS + 1);
    memberships_take(dev, &handle, new, 41);
    for (uint32_t i = 0; i < MEMBERS; i++)
        assert_false(is_marked(new[i]));
    sim_round(new, MEMBERS, 42);
    sim_leave(old, MEMBERS);
    assert_int_equal(places_taken(dev), GBA_GROUPS);
    sim_round(new, MEMBERS, 43);
    assert_int_equal(sim_info(dev).groups_free, 0);
    sim_leave(new, MEMBERS);
    assert_int_equal(sim_info(dev).groups_free, 1);
    gba_dev_sim.close(dev);
}

/* Release stores in transit come before the mark, and none after it. */
TEST(test_DRV_14_nothing_is_stored_after_the_mark)
{
    struct gba_dev_path path = {.kind = GBA_DEV_SIM,
                                .sim = {.groups = 1, .latency = 1000000000, .repeat_release = 1}};
    struct gba_dev *dev = sim_open(&path);
    struct gba_membership *old[MEMBERS];
    gba_group_handle_t handle;

    sim_group(dev, MEMBERS, 0, old);
    for (uint32_t i = 0; i < MEMBERS; i++)
        sim_arrive(old[i], 1);
    age_samples(dev);
    assert_int_equal(ask(dev, UINT32_MAX, 0, &handle), GBA_OK);
    for (int look = 0; look < 3; look++)
        for (uint32_t i = 0; i < MEMBERS; i++) {
            sim_arrive(old[i], 2); /* the member's own record of the awaited round */
            gba_dev_sim.poll(old[i]);
            assert_true((GBA_FLAG_RECLAIMED | 1) == gba_flag_load_relaxed(old[i]->flag));
        }
    gba_dev_sim.cancel(dev, &handle);
    sim_leave(old, MEMBERS);
    gba_dev_sim.close(dev);
}

/* At every point of a round: the group is taken back only if no member has arrived. */
TEST(test_DRV_12_never_in_a_round)
{
    struct gba_dev *dev = scarce(1);
    struct gba_membership *old[MEMBERS];
    gba_group_handle_t handle;

    sim_group(dev, MEMBERS, 0, old);
    for (uint32_t round = 1; round <= 3; round++)
        for (uint32_t i = 0; i < MEMBERS; i++) {
            sim_arrive(old[i], round);
            age_samples(dev);
            if (i + 1 < MEMBERS)
                assert_int_equal(ask(dev, UINT32_MAX, 0, &handle), GBA_ERR_NO_GROUP);
            for (uint32_t j = 0; j < MEMBERS; j++)
                assert_true(is_released(old[j], round) == (i + 1 == MEMBERS) && !is_marked(old[j]));
        }
    assert_int_equal(ask(dev, UINT32_MAX, 0, &handle), GBA_OK);
    gba_dev_sim.cancel(dev, &handle);
    sim_leave(old, MEMBERS);
    gba_dev_sim.close(dev);
}

/*
 * The adversary: members whose group was taken back, and that do not detect it. They poll their
 * flags and arrive repeatedly, at the same rounds as the new members. Neither team may release the
 * other.
 */
enum { ROUNDS = 20000 };

struct shared {
    gba_word_t round; /* of the new members */
    gba_word_t spins, stop;
};

static void poll_and_arrive(struct gba_membership *membership, struct shared *shared)
{
    const uint32_t lost = 6; /* the round that it waits for: the first one without the group */
    uint64_t round;

    do {
        round = gba_word_load_acquire(&shared->round);
        sim_arrive(membership, lost);
        sim_arrive(membership, (uint32_t)round);
        sim_arrive(membership, (uint32_t)round + 1);
        gba_dev_sim.poll(membership);
        CHECK(!is_released(membership, lost));
        CHECK(is_marked(membership));
        gba_word_add_relaxed(&shared->spins, 1);
    } while (0 == gba_word_load_relaxed(&shared->stop));
    _exit(0);
}

TEST(test_DRV_16_nobody_arrives_for_another_team)
{
    struct gba_dev *dev = scarce(1);
    struct shared *shared = sim_shared(sizeof *shared);
    struct gba_membership *old[MEMBERS], *new[MEMBERS];
    gba_group_handle_t handle;
    pid_t child[MEMBERS];

    sim_group(dev, MEMBERS, 0, old);
    for (uint32_t round = 1; round <= 5; round++)
        sim_round(old, MEMBERS, round);
    age_samples(dev);
    assert_int_equal(ask(dev, UINT32_MAX, 0, &handle), GBA_OK);
    for (uint32_t i = 0; i < MEMBERS; i++)
        sim_arrive(old[i], 6); /* at a group that is not armed */
    memberships_take(dev, &handle, new, 0);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        child[i] = sim_fork();
        if (0 == child[i])
            poll_and_arrive(old[i], shared);
    }
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        uint32_t last = round % MEMBERS;

        gba_word_store_release(&shared->round, round);
        for (uint32_t i = 0; i < MEMBERS; i++)
            if (i != last)
                sim_arrive(new[i], round);
        /* All other members poll and arrive, in the name of the one that has not. */
        if (0 == round % 1000)
            for (uint64_t spins = gba_word_load_relaxed(&shared->spins);
                 gba_word_load_relaxed(&shared->spins) < spins + 2 * MEMBERS;)
                sched_yield();
        for (uint32_t i = 0; i < MEMBERS; i++)
            assert_false(is_released(new[i], round));
        sim_arrive(new[last], round);
        for (uint32_t i = 0; i < MEMBERS; i++)
            assert_true(is_released(new[i], round));
    }
    gba_word_store_relaxed(&shared->stop, 1);
    for (uint32_t i = 0; i < MEMBERS; i++)
        assert_true(sim_child_ok(child[i]));
    sim_leave(old, MEMBERS);
    sim_leave(new, MEMBERS);
    munmap(shared, sizeof *shared);
    gba_dev_sim.close(dev);
}

/* A flag belongs to its member until that has left or died, however often the group is taken
 * back. */
TEST(test_DRV_15_flags_are_given_to_nobody_else)
{
    enum { TEAMS = 40 };
    struct gba_dev *dev = scarce(2);
    struct gba_membership *membership[TEAMS][MEMBERS];
    gba_group_handle_t handle;
    pid_t child;

    for (uint32_t team = 0; team < TEAMS; team++) {
        assert_int_equal(ask(dev, 1, 0, &handle), GBA_OK);
        memberships_take(dev, &handle, membership[team], team);
        for (uint32_t other = 0; other < team; other++)
            for (uint32_t i = 0; i < MEMBERS * MEMBERS; i++)
                assert_ptr_not_equal(membership[team][i / MEMBERS]->flag,
                                     membership[other][i % MEMBERS]->flag);
        age_samples(dev);
    }
    /* Of two groups with equal rates the first one is taken back each time. */
    for (uint32_t team = 0; team < TEAMS; team++)
        for (uint32_t i = 0; i < MEMBERS; i++) {
            assert_true(is_marked(membership[team][i]) == (1 != team && TEAMS - 1 != team));
            assert_int_equal((uint32_t)gba_flag_load_relaxed(membership[team][i]->flag), team);
        }
    assert_int_equal(sim_info(dev).reclaimed, TEAMS - 2);
    assert_int_equal(places_taken(dev), GBA_GROUPS + TEAMS - 2);
    /* A dead member of a team gives up only its own membership. */
    for (uint32_t team = 0; team < TEAMS; team++)
        for (uint32_t i = 0; i < MEMBERS; i++)
            gba_dev_sim.leave(membership[team][i]);
    assert_int_equal(places_taken(dev), GBA_GROUPS);
    child = sim_fork();
    if (0 == child) {
        CHECK(GBA_OK == ask(dev, 0, 0, &handle));
        for (uint32_t i = 0; i < MEMBERS; i++)
            CHECK(sim_join(dev, &handle, i, 0) != NULL);
        CHECK(GBA_OK == ask(dev, 0, 0, &handle)); /* both are taken now */
        for (uint32_t i = 0; i < MEMBERS; i++) {
            membership[0][i] = sim_join(dev, &handle, i, 0);
            CHECK(membership[0][i] != NULL);
        }
        CHECK(GBA_OK == gba_dev_sim.configure(membership[0][0], 0));
        age_samples(dev);
        CHECK(GBA_OK == ask(dev, 1, 0, &handle));
        CHECK(places_taken(dev) == GBA_GROUPS + 1);
        raise(SIGKILL);
    }
    assert_true(sim_child_killed(child));
    assert_int_equal(sim_info(dev).groups_free, 2);
    assert_int_equal(places_taken(dev), GBA_GROUPS);
    gba_dev_sim.close(dev);
}

/* If there is no place for the members that lose a group, no group is taken back. */
TEST(test_no_place)
{
    struct gba_dev *dev = scarce(1);
    struct gba_sim_segment *segment = sim_segment(dev);
    struct gba_membership *old[MEMBERS];
    gba_group_handle_t handle;
    uint32_t holder;
    pid_t child;

    sim_group(dev, MEMBERS, 0, old);
    age_samples(dev);
    for (uint32_t i = GBA_GROUPS; i < GBA_SIM_PLACES; i++)
        gba_word_store_relaxed(&segment->home[i], GBA_GROUPS); /* of the last group */
    for (uint32_t i = GBA_GROUPS; i < GBA_SIM_PLACES; i++)
        segment->place[i].lost.port[i % GBA_MEMBERS_MAX] = GBA_PORTS_MAX;
    assert_int_equal(ask(dev, 1, 0, &handle), GBA_ERR_NO_GROUP);
    assert_int_equal(ask(dev, 1, 1, &handle), GBA_ERR_LIMIT);
    sim_round(old, MEMBERS, 1);
    age_samples(dev);
    /* A process was killed when it had taken a place. The place is free when its port is down. */
    segment->place[77].lost.port[77] = 0;
    child = sim_fork();
    if (0 == child) {
        CHECK(GBA_OK == gba_sim_port_claim((struct gba_sim_dev *)dev, &holder));
        raise(SIGKILL);
    }
    assert_true(sim_child_killed(child));
    assert_int_equal(ask(dev, UINT32_MAX, 0, &handle), GBA_OK);
    assert_int_equal(segment->group[0].place, 77);
    gba_dev_sim.cancel(dev, &handle);
    sim_leave(old, MEMBERS);
    gba_dev_sim.close(dev);
}

/* Many processes request at once: the job gets its limit, and not one group more. */
TEST(test_DRV_11_the_limit_holds_at_any_moment)
{
    enum { PROCESSES = 6, LIMIT = 4, TRIES = 300 };
    struct gba_dev *dev = scarce(GBA_GROUPS);
    gba_word_t *held = sim_shared(sizeof *held);
    pid_t child[PROCESSES];

    for (uint32_t p = 0; p < PROCESSES; p++) {
        child[p] = sim_fork();
        if (0 != child[p])
            continue;
        for (uint32_t i = 0, got = 0; i < TRIES || 0 == got; i++) {
            gba_group_handle_t handle[2];
            uint32_t n = 0;

            while (n < 2 && GBA_OK == ask(dev, 0, LIMIT, &handle[n])) {
                CHECK(gba_word_add_acq_rel(held, 1) < LIMIT);
                n++;
            }
            got += n;
            sched_yield();
            while (n-- > 0) {
                gba_word_add_acq_rel(held, ~(uint64_t)0);
                gba_dev_sim.cancel(dev, &handle[n]);
            }
        }
        _exit(0);
    }
    for (uint32_t p = 0; p < PROCESSES; p++)
        assert_true(sim_child_ok(child[p]));
    assert_int_equal(sim_info(dev).groups_free, GBA_GROUPS);
    munmap(held, sizeof *held);
    gba_dev_sim.close(dev);
}

/* A request that fails because of memory gets a status after which the team requests again, and one
 * line with the cause. */
TEST(test_no_memory)
{
    struct gba_dev *dev = scarce(2);
    struct gba_membership *old[MEMBERS];
    gba_group_handle_t handle;

    sim_group(dev, MEMBERS, 40, old);
    age_samples(dev);
    full = true;
    log_forget();
    gba_log_set(log_catch, NULL, GBA_LOG_WARN);
    for (int time = 0; time < 3; time++) {
        assert_int_equal(ask(dev, UINT32_MAX, 1, &handle), GBA_ERR_LIMIT); /* takes none back */
        assert_false(is_marked(old[0]));
    }
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
    assert_logged("cannot reserve the memory of a group");
    full = false;
    assert_int_equal(places_taken(dev), GBA_GROUPS);
    assert_int_equal(ask(dev, UINT32_MAX, 1, &handle), GBA_OK);
    gba_dev_sim.cancel(dev, &handle);
    assert_int_equal(ask(dev, 0, 0, &handle), GBA_OK);
    gba_dev_sim.cancel(dev, &handle);
    sim_leave(old, MEMBERS);
    gba_dev_sim.close(dev);
}

TEST_MAIN(alarm(test_limit(SIM_TEST_TIMEOUT)))
