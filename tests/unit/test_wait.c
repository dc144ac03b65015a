/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting on a device that wakes its members, gba_dev_ops.sleep, and that reports the failure of a
 * group, gba_dev_ops.failure. */

#include "gba/failover/engine.h"
#include "gba/team/wait.h"
#include "tests/unit/pair.h"

/* The longest sleep for which the device may be called, ns, because the runtime needs progress. */
#define SLEEP_MAX 2000000u

static struct {
    struct gba_dev_ops ops; /* the simulator's, `sleep` and `failure` */
    gba_status_t answer;    /* of each sleep */
    uint32_t sleeps;
    uint32_t late; /* the sleep in which the other member arrives, or the group fails */
    gba_status_t reason, failure; /* of the failure in that sleep: to come, and now; GBA_OK: none */
} scene;

/* The group fails, or the other member arrives and completes the round. */
static void happen(void)
{
    scene.failure = scene.reason;
    if (GBA_OK != scene.failure)
        return;
    assert_int_equal(gba_barrier_start(pair.team[1]), GBA_OK);
    assert_int_equal(gba_barrier_test(pair.team[1]), GBA_OK);
}

static gba_status_t sleep_on_device(struct gba_membership *membership, uint32_t sequence,
                                    uint64_t max_ns)
{
    const struct gba_local_state *state = pair.team[0]->path->state;

    assert_ptr_equal(membership, state->membership);
    assert_int_equal(sequence, state->sequence);
    assert_true(max_ns <= SLEEP_MAX);
    if (++scene.sleeps == scene.late)
        happen();
    return scene.answer;
}

static gba_status_t failure_of_group(const struct gba_membership *membership)
{
    (void)membership;
    return scene.failure;
}

static int scene_begin(void **state)
{
    (void)state;
    memset(&scene, 0, sizeof scene);
    pair_open("sim");
    pair.params.wait = GBA_WAIT_SLEEP;
    scene.ops = *pair.device->dev->ops;
    scene.ops.sleep = sleep_on_device;
    scene.ops.failure = failure_of_group;
    pair.device->dev->ops = &scene.ops;
    pair_create(2);
    return 0;
}

static int scene_end(void **state)
{
    (void)state;
    pair_close();
    return 0;
}

#define WAIT_TEST(name) TEST_WITH(name, scene_begin, scene_end, NULL)

/* Rounds whose last member arrives while the other one sleeps for the third time. */
static void rounds(gba_status_t answer, int count)
{
    scene.answer = answer;
    for (int i = 0; i < count; i++) {
        scene.sleeps = 0;
        scene.late = 3;
        assert_int_equal(gba_barrier_wait(pair.team[0], NULL, NULL), GBA_OK);
        assert_int_equal(scene.sleeps, 3);
    }
}

WAIT_TEST(test_a_member_sleeps_on_its_device)
{
    rounds(GBA_OK, 20);
}

/* The member takes naps. */
WAIT_TEST(test_a_device_that_wakes_nobody)
{
    rounds(GBA_ERR_UNSUPPORTED, 20);
}

/* The runtime's progress: something happens in call number scene.late. */
static void progress_other(void *arg)
{
    uint32_t *calls = arg;

    if (++*calls == scene.late)
        happen();
}

static uint32_t polls, polls_most;

static void poll_counted(struct gba_membership *membership)
{
    (void)membership;
    polls++;
}

static void progress_counted(void *arg)
{
    if (polls > polls_most)
        polls_most = polls;
    polls = 0;
    progress_other(arg);
}

/* A poll that is a system call must not delay the runtime's progress. */
WAIT_TEST(test_a_device_with_slow_polls)
{
    uint32_t calls = 0;

    scene.ops.poll = poll_counted;
    scene.ops.spins = 8;
    pair.team[0]->waiting.oversubscribed = false;
    pair.team[0]->waiting.mode = GBA_WAIT_SPIN;
    pair.team[0]->path->spins = gba_wait_spins(pair.team[0]);
    scene.late = 100;
    polls = polls_most = 0;
    assert_int_equal(gba_barrier_wait(pair.team[0], progress_counted, &calls), GBA_OK);
    assert_int_equal(calls, scene.late);
    /* At most the attempt, one round of waiting, and the test that follows progress. */
    assert_in_range(polls_most, 8, 2 * 8 + 2);
}

/* A leader's round: the first test finds the node complete, and from then on the leader waits for
 * messages. */
static struct {
    struct gba_path_ops ops;
    bool listens;
    uint32_t tests; /* since listens */
} leader;

static bool leader_listens(const struct gba_path_base *path)
{
    (void)path;
    return leader.listens;
}

static gba_status_t leader_test(struct gba_team *team)
{
    (void)team;
    leader.tests += leader.listens ? 1 : 0;
    leader.listens = true;
    return GBA_INPROGRESS;
}

/* Only progress delivers the message. */
static gba_status_t leader_progress(struct gba_team *team)
{
    (void)team;
    return leader.listens ? GBA_OK : GBA_INPROGRESS;
}

/* Tests that follow the leader's message cannot complete the round: progress is due at once. */
WAIT_TEST(test_a_leader_that_has_sent_its_message)
{
    static const int waits[] = {GBA_WAIT_SPIN, GBA_WAIT_YIELD, GBA_WAIT_SLEEP};
    static const struct gba_wait_steps steps = {leader_test, leader_progress};
    struct gba_path_base *path = pair.team[0]->path;
    const struct gba_path_ops *ops = path->ops;

    leader.ops = *ops;
    leader.ops.listens = leader_listens;
    path->ops = &leader.ops;
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        leader.listens = false;
        leader.tests = 0;
        pair.team[0]->waiting.mode = waits[i];
        assert_int_equal(gba_wait(pair.team[0], &steps, NULL, NULL), GBA_OK);
        assert_int_equal(leader.tests, 0);
    }
    path->ops = ops;
}

/* Longer than `sleep` waits until its first sleep. */
WAIT_TEST(test_a_member_that_does_not_sleep)
{
    static const int waits[] = {GBA_WAIT_SPIN, GBA_WAIT_YIELD};
    uint32_t calls;

    scene.late = 1000;
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        calls = 0;
        pair.team[0]->waiting.mode = waits[i];
        assert_int_equal(gba_barrier_wait(pair.team[0], progress_other, &calls), GBA_OK);
        assert_int_equal(calls, scene.late);
    }
    assert_int_equal(scene.sleeps, 0);
}

/* For each way of waiting, a member abandons its round when the memory of the device shows that the
 * group has failed. */
WAIT_TEST(test_a_failed_group)
{
    static const int waits[] = {GBA_WAIT_SPIN, GBA_WAIT_YIELD, GBA_WAIT_SLEEP};

    for (size_t i = 0; i < 3; i++) {
        uint32_t calls = 0;

        scene_end(state);
        scene_begin(state);
        scene.late = 3;
        pair.team[0]->waiting.mode = waits[i];
        scene.reason = GBA_ERR_DEAD;
        assert_int_equal(gba_barrier_wait(pair.team[0],
                                          GBA_WAIT_SLEEP == waits[i] ? NULL : progress_other,
                                          &calls),
                         GBA_ERR_DEAD);
        assert_int_equal(pair.team[0]->failure.status, GBA_ERR_DEAD);
        assert_int_equal(gba_team_rounds(pair.team[0]), 0);
    }
}

/* Turns of other work, which are long, and of ranks. */
#define LONG  3000000u
#define SHORT 5000u

/* The periods of sleep become longer while turns are long at once after them, and are short again
 * after a time without. All end at multiples of their lengths. */
WAIT_TEST(test_how_long_a_member_sleeps)
{
    struct gba_busy busy = {0};
    uint32_t length = GBA_BUSY_FIRST;
    uint64_t round;

    for (round = 0; round < 1000; round++) {
        assert_false(gba_busy_sleeps(&busy, round));
        assert_false(gba_busy_turn(&busy, round, SHORT));
    }
    for (int i = 0; i < 8; i++) {
        assert_true(gba_busy_turn(&busy, round, LONG));
        assert_true(gba_busy_sleeps(&busy, round));
        assert_true(busy.until - round <= length);
        assert_int_equal(busy.until % length, 0);
        round = busy.until;
        assert_true(gba_busy_sleeps(&busy, round - 1));
        assert_false(gba_busy_sleeps(&busy, round));
        assert_false(gba_busy_turn(&busy, round, SHORT));
        if (length < GBA_BUSY_MOST)
            length *= GBA_BUSY_GROWTH;
        round += i % GBA_BUSY_AGAIN;
    }
    assert_int_equal(length, GBA_BUSY_MOST);
    round = busy.until + GBA_BUSY_AGAIN + 1;
    assert_true(gba_busy_turn(&busy, round, LONG));
    assert_true(busy.until - round <= GBA_BUSY_FIRST);
}

/* A follower of a node's leader sleeps in as many waits as its core is busy, and polls then. */
WAIT_TEST(test_a_follower)
{
    struct gba_team *team = pair.team[0];
    uint32_t calls = 0;

    team->path->waits_for_leader = true;
    team->waiting.oversubscribed = true;
    team->waiting.mode = GBA_WAIT_AUTO;
    team->waiting.busy.until = 5;
    rounds(GBA_OK, 5);
    scene.sleeps = 1000; /* no sleep completes the round */
    assert_int_equal(gba_barrier_wait(team, progress_other, &calls), GBA_OK);
    assert_int_equal(calls, scene.late);
    /* It polls, unless this machine has other work. */
    assert_true(1000 == scene.sleeps || 0 != team->waiting.busy.length);
}

TEST_MAIN()
