/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of one team whose device has died (gba/failover/failover.c), and what its barriers
 * return. test_failover.c searches the orders of events among members. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/failover/failover.h"
#include "gba/path/path_device.h"
#include "gba/team/barrier.h"
#include "tests/suite.h"

static struct gba_path_base some_path = {.ops = &gba_path_device_ops};

static struct gba_team *team_of_two(void)
{
    struct gba_team *team = calloc(1, gba_team_bytes(2));

    if (team == NULL)
        abort();
    team->size = 2;
    team->path = &some_path;
    team->renegotiation.due = UINT64_MAX;
    return team;
}

static gba_status_t attempt_at_device(struct gba_path_base *path)
{
    (void)path;
    fail_msg("it arrives at a device that others have given up");
    return GBA_OK;
}

/*
 * The notifications of all other members end a round of a member before it has detected the failure
 * itself. That member may not have sent its arrival, because the leader of a node gathers first. It
 * does not arrive in the next round either, because the device could release it there for the
 * earlier round.
 */
TEST(test_first_notified_bypasses)
{
    struct gba_team *team = team_of_two();
    const gba_notification_t reported = {
        .team = 77, .round = 1, .first_bypassed = UINT64_MAX, .member = 1, .members = 1};
    gba_notification_t mine = {0};
    uint32_t to = 0;

    gba_failover_register(team, reported.team);
    team->attempt = attempt_at_device;
    team->under_way = true;
    assert_int_equal(gba_notification_take(&reported), GBA_OK);
    assert_int_equal(gba_barrier_test(team), GBA_OK);
    assert_int_equal(team->rounds, 1);
    assert_int_equal(gba_barrier_wait(team), GBA_ERR_DEAD);
    /* This member still owes member 1 the end of round 1: the runtime sends that at the end of a
     * barrier. */
    assert_int_equal(gba_team_notification(team, &mine, &to), GBA_OK);
    assert_int_equal(to, 1);
    assert_int_equal(mine.round, 2);
    assert_int_equal(mine.first_bypassed, 2);
    gba_failover_close(team);
    free(team);
}

static const gba_notification_t notification_of_1 = {
    .team = 77, .round = 1, .first_bypassed = UINT64_MAX, .member = 1, .members = 1};

/* The arrival is sent, and the notification of the other member arrives before the first test. */
static gba_status_t attempt_notified(struct gba_path_base *path)
{
    (void)path;
    assert_int_equal(gba_notification_take(&notification_of_1), GBA_OK);
    return GBA_INPROGRESS;
}

/* A barrier that notifications complete is complete: no error, although further steps are due. */
TEST(test_completed_is_no_error)
{
    struct gba_team *team = team_of_two();

    assert_int_equal(gba_team_failed_id(NULL), 0);
    gba_failover_register(team, notification_of_1.team);
    assert_int_equal(gba_team_failed_id(team), 0);
    team->attempt = attempt_notified;
    assert_int_equal(gba_barrier_wait(team), GBA_UNFINISHED);
    assert_int_equal(team->rounds, 1);
    assert_int_equal(gba_team_failed_id(team), notification_of_1.team);
    gba_failover_close(team);
    assert_int_equal(gba_team_failed_id(team), 0);
    free(team);
}

/* The notification of the other member arrives, and the device, dead for that member only,
 * releases. */
static gba_status_t attempt_released(struct gba_path_base *path)
{
    (void)path;
    assert_int_equal(gba_notification_take(&notification_of_1), GBA_OK);
    return GBA_OK;
}

static gba_status_t attempt_at_once(struct gba_path_base *path)
{
    (void)path;
    return GBA_OK;
}

/*
 * A device may be dead for one member and alive for this one, whose barriers then complete at once.
 * The caller still gets GBA_UNFINISHED, because an answer is due, and this member leaves the
 * device, too.
 */
TEST(test_release_with_notification_due)
{
    struct gba_team *team = team_of_two();

    gba_failover_register(team, notification_of_1.team);
    gba_barrier_init(team);
    team->attempt = attempt_released;
    assert_int_equal(gba_barrier_wait(team), GBA_UNFINISHED);
    assert_int_equal(team->rounds, 1);
    assert_ptr_not_equal(team->attempt, attempt_released);
    assert_int_equal(gba_barrier_wait(team), GBA_ERR_DEAD);
    assert_int_equal(gba_failover_state(team), GBA_FAILOVER_BYPASSING);
    /* On its next path the team uses the fast path again. */
    gba_failover_close(team);
    gba_barrier_init(team);
    team->attempt = attempt_at_once;
    assert_int_equal(gba_barrier_wait(team), GBA_OK);
    free(team);
}

/* What a runtime is called for, at the end of a barrier of a failed team. */
static struct {
    gba_team_t *team;
    uint32_t turns, notified, completed;
    gba_due_t prepared, agreed;
} calls;

static int calls_progress(void *ctx)
{
    (void)ctx;
    if (++calls.turns > 10)
        fail_msg("the barrier waits, and does not notify");
    return 0;
}

/* Member 1 sends its notification in the third call. Its own ones leave this member in the third
 * call after the end. */
static gba_status_t calls_notify(void *ctx, bool complete)
{
    (void)ctx;
    assert_int_equal(gba_team_rounds(calls.team), complete);
    if (complete)
        return ++calls.completed < 3 ? GBA_INPROGRESS : GBA_OK;
    if (3 == ++calls.notified)
        assert_int_equal(gba_notification_take(&notification_of_1), GBA_OK);
    return GBA_INPROGRESS;
}

static gba_status_t calls_prepare(void *ctx, gba_due_t due, gba_team_attr_t *attr, gba_oob_t *oob)
{
    (void)ctx, (void)attr, (void)oob;
    assert_int_equal(calls.completed, 3);
    calls.prepared = due;
    return GBA_ERR_OOB;
}

static void calls_agreed(void *ctx, gba_due_t due, gba_status_t status)
{
    (void)ctx;
    assert_int_equal(status, GBA_ERR_OOB);
    calls.agreed = due;
}

/* A barrier of a failed device notifies until it is complete, and until nothing is owed. Then the
 * members agree. */
TEST(test_end)
{
    struct gba_team *team = team_of_two();

    calls.team = team;
    gba_failover_register(team, notification_of_1.team);
    gba_failover_fail(team);
    gba_barrier_init(team);
    team->runtime.progress = calls_progress;
    team->runtime.prepare = calls_prepare;
    team->runtime.agreed = calls_agreed;
    team->runtime.notify = calls_notify;
    assert_int_equal(gba_barrier_end(team, gba_barrier_wait(team)), GBA_ERR_OOB);
    assert_int_equal(calls.notified, 3);
    assert_int_equal(calls.completed, 3);
    assert_int_equal(calls.prepared, GBA_DUE_RECOVER);
    assert_int_equal(calls.agreed, GBA_DUE_RECOVER);
    assert_int_equal(gba_barrier_wait(team), GBA_ERR_STALE); /* it may be one that others count */
    assert_int_equal(gba_team_due(team, true), GBA_DUE_NOTHING); /* they may have agreed */
    assert_int_equal(gba_barrier_end(team, GBA_OK), GBA_OK);
    assert_int_equal(calls.completed, 3);
    gba_failover_close(team);
    free(team);
}

TEST(test_end_if_nothing_can_notify)
{
    struct gba_team *team = team_of_two();

    gba_failover_register(team, notification_of_1.team);
    gba_failover_fail(team);
    gba_barrier_init(team);
    assert_int_equal(gba_barrier(team), GBA_ERR_DEAD);
    assert_int_equal(gba_barrier(team), GBA_ERR_STALE);
    gba_failover_close(team);
    free(team);
}

static gba_status_t set_nowhere(struct gba_transport *transport, uint32_t peer, uint32_t slot,
                                uint32_t seq)
{
    (void)transport, (void)peer, (void)slot, (void)seq;
    return GBA_OK;
}

static const struct gba_transport_ops nowhere_ops = {.name = "nowhere", .set = set_nowhere};

/* No call ends a nonblocking barrier, so its steps notify. */
TEST(test_steps_of_a_nonblocking_barrier)
{
    struct gba_team *team = team_of_two();
    struct gba_transport nowhere = {.ops = &nowhere_ops};

    memset(&calls, 0, sizeof calls);
    calls.team = team;
    gba_failover_register(team, notification_of_1.team);
    gba_failover_fail(team);
    gba_barrier_init(team);
    team->degraded.transport = &nowhere;
    team->runtime.notify = calls_notify;
    assert_int_equal(gba_barrier_start(team), GBA_OK);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(gba_barrier_test(team), GBA_INPROGRESS);
    assert_int_equal(gba_barrier_test(team), GBA_OK);
    assert_int_equal(calls.notified, 3);
    assert_int_equal(calls.completed, 3);
    gba_failover_close(team);
    free(team);
}

static gba_status_t released_and_failed(struct gba_path_base *path)
{
    (void)path;
    gba_failover_fail(calls.team);
    return GBA_OK;
}

/* The device fails while a step looks at the round, which has ended: this member owes
 * notifications, though its next step may come late. */
TEST(test_step_in_which_the_device_fails)
{
    struct gba_path_ops ops = gba_path_device_ops;
    struct gba_path_base path = {.ops = &ops};
    struct gba_team *team = team_of_two();
    struct gba_transport nowhere = {.ops = &nowhere_ops};

    memset(&calls, 0, sizeof calls);
    calls.team = team;
    ops.test = released_and_failed;
    team->path = &path;
    gba_failover_register(team, notification_of_1.team);
    team->degraded.transport = &nowhere;
    team->runtime.notify = calls_notify;
    team->under_way = true;
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(gba_barrier_test(team), GBA_INPROGRESS);
    assert_int_equal(gba_barrier_test(team), GBA_OK);
    assert_int_equal(calls.completed, 3);
    assert_int_equal(gba_team_rounds(team), 1);
    gba_failover_close(team);
    free(team);
}

static void name_of_member(void *ctx, uint32_t rank, char *text, size_t len)
{
    (void)ctx;
    snprintf(text, len, "rank %u", (unsigned)rank);
}

/* An agreement on another path that has failed leaves none. */
TEST(test_what_is_known_without_a_path)
{
    struct gba_team *team = team_of_two();
    gba_team_own_t own;

    team->runtime.name_member = name_of_member;
    team->path = NULL;
    team->kind = GBA_PATH_DEVICE;
    gba_team_own(team, &own);
    assert_string_equal(own.indirect, "its device has failed");
    free(team);
}

/* One member passes through all states. */
TEST(test_states)
{
    struct gba_team *team = team_of_two();
    struct gba_transport nowhere = {.ops = &nowhere_ops};

    assert_int_equal(gba_failover_state(team), GBA_FAILOVER_NONE);
    gba_failover_close(team); /* of none */
    gba_failover_register(team, 77);
    assert_int_equal(gba_failover_state(team), GBA_FAILOVER_RUNNING);
    gba_failover_fail(team);
    assert_int_equal(gba_failover_state(team), GBA_FAILOVER_FAILED);
    assert_int_equal(gba_failover_start(team), GBA_OK);
    assert_int_equal(gba_failover_state(team), GBA_FAILOVER_BYPASSING);
    gba_failover_fail(team);
    assert_int_equal(gba_failover_start(team), GBA_OK);
    assert_int_equal(gba_failover_state(team), GBA_FAILOVER_BYPASSING);
    assert_false((GBA_DUE_RECOVER == gba_team_due(team, true)));
    (void)gba_team_complete(team); /* the first round that was bypassed */
    assert_true((GBA_DUE_RECOVER == gba_team_due(team, true)));
    assert_int_equal(gba_failover_start(team), GBA_OK); /* no messages are ready */
    assert_int_equal(gba_failover_state(team), GBA_FAILOVER_BYPASSING);
    team->degraded.algorithm = &gba_algorithms[GBA_ALGORITHM_V1];
    team->degraded.transport = &nowhere;
    gba_algo_init(&team->degraded.algo, 0, 2, 2, 0);
    assert_int_equal(gba_failover_start(team), GBA_OK);
    assert_int_equal(gba_failover_state(team), GBA_FAILOVER_DEGRADED);
    gba_failover_fail(team);
    assert_int_equal(gba_failover_state(team), GBA_FAILOVER_DEGRADED);
    gba_failover_close(team);
    assert_int_equal(gba_failover_state(team), GBA_FAILOVER_NONE);
    free(team);
}

TEST_MAIN()
