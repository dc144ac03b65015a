/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting on a device that wakes its members, gba_dev_ops.sleep, and that reports the failure of a
 * group, gba_dev_ops.failure; and the count of a member's rounds. */

#include <pthread.h>
#include <unistd.h>

#include "gba/base/traffic.h"
#include "gba/failover/engine.h"
#include "gba/path/path_hybrid.h"
#include "gba/team/barrier.h"
#include "gba/team/wait.h"
#include "tests/limit.h"
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

static const int waits[] = {GBA_WAIT_SPIN, GBA_WAIT_YIELD, GBA_WAIT_SLEEP};

#define WAIT_TEST(name) TEST_WITH(name, scene_begin, scene_end, NULL)

/* Rounds whose last member arrives while the other one sleeps for the third time. */
static void rounds(gba_status_t answer, int count)
{
    scene.answer = answer;
    for (int i = 0; i < count; i++) {
        scene.sleeps = 0;
        scene.late = 3;
        assert_int_equal(gba_barrier_wait(pair.team[0]), GBA_OK);
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
static int progress_other(void *arg)
{
    uint32_t *calls = arg;

    if (++*calls == scene.late)
        happen();
    return 0;
}

static uint32_t polls, polls_most;

static void poll_counted(struct gba_membership *membership)
{
    (void)membership;
    polls++;
}

static int progress_counted(void *arg)
{
    if (polls > polls_most)
        polls_most = polls;
    polls = 0;
    return progress_other(arg);
}

/* A poll that is a system call must not delay the runtime's progress. */
WAIT_TEST(test_a_device_with_slow_polls)
{
    uint32_t calls = 0;

    scene.ops.poll = poll_counted;
    scene.ops.spins = 8;
    pair.team[0]->waiting.oversubscribed = false;
    pair.team[0]->waiting.mode = GBA_WAIT_SPIN;
    gba_barrier_init(pair.team[0]);
    scene.late = 100;
    polls = polls_most = 0;
    assert_int_equal(pair_wait(progress_counted, &calls), GBA_OK);
    assert_int_equal(calls, scene.late);
    /* At most the attempt, one round of waiting, and the test that follows progress. */
    assert_in_range(polls_most, 8, 2 * 8 + 2);
}

/* --------------------------------------------------- what a waiting member does for others --- */

static struct {
    uint32_t calls, last; /* the round completes in call `last` */
    uint32_t polls;       /* since the call before */
    uint32_t rare;        /* the last call that came after more than the looks of one turn */
    uint32_t without;     /* calls without a look since the one before */
    int served;           /* what the calls return: */
    uint32_t first, most; /* those from `first` on, `most` of them */
} service;

static int progress_served(void *unused)
{
    (void)unused;
    service.calls++;
    /* A turn: a look, the test that follows progress, and perhaps one of the watchdog. */
    if (polls > 3)
        service.rare = service.calls;
    service.without += 0 == polls;
    polls = 0;
    if (service.calls == service.last)
        happen();
    return service.calls >= service.first && service.calls - service.first < service.most
               ? service.served
               : 0;
}

/* Make a round in which calls of progress return what `service` says. */
static void serve(int mode, uint32_t last)
{
    struct gba_team *team = pair.team[0];

    scene.ops.poll = poll_counted;
    scene.ops.spins = 0;
    team->waiting.oversubscribed = false;
    team->waiting.mode = mode;
    gba_barrier_init(team);
    polls = 0;
    service.calls = service.rare = service.without = 0;
    service.last = last;
    scene.sleeps = 0;
    assert_int_equal(pair_wait(progress_served, NULL), GBA_OK);
    assert_true(service.calls >= last);
}

/* Progress follows each look, but for the first calls, which are for barriers that take no longer.
 * Other members may need one answer after the other from this one. */
WAIT_TEST(test_progress_follows_each_look)
{
    service.most = 0;
    serve(GBA_WAIT_SPIN, 1000);
    assert_int_equal(service.rare, 1);
    serve(GBA_WAIT_YIELD, 1000);
    assert_int_equal(service.rare, GBA_WAIT_RARE_CALLS);
    assert_int_equal(service.without, 0);
}

/* A call of progress that has served another member is followed by others at once, also where
 * members yield, until some have served none. */
WAIT_TEST(test_progress_that_has_served)
{
    service.served = 1;
    service.first = 2;
    service.most = 1;
    serve(GBA_WAIT_YIELD, 1000);
    assert_int_equal(service.rare, 2);
    assert_in_range(service.without, 1, GBA_WAIT_IDLE_CALLS);
    /* Looks come all the same while there is no end of it. */
    service.most = 10 * GBA_WAIT_CALLS_MOST;
    serve(GBA_WAIT_YIELD, service.most);
    assert_in_range(service.calls - service.without, 10, 20);
}

/* A member that serves others does not sleep, nor one that cannot know. */
WAIT_TEST(test_a_member_that_serves)
{
    service.first = 1;
    service.most = 1000;
    service.served = 1;
    serve(GBA_WAIT_SLEEP, 1000);
    assert_int_equal(scene.sleeps, 0);
    service.served = -1;
    serve(GBA_WAIT_SLEEP, 1000);
    assert_int_equal(scene.sleeps, 0);
    service.served = 0;
    serve(GBA_WAIT_SLEEP, 1000);
    assert_true(scene.sleeps > 0);
}

static void *reads_nothing(void *count)
{
    assert_false(gba_traffic_grew(count));
    return NULL;
}

/* The kernel's count of what this thread has read. */
WAIT_TEST(test_traffic)
{
    uint64_t count = 0, other = 0;
    char text[8] = "12345";
    pthread_t thread;
    int ends[2];

    if (0 != access("/proc/thread-self/io", R_OK))
        skip(); /* a kernel that does not count */
    assert_false(gba_traffic_grew(&count));
    assert_false(gba_traffic_grew(&count));
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, 5), 5);
    assert_int_equal(read(ends[0], text, sizeof text), 5);
    assert_int_equal(pthread_create(&thread, NULL, reads_nothing, &other), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(gba_traffic_grew(&count));
    assert_false(gba_traffic_grew(&count));
    close(ends[0]);
    close(ends[1]);
}

/* A leader's round: the first test finds the node complete, and from then on the leader waits for a
 * message, which only progress delivers. */
static struct {
    struct gba_path_ops ops;
    struct gba_path_hybrid part;
    bool delivered;
    uint32_t tests; /* while it waits for the message */
} leader;

static gba_status_t leader_attempt(struct gba_path_base *path)
{
    (void)path;
    return GBA_INPROGRESS;
}

static gba_status_t leader_test(struct gba_path_base *path)
{
    (void)path;
    if (leader.delivered)
        return GBA_OK;
    leader.tests += gba_path_hybrid_listens(&leader.part) ? 1 : 0;
    leader.part.phase = GBA_PHASE_UPPER;
    return GBA_INPROGRESS;
}

static gba_status_t leader_deliver(struct gba_transport *transport)
{
    (void)transport;
    leader.delivered = gba_path_hybrid_listens(&leader.part);
    return GBA_OK;
}

/* Tests that follow the leader's message cannot complete the round: progress is due at once. */
WAIT_TEST(test_a_leader_that_has_sent_its_message)
{
    static const struct gba_transport_ops messages = {.progress = leader_deliver};
    static struct gba_transport transport = {.ops = &messages};
    struct gba_path_base *path = pair.team[0]->path;
    const struct gba_path_ops *ops = path->ops;

    leader.ops = *ops;
    leader.ops.attempt = leader_attempt;
    leader.ops.test = leader_test;
    path->ops = &leader.ops;
    path->hybrid = &leader.part;
    leader.part.messages.transport = &transport;
    for (size_t i = 0; i < 3; i++) {
        leader.part.phase = GBA_PHASE_GATHER;
        leader.delivered = false;
        leader.tests = 0;
        pair.team[0]->waiting.mode = waits[i];
        gba_barrier_init(pair.team[0]);
        assert_int_equal(gba_barrier_wait(pair.team[0]), GBA_OK);
        assert_int_equal(leader.tests, 0);
    }
    path->ops = ops;
    path->hybrid = NULL;
}

/* Longer than `sleep` waits until its first sleep. */
WAIT_TEST(test_a_member_that_does_not_sleep)
{
    uint32_t calls;

    scene.late = 1000;
    for (size_t i = 0; i < 2; i++) {
        calls = 0;
        pair.team[0]->waiting.mode = waits[i];
        assert_int_equal(pair_wait(progress_other, &calls), GBA_OK);
        assert_int_equal(calls, scene.late);
    }
    assert_int_equal(scene.sleeps, 0);
}

/* For each way of waiting, a member abandons its round when the memory of the device shows that the
 * group has failed. */
WAIT_TEST(test_a_failed_group)
{
    for (size_t i = 0; i < 3; i++) {
        uint32_t calls = 0;

        scene_end(state);
        scene_begin(state);
        scene.late = 3;
        pair.team[0]->waiting.mode = waits[i];
        scene.reason = GBA_ERR_DEAD;
        assert_int_equal(pair_wait(GBA_WAIT_SLEEP == waits[i] ? NULL : progress_other, &calls),
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
    assert_int_equal(pair_wait(progress_other, &calls), GBA_OK);
    assert_int_equal(calls, scene.late);
    /* It polls, unless this machine has other work. */
    assert_true(1000 == scene.sleeps || 0 != team->waiting.busy.length);
}

/* -------------------------------------------------------------------------- the count --- */

/*
 * Rounds are counted once each, however often a member tests a complete barrier: when a device
 * fails, a member answers by that count that a round is complete. One complete round, and one in
 * which the device dies. Member 0 tests more often than necessary, also after a barrier that it
 * waited for.
 */
TEST(test_counted_once)
{
    for (int waited = 0; waited < 2; waited++) {
        gba_status_t died[2];

        pair_open("sim?die_after=1");
        pair.params.retry_after = 1;
        pair_create(2);
        assert_int_equal(gba_barrier_start(pair.team[1]), GBA_OK);
        if (waited)
            assert_int_equal(gba_barrier_wait(pair.team[0]), GBA_OK);
        else
            assert_int_equal(gba_barrier_start(pair.team[0]), GBA_OK);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(gba_barrier_test(pair.team[0]), GBA_OK);
            assert_int_equal(gba_barrier_progress(pair.team[0]), GBA_OK);
        }
        assert_int_equal(gba_barrier_test(pair.team[1]), GBA_OK);
        for (uint32_t i = 0; i < 2; i++)
            assert_int_equal(gba_team_rounds(pair.team[i]), 1);
        for (uint32_t i = 0; i < 2; i++)
            (void)gba_barrier_start(pair.team[i]);
        for (uint32_t i = 0; i < 2; i++) {
            while (GBA_INPROGRESS == (died[i] = gba_barrier_progress(pair.team[i])))
                ;
            assert_int_equal(died[i], GBA_ERR_DEAD);
            assert_int_equal(gba_team_rounds(pair.team[i]), 1);
        }
        pair_close();
    }
}

TEST_MAIN(alarm(test_limit(60)))
