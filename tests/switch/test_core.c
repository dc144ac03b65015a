/* SPDX-License-Identifier: BSD-3-Clause */
/* The core of gba-switchd: ports, quotas of users and jobs, reasons of ended memberships,
 * queues. */
#include "tests/switch/core_bench.h"

#include "sim/switch/core/fifo.h"

TEST(test_ports)
{
    bench_start(&bench_config);
    for (uint32_t i = 0; i < 4; i++) {
        bench_attach(i, 0, 0);
        assert_int_equal(bench.port[i], i);
    }
    assert_int_equal(gba_switch_attach(bench.device, &bench_ops, &bench.session[0],
                                       &(struct gba_switch_identity){.user = 0}),
                     -1);
    gba_switch_detach(bench.device, 2);
    assert_null(gba_switch_user(bench.device, 2));
    assert_int_equal(gba_switch_read(bench.device, 2, GBA_DEVICE_BASE + GBA_DEV_ID, 4),
                     UINT32_MAX); /* [PORT-3] */
    bench_attach(2, 0, 0);
    assert_int_equal(bench.port[2], 2);
    assert_int_equal(gba_switch_read(bench.device, 2, GBA_DEVICE_BASE + GBA_DEV_ID, 4),
                     GBA_DEV_ID_VALUE);
    assert_int_equal(gba_switch_read(bench.device, 2, GBA_PORT_REG(GBA_PORT_NUMBER), 4), 2);
    bench_end();
}

TEST(test_round)
{
    struct gba_switch_mailbox group;

    bench_start(&bench_config);
    for (uint32_t i = 0; i < 3; i++)
        bench_attach(i, 0, 0);
    (void)bench_group(1); /* takes group 0, so that numbers are not all 0 */
    group = bench_group(3);
    assert_int_equal(group.group, 1);
    bench_arrive(2, 1, 2, 1);
    bench_arrive(0, 1, 0, 1);
    assert_int_equal(bench.session[0].releases, 0);
    assert_int_equal(bench.session[2].releases, 0);
    bench_arrive(0, 1, 1, 1); /* of another port: refused */
    assert_int_equal(bench.session[0].releases, 0);
    bench_arrive(1, 1, 1, 1);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(bench.session[i].releases, 1);
        assert_int_equal(bench.session[i].note[0].address, flag_address(i));
        assert_int_equal(bench.session[i].note[0].group, 1);
        assert_int_equal(bench.session[i].note[0].member, i);
        assert_int_equal(bench.session[i].note[0].sequence, 1);
    }
    bench_end();
}

/* An arrival at a group that does not exist counts, and has no other effect. */
TEST(test_ring_nowhere)
{
    const struct gba_model *model;

    bench_start(&bench_config);
    bench_attach(0, 0, 0);
    model = gba_switch_model(bench.device);
    bench_arrive(0, 3, 0, 1);
    bench_arrive(0, 4, 0, 1);
    bench_arrive(0, 31, 0, 1);
    bench_arrive(0, 32, 0, 1);
    bench_arrive(0, UINT32_MAX, 0, 1);
    assert_int_equal(model->bad_access, 5);
    /* Times the stride it is 0, in 32 bits, where the group would take the arrival. */
    (void)bench_group(1);
    bench_arrive(0, 1u << 16, 0, 1);
    assert_int_equal(model->bad_access, 6);
    assert_int_equal(bench.session[0].releases, 0);
    bench_end();
}

TEST(test_port_down)
{
    struct gba_switch_mailbox group, member;
    const struct gba_switch_former *former;

    bench_start(&bench_config);
    for (uint32_t i = 0; i < 3; i++)
        bench_attach(i, 0, 0);
    group = bench_group(3);
    bench_arrive(1, 0, 1, 1);
    gba_switch_detach(bench.device, 1);
    assert_int_equal(bench.session[0].interrupts, 1);
    assert_int_equal(bench.session[1].interrupts, 0);
    assert_int_equal(bench.session[2].interrupts, 1);
    assert_int_equal(gba_switch_read(bench.device, 2, GBA_PORT_EVENT(0), 4), GBA_IRQ_PORT_DOWN);
    /* It had arrived, so the round completes, but no store goes to it. */
    bench_arrive(0, 0, 0, 1);
    bench_arrive(2, 0, 2, 1);
    assert_int_equal(bench.session[0].releases, 1);
    assert_int_equal(bench.session[1].releases, 0);
    member = group;
    member.member = 1;
    assert_int_equal(bench_command(0, GBA_CMD_MEMBER, &member), GBA_RESULT_OK);
    assert_int_equal(GBA_MEMBER_STATE(member.value), GBA_MEMBERSHIP_LEFT);
    former = gba_switch_former(bench.device, 0, 1);
    assert_int_equal(former->end, GBA_SWITCH_LINK_DOWN);
    assert_int_equal(former->port, 1);
    assert_int_equal(former->user.process, 101);
    assert_string_equal(former->user.host, "b");
    bench_end();
}

TEST(test_ends)
{
    struct gba_switch_mailbox group, leave;

    bench_start(&bench_config);
    for (uint32_t i = 0; i < 3; i++)
        bench_attach(i, 0, 0);
    group = bench_group(3);
    leave = group;
    leave.member = 0;
    leave.value = 0;
    assert_int_equal(bench_command(0, GBA_CMD_LEAVE, &leave), GBA_RESULT_OK);
    leave = group;
    leave.member = 1;
    leave.value = GBA_LEAVE_DIED;
    assert_int_equal(bench_command(0, GBA_CMD_LEAVE, &leave), GBA_RESULT_PARAM); /* wrong port */
    assert_int_equal(gba_switch_former(bench.device, 0, 1)->end, GBA_SWITCH_NOT_ENDED);
    leave = group;
    leave.member = 1;
    leave.value = GBA_LEAVE_DIED;
    assert_int_equal(bench_command(1, GBA_CMD_LEAVE, &leave), GBA_RESULT_OK);
    assert_int_equal(gba_switch_former(bench.device, 0, 0)->end, GBA_SWITCH_LEFT);
    assert_int_equal(gba_switch_former(bench.device, 0, 1)->end, GBA_SWITCH_DIED);
    gba_switch_detach(bench.device, 2);
    assert_int_equal(gba_switch_former(bench.device, 0, 2)->end, GBA_SWITCH_LINK_DOWN);
    /* The group is free now. Its next allocation has no record of that. */
    group = (struct gba_switch_mailbox){.group = 0, .value = 2};
    assert_int_equal(bench_command(0, GBA_CMD_ALLOC, &group), GBA_RESULT_OK);
    for (uint32_t member = 0; member < 3; member++)
        assert_int_equal(gba_switch_former(bench.device, 0, member)->end, GBA_SWITCH_NOT_ENDED);
    bench_end();
}

static uint32_t alloc(uint32_t i)
{
    struct gba_switch_mailbox group = {.group = GBA_GROUP_ANY, .value = 1};

    return bench_command(i, GBA_CMD_ALLOC, &group);
}

TEST(test_port_quotas)
{
    struct gba_switch_config config = bench_config;

    config.user_ports = 2;
    bench_start(&config);
    bench_attach(0, 1000, 1);
    bench_attach(1, 1000, 2);
    bench_attach(2, 1000, 3);
    assert_int_equal(bench.port[2], GBA_SWITCH_PORT_QUOTA);
    bench_attach(2, 1001, 1); /* another user */
    assert_int_equal(bench.port[2], 2);
    gba_switch_detach(bench.device, 0);
    bench_attach(3, 1000, 3);
    assert_int_equal(bench.port[3], 0);
    gba_switch_reset(bench.device, 0); /* a port that is reset stays in use */
    bench_attach(0, 1000, 3);
    assert_int_equal(bench.port[0], GBA_SWITCH_PORT_QUOTA);
    bench_end();

    config.user_ports = 0;
    config.job_ports = 1;
    bench_start(&config);
    bench_attach(0, 1000, 1);
    bench_attach(1, 1000, 1);
    assert_int_equal(bench.port[1], GBA_SWITCH_PORT_QUOTA);
    bench_attach(1, 1000, 2);
    bench_attach(2, 1001, 1);
    assert_int_equal(bench.port[1], 1);
    assert_int_equal(bench.port[2], 2);
    bench_end();

    bench_start(&config);
    bench_attach(0, 1000, 0); /* virtual machines have no job, so they are not of one job */
    bench_attach(1, 1000, 0);
    assert_int_equal(bench.port[1], 1);
    bench_end();
}

TEST(test_quotas)
{
    struct gba_switch_config config = bench_config;

    config.quota = 2;
    config.user_quota = 3;
    config.job_quota = 0;
    bench_start(&config);
    bench_attach(0, 1000, 1);
    bench_attach(1, 1000, 2);
    bench_attach(2, 1001, 1);
    assert_int_equal(alloc(0), GBA_RESULT_OK);
    assert_int_equal(alloc(0), GBA_RESULT_OK);
    assert_int_equal(alloc(0), GBA_RESULT_LIMIT); /* of the port */
    assert_int_equal(alloc(1), GBA_RESULT_OK);
    assert_int_equal(alloc(1), GBA_RESULT_LIMIT); /* of the user */
    assert_int_equal(gba_switch_read(bench.device, 1, GBA_PORT_REG(GBA_PORT_RESULT), 4),
                     GBA_RESULT_LIMIT);
    assert_int_equal(gba_switch_read(bench.device, 1, GBA_PORT_REG(GBA_PORT_COMMAND), 4),
                     GBA_CMD_ALLOC);
    assert_int_equal(alloc(2), GBA_RESULT_OK); /* another user */
    gba_switch_detach(bench.device, 0);
    assert_int_equal(alloc(1), GBA_RESULT_OK);
    bench_end();

    config.quota = 0;
    config.user_quota = 0;
    config.job_quota = 1;
    bench_start(&config);
    bench_attach(0, 1000, 1);
    bench_attach(1, 1000, 1);
    bench_attach(2, 1000, 2);
    bench_attach(3, 1001, 1);
    assert_int_equal(alloc(0), GBA_RESULT_OK);
    assert_int_equal(alloc(1), GBA_RESULT_LIMIT);
    /* The quotas hold for the registers, too. */
    gba_switch_write(bench.device, 1, GBA_PORT_REG(GBA_PORT_GROUP), 4, GBA_GROUP_ANY);
    gba_switch_write(bench.device, 1, GBA_PORT_REG(GBA_PORT_COMMAND), 4, GBA_CMD_ALLOC);
    assert_int_equal(gba_switch_read(bench.device, 1, GBA_PORT_REG(GBA_PORT_RESULT), 4),
                     GBA_RESULT_LIMIT);
    assert_int_equal(alloc(2), GBA_RESULT_OK);
    assert_int_equal(alloc(3), GBA_RESULT_OK);
    bench_end();

    bench_start(&config);
    bench_attach(0, 1000, 0);
    bench_attach(1, 1000, 0);
    assert_int_equal(alloc(0), GBA_RESULT_OK);
    assert_int_equal(alloc(1), GBA_RESULT_OK); /* neither has a job */
    bench_end();
}

/* A group counts for the user that allocated it, also after the port of the allocator is down. */
TEST(test_quota_after_port_down)
{
    struct gba_switch_config config = bench_config;

    for (unsigned way = 0; way < 2; way++) {
        struct gba_switch_mailbox group = {.group = GBA_GROUP_ANY, .value = 2}, leave;

        config.user_quota = way == 0;
        config.job_quota = way == 1;
        bench_start(&config);
        for (uint32_t i = 0; i < 2; i++)
            bench_attach(i, 1000, 1);
        bench_attach(2, 1001, 2);
        assert_int_equal(bench_command(0, GBA_CMD_ALLOC, &group), GBA_RESULT_OK);
        leave = group;
        leave.member = 1;
        leave.value = 0;
        assert_int_equal(bench_command(1, GBA_CMD_JOIN, &leave), GBA_RESULT_OK);
        gba_switch_detach(bench.device, 0);
        assert_int_equal(alloc(1), GBA_RESULT_LIMIT);
        /* Another user gets the port, but not the group. */
        bench_attach(0, 1001, 2);
        assert_int_equal(bench.port[0], 0);
        assert_int_equal(alloc(2), GBA_RESULT_OK);
        assert_int_equal(bench_command(1, GBA_CMD_LEAVE, &leave), GBA_RESULT_OK);
        assert_int_equal(alloc(1), GBA_RESULT_OK);
        bench_end();
    }
}

TEST(test_fifo)
{
    struct gba_switch_fifo fifo = {.items = NULL};
    uint32_t put = 0, got = 0;

    assert_null(gba_switch_fifo_first(&fifo));
    /* Grow while the oldest item is in the middle; times that go back are raised. */
    for (uint32_t step = 0; step < 1000; step++) {
        for (uint32_t i = 0; i < 7; i++, put++) {
            const struct gba_switch_item item = {.due = put % 10, .sequence = put};

            assert_true(gba_switch_fifo_put(&fifo, &item));
        }
        for (uint32_t i = 0; i < 5; i++, got++) {
            assert_int_equal(gba_switch_fifo_first(&fifo)->sequence, got);
            gba_switch_fifo_drop(&fifo);
        }
    }
    assert_int_equal(gba_switch_fifo_first(&fifo)->due, 9);
    while (fifo.count < GBA_SWITCH_FIFO_MAX)
        assert_true(gba_switch_fifo_put(&fifo, &(struct gba_switch_item){.sequence = put++}));
    assert_false(gba_switch_fifo_put(&fifo, &(struct gba_switch_item){.sequence = put}));
    for (; gba_switch_fifo_first(&fifo) != NULL; got++) {
        assert_int_equal(gba_switch_fifo_first(&fifo)->sequence, got);
        gba_switch_fifo_drop(&fifo);
    }
    assert_int_equal(got, put);
    gba_switch_fifo_clear(&fifo);
}

TEST_MAIN()
