/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A barrier that does not end: exactly one member reports the missing members, and later reports
 * the end. On a simulated device, also with unreadable registers, and on software barriers of each
 * kind.
 */
#include <unistd.h>

#include "gba/base/place.h"
#include "gba/dev/member.h"
#include "gba/failover/engine.h"
#include "tests/limit.h"
#include "tests/suite.h"
#include "tests/unit/stall_log.h"
#include "tests/unit/team/thread_oob.h"

#define MEMBERS 4u

struct scene {
    const char *path; /* of the device */
    int algorithm;
    bool oversubscribed;
    unsigned late; /* a bit for each member that is late */
    bool trial;    /* late in a barrier of a trial */
    bool placed;   /* members 0 and 1 share a cache, and members 2 and 3 */
    gba_device_t *device;
    gba_status_t device_status;
    gba_path_t taken;
    bool serves; /* each call of progress has served another member */
};

static _Thread_local uint64_t place;

uint64_t __wrap_gba_place_get(void); /* by the linker */
uint64_t __wrap_gba_place_get(void)
{
    return place;
}

/* The effect of a reading of the registers, for this member or for all. */
static struct {
    gba_status_t status;
    unsigned members; /* a bit for each member concerned */
    gba_word_t spins; /* of these */
} blind;

static gba_status_t inspect_or_fail(struct gba_membership *membership, gba_group_state_t *state)
{
    if (0 == (blind.members >> membership->member & 1))
        return gba_dev_sim.inspect(membership, state);
    gba_word_add_relaxed(&blind.spins, 1);
    return blind.status;
}

static void name_member(void *ctx, uint32_t rank, char *text, size_t len)
{
    (void)ctx;
    snprintf(text, len, "number %u", rank);
}

/* Until the stall is reported, or for half a minute (test_limit), because the machine may be slow.
 */
static void wait_for_report(void)
{
    for (unsigned i = 0; i < test_limit(3000) && !stall_log_complete(); i++)
        usleep(10000);
}

static _Thread_local const gba_oob_t *trial_oob;

/* Late after the vote on a batch of a trial, which has the complement of its cost: the others are
 * then in the barriers of the next candidate. */
static gba_status_t reduce_late(void *ctx, uint64_t *words, uint32_t count)
{
    const struct thread_oob_member *self = ctx;
    const struct scene *scene = self->arg;
    const bool vote = 2 == count && words[1] > UINT64_MAX / 2;
    gba_status_t status = trial_oob->min(ctx, words, count);

    if (vote && (scene->late >> self->rank & 1))
        wait_for_report();
    return status;
}

static void trial_body(struct scene *scene, const gba_oob_t *oob, gba_team_t *team,
                       gba_team_attr_t *attr)
{
    gba_oob_t late = *oob;

    late.min = reduce_late;
    trial_oob = oob;
    if (GBA_UNFINISHED == gba_barrier_wait(team) &&
        GBA_OK == gba_team_agree(&team, GBA_DUE_TRIAL, attr, &late))
        scene->taken = gba_team_path(team);
    gba_barrier_wait(team);
}

static int progress_served(void *unused)
{
    (void)unused;
    return 1;
}

static void place_now(void *ctx, gba_where_t *where)
{
    (void)ctx;
    snprintf(where->name, sizeof where->name, "renamed");
}

static void scene_body(struct thread_oob_member *self, const gba_oob_t *oob)
{
    struct scene *scene = self->arg;
    gba_params_t params;
    gba_team_attr_t attr = {.name = "team",
                            .id = 1,
                            .params = &params,
                            .device = scene->device,
                            .device_status = scene->device_status,
                            .runtime.name_member = name_member,
                            .runtime.place = place_now,
                            .barriers = 10,
                            .oversubscribed = scene->oversubscribed};
    gba_team_t *team;

    gba_params_default(&params);
    params.stuck_after = 1;
    params.sw_algorithm = scene->algorithm;
    params.trial_after = scene->trial;
    params.trial_test = 2;
    if (scene->placed) {
        place = gba_place_make(0, 0, self->rank / 2, 1 + self->rank);
        params.sw_radix = 2;
        params.hierarchy = GBA_HIERARCHY_FLAT;
    }
    if (GBA_OK != gba_team_create(&attr, oob, &team))
        return;
    if (scene->trial) {
        trial_body(scene, oob, team, &attr);
    } else {
        scene->taken = gba_team_path(team);
        gba_barrier_wait(team);
        if (scene->late >> self->rank & 1)
            wait_for_report();
        team->runtime.progress = scene->serves ? progress_served : NULL;
        gba_barrier_wait(team);
        team->runtime.progress = NULL;
        gba_barrier_wait(team);
    }
    gba_team_destroy(team);
}

static void play(struct scene scene, gba_path_t path, const char *expected)
{
    struct gba_dev_ops ops = gba_dev_sim;

    ops.inspect = inspect_or_fail;
    scene.device_status = GBA_ERR_NO_DEVICE;
    if (scene.path != NULL) {
        assert_int_equal(gba_device_init(scene.path, NULL, &scene.device), GBA_OK);
        scene.device->dev->ops = &ops;
    }
    stall_log_begin(1);
    thread_oob_run(MEMBERS, 0, scene_body, &scene);
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
    gba_device_fini(scene.device);
    assert_int_equal(scene.taken, path);
    if (expected == NULL) {
        expect_lines(0);
        return;
    }
    expect_lines(1);
    expect_line(expected);
    expect_line(scene.trial ? "team, trial after 1: barrier 1 (software) stalled"
                            : "renamed: barrier 12 (");
}

/* The path of the team is another one than that of the trial's barriers, and its barriers are not
 * counted. */
TEST(test_missing_members_in_a_trial)
{
    play((struct scene){.late = 1u << 2, .trial = true}, GBA_PATH_SOFTWARE,
         "3 of 4 members have arrived; missing: number 2");
}

TEST(test_missing_members_of_a_group)
{
    play((struct scene){.path = "sim", .late = 1u << 2}, GBA_PATH_SIM,
         "3 of 4 members have arrived; missing: number 2");
    play((struct scene){.path = "sim", .late = 1u << 0 | 1u << 3}, GBA_PATH_SIM,
         "2 of 4 members have arrived; missing: number 0, number 3");
}

/* Members that the reporter serves are not stuck. */
TEST(test_missing_members_that_are_served)
{
    play((struct scene){.late = 1u << 2, .serves = true}, GBA_PATH_SOFTWARE,
         "3 of 4 members have arrived; missing: number 2; other ranks make progress through this "
         "one");
}

/* Member 0, the reporter, cannot read the registers: it reports what it sees, once, and reads again
 * only for its retries. */
TEST(test_unreadable_registers)
{
    static const gba_status_t reasons[] = {GBA_ERR_IO, GBA_ERR_STALE};

    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        blind.status = reasons[i];
        blind.members = 1u << 0;
        gba_word_store_relaxed(&blind.spins, 0);
        play((struct scene){.path = "sim", .late = 1u << 2}, GBA_PATH_SIM,
             "1 of 4 members have arrived (3 not visible to this process)\n");
        blind.members = 0;
        assert_in_range(gba_word_load_relaxed(&blind.spins), 1, 100);
    }
}

TEST(test_missing_members_of_software)
{
    for (int algorithm = GBA_ALGORITHM_AUTO; algorithm <= GBA_ALGORITHM_V3; algorithm++)
        play((struct scene){.algorithm = algorithm,
                            .oversubscribed = true,
                            .late = 1u << 0 | 1u << 2},
             GBA_PATH_SOFTWARE, "2 of 4 members have arrived; missing: number 0, number 2");
}

/* The members have other numbers than their ranks: members 1 and 2 change places. */
TEST(test_missing_members_by_places)
{
    for (int algorithm = GBA_ALGORITHM_V1; algorithm <= GBA_ALGORITHM_TREE; algorithm++) {
        play((struct scene){.algorithm = algorithm, .late = 1u << 1, .placed = true},
             GBA_PATH_SOFTWARE, "3 of 4 members have arrived; missing: number 1");
        play((struct scene){.algorithm = algorithm, .late = 1u << 2 | 1u << 3, .placed = true},
             GBA_PATH_SOFTWARE, "2 of 4 members have arrived; missing: number 2, number 3");
    }
}

TEST(test_no_report_of_barriers_that_end)
{
    play((struct scene){.path = "sim"}, GBA_PATH_SIM, NULL);
    play((struct scene){.oversubscribed = true}, GBA_PATH_SOFTWARE, NULL);
}

TEST_MAIN()
