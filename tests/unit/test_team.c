/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Agreement: whatever fails, on whichever member, at whichever step, all members end on the same
 * path with the same reason, and nobody keeps a seat. The backend is a double that fails on demand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gba/team/engine.h"
#include "gba/spec/gba_regs.h"
#include "tests/unit/thread_oob.h"

enum step { STEP_NONE, STEP_ALLOC, STEP_JOIN, STEP_MAP, STEP_CONFIGURE };

/* A device that only counts, and fails at one step of one member. */
struct double_dev {
    struct gba_dev dev;
    enum step fail_step;
    uint32_t fail_member;
    gba_status_t fail_status;
    _Atomic int memberships, allocated, cancelled, configured;
    _Atomic int present; /* while somebody is in */
};

struct double_membership {
    struct gba_membership membership;
    gba_flag_t flag;
};

static gba_status_t double_alloc(struct gba_dev *dev, const gba_group_request_t *request,
                                 gba_group_handle_t *handle)
{
    struct double_dev *d = (struct double_dev *)dev;

    (void)request;
    if (STEP_ALLOC == d->fail_step)
        return d->fail_status;
    d->allocated++;
    handle->group = 3;
    return GBA_OK;
}

static void double_cancel(struct gba_dev *dev, const gba_group_handle_t *handle)
{
    (void)handle;
    ((struct double_dev *)dev)->cancelled++;
}

static gba_status_t double_join(struct gba_dev *dev, const gba_group_handle_t *handle,
                                uint32_t member, struct gba_membership **membership)
{
    struct double_dev *d = (struct double_dev *)dev;
    struct double_membership *s;

    (void)handle;
    if (STEP_JOIN == d->fail_step && member == d->fail_member)
        return d->fail_status;
    s = calloc(1, sizeof *s);
    s->membership.dev = dev;
    s->membership.member = member;
    d->memberships++;
    *membership = &s->membership;
    return GBA_OK;
}

static gba_status_t double_map_flag(struct gba_membership *membership)
{
    struct double_dev *d = (struct double_dev *)membership->dev;

    if (STEP_MAP == d->fail_step && membership->member == d->fail_member)
        return d->fail_status;
    membership->flag = &((struct double_membership *)membership)->flag;
    return GBA_OK;
}

static gba_status_t double_configure(struct gba_membership *membership, uint32_t sequence)
{
    struct double_dev *d = (struct double_dev *)membership->dev;

    (void)sequence;
    d->configured++;
    return STEP_CONFIGURE == d->fail_step ? d->fail_status : GBA_OK;
}

static void double_leave(struct gba_membership *membership)
{
    ((struct double_dev *)membership->dev)->memberships--;
    free(membership);
}

static void double_arrive(struct gba_membership *membership, uint64_t value)
{
    (void)membership;
    (void)value;
}

static const struct gba_dev_ops double_ops = {
    .name = "double",
    .alloc = double_alloc,
    .cancel = double_cancel,
    .join = double_join,
    .map_flag = double_map_flag,
    .configure = double_configure,
    .leave = double_leave,
    .arrive = double_arrive,
};

struct harness {
    struct double_dev dev;
    struct gba_device device;
    uint32_t without_device;           /* 1 + member that has none */
    uint8_t other_uuid[GBA_UUID_SIZE]; /* of the device of `other_device` */
    uint32_t other_device;             /* 1 + member with another device */
    gba_status_t returned[THREAD_OOB_MAX];
    gba_status_t reason[THREAD_OOB_MAX];
    gba_path_t path[THREAD_OOB_MAX];
    char why[THREAD_OOB_MAX][352];
};

static void harness_init(struct harness *w)
{
    memset(w, 0, sizeof *w);
    w->dev.dev.ops = &double_ops;
    w->device.dev = &w->dev.dev;
    w->device.groups = GBA_GROUPS;
    w->device.members_max = GBA_MEMBERS_MAX;
}

static void create_body(struct thread_oob_member *self, const gba_oob_t *oob)
{
    struct harness *w = self->arg;
    struct gba_device mine = w->device;
    gba_params_t params;
    gba_team_attr_t attr = {.name = "test", .params = &params, .device = &mine, .id = 1};
    gba_team_t *team = NULL;

    gba_params_default(&params);
    params.sw_enable = 0;
    if (self->rank + 1 == w->without_device) {
        attr.device = NULL;
        attr.device_status = GBA_ERR_NO_DEVICE;
    }
    if (self->rank + 1 == w->other_device)
        memset(mine.uuid, 0xAB, sizeof mine.uuid);
    w->returned[self->rank] = gba_team_create(&attr, oob, &team);
    if (GBA_OK != w->returned[self->rank])
        return;
    w->path[self->rank] = gba_team_path(team);
    w->reason[self->rank] = gba_team_reason(team);
    strcpy(w->why[self->rank], gba_team_why(team));
    gba_team_destroy(team);
}

/* Run the agreement and demand that all members report the same. */
static void harness_agree(struct harness *w, uint32_t size, gba_path_t path, gba_status_t reason)
{
    thread_oob_run(size, 0, create_body, w);
    for (uint32_t r = 0; r < size; r++) {
        assert_int_equal(w->returned[r], GBA_OK);
        assert_int_equal(w->path[r], path);
        assert_int_equal(w->reason[r], reason);
        assert_string_equal(w->why[r], w->why[0]);
    }
    assert_int_equal(w->dev.memberships, 0);
}

static const uint32_t sizes[] = {2, 3, 4, 7, 16};
#define SIZES (sizeof sizes / sizeof sizes[0])

static void test_all_well_takes_the_device(void **state)
{
    struct harness w;

    (void)state;
    for (size_t i = 0; i < SIZES; i++) {
        harness_init(&w);
        harness_agree(&w, sizes[i], GBA_PATH_DEVICE, GBA_OK);
        assert_int_equal(w.dev.configured, 1);
        harness_init(&w);
        w.device.simulated = true;
        harness_agree(&w, sizes[i], GBA_PATH_SIM, GBA_OK);
        assert_non_null(strstr(w.why[0], "group 3 of 32"));
    }
}

static void test_one_failure_anywhere_falls_back_everywhere(void **state)
{
    static const gba_status_t statuses[] = {GBA_ERR_NO_GROUP, GBA_ERR_REFUSED, GBA_ERR_DEAD};
    struct harness w;

    (void)state;
    for (size_t i = 0; i < SIZES; i++)
        for (int step = STEP_ALLOC; step <= STEP_CONFIGURE; step++)
            for (uint32_t member = 0; member < sizes[i]; member++)
                for (size_t s = 0; s < 3; s++) {
                    harness_init(&w);
                    w.dev.fail_step = (enum step)step;
                    w.dev.fail_member = member;
                    w.dev.fail_status = statuses[s];
                    harness_agree(&w, sizes[i], GBA_PATH_FALLBACK, statuses[s]);
                    if (STEP_JOIN == step || STEP_MAP == step) {
                        char who[32];
                        snprintf(who, sizeof who, "(member %u)", member);
                        assert_non_null(strstr(w.why[0], who));
                        assert_int_equal(w.dev.configured, 0);
                    }
                    /* a group that the leader could not join is given back as a ticket */
                    assert_int_equal(w.dev.cancelled, STEP_JOIN == step && 0 == member);
                }
}

static void test_a_member_without_device(void **state)
{
    struct harness w;

    (void)state;
    for (uint32_t member = 0; member < 7; member++) {
        harness_init(&w);
        w.without_device = member + 1;
        harness_agree(&w, 7, GBA_PATH_FALLBACK, GBA_ERR_NO_DEVICE);
        assert_int_equal(w.dev.configured, 0);
    }
}

static void test_a_member_with_another_device(void **state)
{
    struct harness w;

    (void)state;
    for (uint32_t member = 1; member < 4; member++) {
        harness_init(&w);
        w.other_device = member + 1;
        harness_agree(&w, 4, GBA_PATH_FALLBACK, GBA_ERR_OTHER_DEVICE);
    }
}

static void test_too_many_members(void **state)
{
    struct harness w;

    (void)state;
    harness_init(&w);
    w.device.members_max = 3;
    harness_agree(&w, 4, GBA_PATH_FALLBACK, GBA_ERR_TOO_MANY);
    harness_init(&w);
    w.device.members_max = 3;
    harness_agree(&w, 3, GBA_PATH_DEVICE, GBA_OK);
}

static void test_a_failed_exchange_leaves_nothing(void **state)
{
    struct harness w;

    (void)state;
    for (int call = 1; call <= 3; call++) {
        harness_init(&w);
        thread_oob_run(4, call, create_body, &w);
        for (int r = 0; r < 4; r++)
            assert_int_equal(w.returned[r], GBA_ERR_OOB);
        assert_int_equal(w.dev.memberships, 0);
        assert_int_equal(w.dev.cancelled, 1 == call);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_well_takes_the_device),
        cmocka_unit_test(test_one_failure_anywhere_falls_back_everywhere),
        cmocka_unit_test(test_a_member_without_device),
        cmocka_unit_test(test_a_member_with_another_device),
        cmocka_unit_test(test_too_many_members),
        cmocka_unit_test(test_a_failed_exchange_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
