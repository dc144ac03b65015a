/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A member that runs out of memory in the agreement. It must make the same collective calls as the
 * other members, and all must get the same result. The test lets each allocation of one member in
 * turn fail. A member that leaves the agreement alone leaves the others waiting, and the alarm ends
 * the test.
 */
#include <unistd.h>

#include "gba/transport/transport.h"
#include "gba/algo/sched.h"
#include "tests/limit.h"
#include "tests/suite.h"
#include "tests/unit/log_catch.h"
#include "tests/unit/no_transport.h"
#include "tests/unit/thread_oob.h"

#define MEMBERS 5u

/* More allocations than any member makes; the search ends with a run in which none failed. */
#define ALLOCATIONS_MAX 40

/* The allocation of this thread that fails, counted down; 0: none. */
static _Thread_local int fail_in;
static _Thread_local bool failed;

static uint32_t hosts; /* ranks are dealt to them in turn */

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static bool fails(void)
{
    if (0 == fail_in || 0 != --fail_in)
        return false;
    failed = true;
    return true;
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

struct plan {
    const gba_remote_t *remote;
    gba_device_t *device; /* or NULL; for a group among the leaders of nodes */
    uint32_t victim;
    int fail; /* the failing allocation of the victim, from 1, after that of its team */
    /* The outcome, by member: */
    bool failed;
    gba_status_t status[MEMBERS];
    gba_path_t path[MEMBERS];
    int calls[MEMBERS];
    char why[MEMBERS][200];
};

static void agree(struct thread_oob_member *self, const gba_oob_t *oob)
{
    struct plan *plan = self->arg;
    uint32_t rank = self->rank;
    gba_params_t params;
    gba_team_attr_t attr = {.name = "agree",
                            .id = 1,
                            .params = &params,
                            .device = plan->device,
                            .device_status = GBA_ERR_NO_DEVICE,
                            .remote = plan->remote};
    gba_team_t *team = NULL;

    gba_params_default(&params);
    params.hierarchy = plan->device == NULL ? GBA_HIERARCHY_AUTO : GBA_HIERARCHY_NODE;
    self->host = 1 + rank % hosts;
    failed = false;
    /* Without its team a member cannot report the failure to the others: the first allocation
     * succeeds. */
    fail_in = rank == plan->victim ? plan->fail + 1 : 0;
    plan->status[rank] = gba_team_create(&attr, oob, &team);
    fail_in = 0;
    if (rank == plan->victim)
        plan->failed = failed;
    plan->calls[rank] = self->shared->calls[rank];
    if (GBA_OK != plan->status[rank])
        return;
    plan->path[rank] = gba_team_path(team);
    snprintf(plan->why[rank], sizeof plan->why[rank], "%s", gba_team_why(team));
    gba_team_destroy(team);
}

/* Fail each allocation of the victim in turn, until a run has no failing one. */
static void fail_each(uint32_t on_hosts, const gba_remote_t *remote, uint32_t victim,
                      gba_device_t *device)
{
    char culprit[64];
    int fail;

    hosts = on_hosts;
    snprintf(culprit, sizeof culprit, "%s (member %u)", gba_status_text(GBA_ERR_NOMEM), victim);
    for (fail = 1; fail <= ALLOCATIONS_MAX; fail++) {
        struct plan plan = {.remote = remote, .device = device, .victim = victim, .fail = fail};

        alarm(test_limit(60));
        thread_oob_run(MEMBERS, 0, agree, &plan);
        for (uint32_t rank = 0; rank < MEMBERS; rank++) {
            assert_int_equal(plan.status[rank], GBA_OK);
            assert_int_equal(plan.path[rank], plan.path[0]);
            assert_int_equal(plan.calls[rank], plan.calls[0]);
            assert_string_equal(plan.why[rank], plan.why[0]);
        }
        if (!plan.failed)
            break;
        /* A member that has no memory for the group alone may have it for a software barrier. */
        if (device == NULL)
            assert_int_equal(plan.path[0], GBA_PATH_FALLBACK);
        else
            assert_in_range(plan.path[0], GBA_PATH_SOFTWARE, GBA_PATH_FALLBACK);
        if (strstr(plan.why[0], culprit) == NULL) /* the member without memory is named */
            fail_msg("allocation %d of member %u: %s", fail, victim, plan.why[0]);
    }
    alarm(0);
    /* Else the wrapper is not in use. Without messages the facts exclude all paths, before any
     * member needs more memory than that of the layout. */
    assert_in_range(fail, 1 < on_hosts && remote == NULL && device == NULL ? 2 : 3,
                    ALLOCATIONS_MAX);
}

TEST(test_one_host)
{
    for (uint32_t victim = 0; victim < MEMBERS; victim++)
        fail_each(1, NULL, victim, NULL);
}

TEST(test_several_hosts)
{
    for (uint32_t victim = 0; victim < MEMBERS; victim++)
        fail_each(2, &some_remote, victim, NULL);
}

/* All members derive from the members' information that there is no path. A member that needed
 * memory for this could reach another conclusion alone. */
TEST(test_several_hosts_without_messages)
{
    for (uint32_t victim = 0; victim < MEMBERS; victim++)
        fail_each(2, NULL, victim, NULL);
}

TEST(test_a_group_among_leaders)
{
    gba_device_info_t info;
    gba_device_t *device;

    assert_int_equal(gba_device_init("sim", NULL, &device), GBA_OK);
    for (uint32_t victim = 0; victim < MEMBERS; victim++) {
        fail_each(2, &some_remote, victim, device);
        fail_each(2, NULL, victim, device);
        fail_each(1, NULL, victim, device);
    }
    assert_int_equal(gba_device_query(device, &info), GBA_OK);
    assert_int_equal(info.groups_free, info.groups);
    gba_device_fini(device);
}

TEST_MAIN(gba_log_set(log_drop, NULL, GBA_LOG_ERROR))
