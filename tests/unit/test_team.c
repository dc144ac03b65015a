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

#include "gba/engine.h"
#include "gba/spec/gba_regs.h"
#include "tests/unit/thread_oob.h"

enum step { STEP_NONE, STEP_ALLOC, STEP_JOIN, STEP_MAP, STEP_CONFIGURE };

/* A device that only counts, and fails at one step of one member. */
struct double_dev {
    struct gba_dev dev;
    enum step fail_step;
    uint32_t fail_member;
    gba_status_t fail_status;
    _Atomic int seats, allocated, cancelled, configured;
    _Atomic int present; /* while somebody is in */
};

struct double_seat {
    struct gba_seat seat;
    gba_word_t flag;
};

static gba_status_t double_alloc(struct gba_dev *dev, const gba_group_request_t *request,
                                 gba_ticket_t *ticket)
{
    struct double_dev *d = (struct double_dev *)dev;

    (void)request;
    if (STEP_ALLOC == d->fail_step)
        return d->fail_status;
    d->allocated++;
    ticket->group = 3;
    return GBA_OK;
}

static void double_cancel(struct gba_dev *dev, const gba_ticket_t *ticket)
{
    (void)ticket;
    ((struct double_dev *)dev)->cancelled++;
}

static gba_status_t double_join(struct gba_dev *dev, const gba_ticket_t *ticket, uint32_t member,
                                struct gba_seat **seat)
{
    struct double_dev *d = (struct double_dev *)dev;
    struct double_seat *s;

    (void)ticket;
    if (STEP_JOIN == d->fail_step && member == d->fail_member)
        return d->fail_status;
    s = calloc(1, sizeof *s);
    s->seat.dev = dev;
    s->seat.member = member;
    d->seats++;
    *seat = &s->seat;
    return GBA_OK;
}

static gba_status_t double_map_flag(struct gba_seat *seat)
{
    struct double_dev *d = (struct double_dev *)seat->dev;

    if (STEP_MAP == d->fail_step && seat->member == d->fail_member)
        return d->fail_status;
    seat->flag = &((struct double_seat *)seat)->flag;
    return GBA_OK;
}

static gba_status_t double_configure(struct gba_seat *seat, uint32_t sequence)
{
    struct double_dev *d = (struct double_dev *)seat->dev;

    (void)sequence;
    d->configured++;
    return STEP_CONFIGURE == d->fail_step ? d->fail_status : GBA_OK;
}

static void double_leave(struct gba_seat *seat)
{
    ((struct double_dev *)seat->dev)->seats--;
    free(seat);
}

static void double_arrive(struct gba_seat *seat, uint64_t value)
{
    (void)seat;
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

struct world {
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

static void world_init(struct world *w)
{
    memset(w, 0, sizeof *w);
    w->dev.dev.ops = &double_ops;
    w->device.dev = &w->dev.dev;
    w->device.groups = GBA_GROUPS;
    w->device.members_max = GBA_MEMBERS_MAX;
}

static void create_body(struct thread_oob_member *self, const gba_oob_t *oob)
{
    struct world *w = self->arg;
    struct gba_device mine = w->device;
    gba_params_t params;
    gba_team_attr_t attr = {.name = "test", .params = &params, .device = &mine};
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
static void world_agree(struct world *w, uint32_t size, gba_path_t path, gba_status_t reason)
{
    thread_oob_run(size, 0, create_body, w);
    for (uint32_t r = 0; r < size; r++) {
        assert_int_equal(w->returned[r], GBA_OK);
        assert_int_equal(w->path[r], path);
        assert_int_equal(w->reason[r], reason);
        assert_string_equal(w->why[r], w->why[0]);
    }
    assert_int_equal(w->dev.seats, 0);
}

static const uint32_t sizes[] = {2, 3, 4, 7, 16};
#define SIZES (sizeof sizes / sizeof sizes[0])

static void test_all_well_takes_the_device(void **state)
{
    struct world w;

    (void)state;
    for (size_t i = 0; i < SIZES; i++) {
        world_init(&w);
        world_agree(&w, sizes[i], GBA_PATH_DEVICE, GBA_OK);
        assert_int_equal(w.dev.configured, 1);
        world_init(&w);
        w.device.simulated = true;
        world_agree(&w, sizes[i], GBA_PATH_SIM, GBA_OK);
        assert_non_null(strstr(w.why[0], "group 3 of 32"));
    }
}

static void test_one_failure_anywhere_falls_back_everywhere(void **state)
{
    static const gba_status_t statuses[] = {GBA_ERR_NO_GROUP, GBA_ERR_REFUSED, GBA_ERR_DEAD};
    struct world w;

    (void)state;
    for (size_t i = 0; i < SIZES; i++)
        for (int step = STEP_ALLOC; step <= STEP_CONFIGURE; step++)
            for (uint32_t member = 0; member < sizes[i]; member++)
                for (size_t s = 0; s < 3; s++) {
                    world_init(&w);
                    w.dev.fail_step = (enum step)step;
                    w.dev.fail_member = member;
                    w.dev.fail_status = statuses[s];
                    world_agree(&w, sizes[i], GBA_PATH_CALLER, statuses[s]);
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
    struct world w;

    (void)state;
    for (uint32_t member = 0; member < 7; member++) {
        world_init(&w);
        w.without_device = member + 1;
        world_agree(&w, 7, GBA_PATH_CALLER, GBA_ERR_NO_DEVICE);
        assert_int_equal(w.dev.configured, 0);
    }
}

static void test_a_member_with_another_device(void **state)
{
    struct world w;

    (void)state;
    for (uint32_t member = 1; member < 4; member++) {
        world_init(&w);
        w.other_device = member + 1;
        world_agree(&w, 4, GBA_PATH_CALLER, GBA_ERR_OTHER_DEVICE);
    }
}

static void test_too_many_members(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    w.device.members_max = 3;
    world_agree(&w, 4, GBA_PATH_CALLER, GBA_ERR_TOO_MANY);
    world_init(&w);
    w.device.members_max = 3;
    world_agree(&w, 3, GBA_PATH_DEVICE, GBA_OK);
}

static void test_a_failed_exchange_leaves_nothing(void **state)
{
    struct world w;

    (void)state;
    for (int call = 1; call <= 3; call++) {
        world_init(&w);
        thread_oob_run(4, call, create_body, &w);
        for (int r = 0; r < 4; r++)
            assert_int_equal(w.returned[r], GBA_ERR_OOB);
        assert_int_equal(w.dev.seats, 0);
        assert_int_equal(w.dev.cancelled, 1 == call);
    }
}

struct recovery {
    struct world w;
    uint64_t completed[THREAD_OOB_MAX];
    bool done[THREAD_OOB_MAX];
    uint64_t after[THREAD_OOB_MAX];
};

static void recover_body(struct thread_oob_member *self, const gba_oob_t *oob)
{
    struct recovery *rec = self->arg;
    struct gba_device mine = rec->w.device;
    gba_params_t params;
    gba_team_attr_t attr = {.name = "test", .params = &params, .device = &mine};
    gba_team_t *team = NULL;

    gba_params_default(&params);
    params.sw_enable = 0;
    if (GBA_OK != gba_team_create(&attr, oob, &team))
        return;
    team->rounds = rec->completed[self->rank];
    if (GBA_OK == gba_team_recover(team, &attr, oob, &rec->done[self->rank]))
        rec->after[self->rank] = team->rounds;
    rec->w.path[self->rank] = gba_team_path(team);
    gba_team_destroy(team);
}

/* Some members have left round 9, others are still in it: those complete it, nobody runs it again.
 * If nobody has left it, all run it again. */
static void test_recovery_completes_or_repeats_a_round(void **state)
{
    (void)state;
    for (unsigned left = 0; left < 32; left++) {
        struct recovery rec;

        memset(&rec, 0, sizeof rec);
        world_init(&rec.w);
        for (unsigned r = 0; r < 5; r++)
            rec.completed[r] = left >> r & 1 ? 9 : 8;
        thread_oob_run(5, 0, recover_body, &rec);
        for (unsigned r = 0; r < 5; r++) {
            assert_int_equal(rec.w.path[r], GBA_PATH_CALLER);
            assert_int_equal(rec.after[r], 0 == left ? 8 : 9);
            assert_int_equal(rec.done[r], 0 != left && 0 == (left >> r & 1));
        }
        assert_int_equal(rec.w.dev.seats, 0);
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
        cmocka_unit_test(test_recovery_completes_or_repeats_a_round),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
