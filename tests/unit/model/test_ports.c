/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of gba/spec/device.md about ports, interrupts and NOTIFY. */
#include "tests/unit/model/model_bench.h"

BENCH_TEST(test_PORT_1_banks, 1)
{
    static const uint32_t regs[] = {GBA_PORT_IRQ_MASK, GBA_PORT_GROUP, GBA_PORT_GENERATION,
                                    GBA_PORT_MEMBER, GBA_PORT_VALUE};

    for (uint16_t port = 0; port < PORTS; port++) {
        assert_int_equal(port_read(port, GBA_PORT_NUMBER), port);
        for (uint32_t i = 0; i < 5; i++)
            port_write(port, regs[i], 16u * port + i);
        bench_write(8, GBA_PORT_REG(GBA_PORT_KEY), 0x100000000ull + port);
    }
    for (uint16_t port = 0; port < PORTS; port++) {
        for (uint32_t i = 0; i < 5; i++)
            assert_int_equal(port_read(port, regs[i]), 16u * port + i);
        assert_true(bench_read(8, GBA_PORT_REG(GBA_PORT_KEY)) == 0x100000000ull + port);
    }
    /* The other pages are the same for all. */
    for (bench_port = 0; bench_port < PORTS; bench_port++)
        assert_int_equal(bench_read(4, GBA_DEVICE_BASE + GBA_DEV_PORTS), PORTS);
}

BENCH_TEST(test_PORT_2_a_stranger_changes_nothing, 2)
{
    arm(3, 0);
    arrive(0, 1);
    for (uint32_t group = 0; group < 2; group++) { /* armed, and free */
        refused_stranger(3, true, 8, GBA_DOORBELL(group), GBA_ARRIVAL(1, generation, 1));
        refused_stranger(3, true, 8, GBA_DOORBELL(group), GBA_ARRIVAL(9, generation, 708));
        refused_stranger(3, true, 8, GBA_DOORBELL(group) + GBA_BELL_NOTIFY,
                         GBA_ARRIVAL(1, generation, 1));
        refused_stranger(3, true, 8, GBA_GROUP_REG(group, GBA_REG_ARRIVAL),
                         GBA_ARRIVAL(1, generation, 1));
        refused_stranger(3, true, 8, GBA_TABLE_ENTRY(group, 0), 0);
        refused_stranger(3, true, 8, GBA_TABLE_ENTRY(group, 5), 8);
        refused_stranger(3, true, 4, GBA_GROUP_REG(group, GBA_REG_CONTROL), 0);
        refused_stranger(3, true, 4, GBA_GROUP_REG(group, GBA_REG_GROUP_ID), 0);
        refused_stranger(3, false, 8, GBA_DOORBELL(group), 0);
    }
    bench_port = 3;
    assert_int_equal(bench_reg(0, GBA_REG_ARRIVED_COUNT), 1);
    bench_refused(true, 4, GBA_GROUP_REG(2, GBA_REG_CONTROL), 0, GBA_ERROR_ACCESS);
    /* Events concern the holder until the first JOIN. */
    assert_int_equal(alloc(3, 1), GBA_RESULT_OK);
    bench_refused_write(8, GBA_TABLE_ENTRY(number, 0), 8, GBA_ERROR_MEMBER);
    assert_int_equal(join(2, 0), GBA_RESULT_OK);
    refused_stranger(3, true, 8, GBA_TABLE_ENTRY(number, 0), 8);
}

TEST(test_PORT_3_down_and_up)
{
    bench_init(1);
    for (bench_port = 0; bench_port < PORTS + 2; bench_port++) {
        assert_int_equal(bench_access(false, 4, GBA_DEVICE_BASE + GBA_DEV_ID, 0), GBA_ERROR_NONE);
        assert_true(effects.value == 0xFFFFFFFFull);
        bench_access(false, 8, GBA_GROUP_REG(0, 3), 0);
        assert_true(effects.value == GBA_READ_NONE);
        bench_access(true, 4, GBA_PORT_REG(GBA_PORT_VALUE), 7);
        bench_access(true, 4, GBA_BAR_SIZE, 7);
        bench_is(&before);
    }
    port_up(1, 5);
    port_write(1, GBA_PORT_IRQ_MASK, 1);
    port_write(1, GBA_PORT_VALUE, 1);
    before = bench;
    port_down(0); /* was down */
    bench_is(&before);
    port_down(1);
    port_up(1, 6);
    assert_int_equal(port_read(1, GBA_PORT_IRQ_MASK), 0);
    assert_int_equal(port_read(1, GBA_PORT_VALUE), 0);
    assert_int_equal(port_read(1, GBA_PORT_QUOTA), 6);
}

BENCH_TEST(test_PORT_4_a_port_that_goes_down_withdraws_its_members, 3)
{
    assert_int_equal(alloc(1, 1), GBA_RESULT_OK); /* group 0: without any JOIN */
    arm(3, 0);                                    /* group 1 */
    port_write(0, GBA_PORT_IRQ_MASK, 2);
    port_write(1, GBA_PORT_IRQ_MASK, 2);
    arrive(0, 1);
    notify(1, 1);
    port_down(1);
    assert_int_equal(effects.releases, 0);
    assert_true(interrupted(0));
    assert_false(interrupted(1) || interrupted(2) || interrupted(3));
    assert_int_equal(events(0), GBA_IRQ_PORT_DOWN);
    assert_int_equal(events(2), GBA_IRQ_PORT_DOWN);
    assert_int_equal(events(3), 0);
    assert_int_equal(bench.group[0].record.life, GBA_LIFE_FREE);
    assert_int_equal(arrive(2, 1), 0); /* no round completes without the member */
    port_up(1, 0);
    assert_int_equal(events(1), 0);
    assert_int_equal(membership(1), GBA_MEMBERSHIP_LEFT);
    refused_stranger(1, true, 8, GBA_DOORBELL(1), GBA_ARRIVAL(1, generation, 1));
    /* The holder leaves: the other members keep the group. */
    port_down(0);
    port_up(0, 0);
    assert_int_equal(port_read(0, GBA_PORT_HELD), 0);
    assert_int_equal(bench_reg(1, GBA_REG_STATUS), GBA_STATUS_READY | GBA_STATUS_ACTIVE);
    port_down(2);
    port_up(2, 0);
    is_free();
}

BENCH_TEST(test_PORT_5_members_belong_to_their_ports, 1)
{
    arm(3, 0);
    for (uint16_t port = 0; port < 3; port++) {
        for (uint32_t member = 0; member < 3; member++) {
            bench_port = port;
            assert_true(bench_read(8, GBA_TABLE_ENTRY(0, member)) ==
                        (port == member ? bench_flag(0, member) : 0));
            if (port == member)
                continue;
            bench_refused_write(8, GBA_DOORBELL(0), GBA_ARRIVAL(1, generation, member),
                                GBA_ERROR_MEMBER);
            bench_refused_write(8, GBA_DOORBELL(0), GBA_ARRIVAL(0, generation, member),
                                GBA_ERROR_MEMBER);
        }
    }
    assert_int_equal(arrive(0, 1), 0);
    assert_int_equal(arrive(1, 1), 0);
    assert_int_equal(arrive(2, 1), 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(effects.release[i].port, i);
    assert_int_equal(arrive(1, 1), 1); /* late */
    assert_int_equal(effects.release[0].port, 1);
    bench_port = 0;
    assert_int_equal(bench_access(true, 8, GBA_TABLE_ENTRY(0, 1), 0), GBA_ERROR_MEMBER);
    assert_true(bench.group[0].table[1] != 0);
    bench_port = 1;
    bench_write(8, GBA_TABLE_ENTRY(0, 1), 0); /* withdraws; still a member */
    assert_int_equal(arrive(1, 1), 0);
    assert_int_equal(arrive(1, 2), 0);
}

BENCH_TEST(test_CFG_9_only_the_control_unit_configures, 1)
{
    static const uint32_t regs[] = {GBA_REG_MEMBER_COUNT, GBA_REG_CONTROL, GBA_REG_SEQUENCE};

    assert_int_equal(alloc(0, 1), GBA_RESULT_OK);
    for (int i = 0; i < 3; i++)
        bench_refused_config(4, GBA_GROUP_REG(0, regs[i]), 1);
    bench_refused_config(8, GBA_GROUP_REG(0, GBA_REG_MEMBER_MASK), 1);
    bench_refused_config(4, GBA_GROUP_REG(0, GBA_REG_CONTROL), GBA_CONTROL_ENABLE);
}

BENCH_TEST(test_GRP_6_generation, 1)
{
    assert_int_equal(bench_reg(0, GBA_REG_GENERATION), 0);
    for (uint32_t i = 1; i < 4; i++) {
        assert_int_equal(alloc(0, 1), GBA_RESULT_OK);
        assert_int_equal(bench_reg(0, GBA_REG_GENERATION), i);
        assert_int_equal(call(0, GBA_CMD_FREE, 0, 0), GBA_RESULT_OK);
        assert_int_equal(bench_reg(0, GBA_REG_GENERATION), i);
    }
}

BENCH_TEST(test_DEV_6_groups_free, 7)
{
    assert_int_equal(bench_read(4, GBA_DEVICE_BASE + GBA_DEV_GROUPS_FREE), 7);
    arm(1, 0);
    assert_int_equal(bench_read(4, GBA_DEVICE_BASE + GBA_DEV_GROUPS_FREE), 6);
    assert_int_equal(leave(0, 0), GBA_RESULT_OK);
    assert_int_equal(bench_read(4, GBA_DEVICE_BASE + GBA_DEV_GROUPS_FREE), 7);
}

/* An error of member `port` in its group. */
static void err(uint16_t port)
{
    bench_port = port;
    bench_refused_write(8, GBA_DOORBELL(number), GBA_ARRIVAL(77, generation, port),
                        GBA_ERROR_SEQUENCE);
}

BENCH_TEST(test_ERR_5_events_of_the_port_that_made_the_access, 1)
{
    arm(2, 0);
    bench_port = 1;
    assert_int_equal(bench_access(true, 8, GBA_DOORBELL(0), GBA_ARRIVAL(77, generation, 1)),
                     GBA_ERROR_SEQUENCE);
    assert_int_equal(events(1), GBA_IRQ_ERROR);
    assert_int_equal(events(0), 0);
    assert_int_equal(leave(0, 0) | leave(1, 1), GBA_RESULT_OK);
    acknowledge(1, GBA_IRQ_ERROR);
    assert_int_equal(alloc(0, 1), GBA_RESULT_OK); /* not armed: IRQ_EN is 0 */
    bench_refused_write(8, GBA_DOORBELL(0), GBA_ARRIVAL(77, generation, 1), GBA_ERROR_DISABLED);
    assert_int_equal(events(0), 0);
}

BENCH_TEST(test_IRQ_1_cause, 3)
{
    arm(1, 0);
    arm(1, 0);
    arm(2, 0);
    assert_int_equal(number, 2);
    assert_int_equal(port_read(1, GBA_PORT_IRQ_CAUSE), 0);
    notify(1, 0);
    assert_int_equal(port_read(1, GBA_PORT_IRQ_CAUSE), 1 << 2);
    assert_int_equal(port_read(0, GBA_PORT_IRQ_CAUSE), 0);
    number = 0;
    notify(0, 0);
    assert_int_equal(port_read(0, GBA_PORT_IRQ_CAUSE), 1);
    generation = bench_reg(0, GBA_REG_GENERATION);
    assert_int_equal(leave(0, 0), GBA_RESULT_OK);
    assert_int_equal(events(0), GBA_IRQ_ROUND); /* outlives the allocation */
    for (uint32_t event = 1; event < GBA_IRQ_BITS; event <<= 1) {
        bench.group[1].record.events[2] = (uint8_t)event;
        assert_int_equal(port_read(2, GBA_PORT_IRQ_CAUSE), 2);
    }
}

BENCH_TEST(test_IRQ_2_acknowledge, 2)
{
    arm(2, 0);
    notify(1, 0);
    bench.group[0].record.events[1] |= GBA_IRQ_DIED;
    bench_refused_config(4, GBA_PORT_EVENT(0), GBA_IRQ_BITS + 1);
    bench_refused_config(4, GBA_PORT_EVENT(2), 0);
    acknowledge(1, 0);
    assert_int_equal(events(1), GBA_IRQ_ROUND | GBA_IRQ_DIED);
    acknowledge(0, GBA_IRQ_BITS); /* those of another port */
    assert_int_equal(events(1), GBA_IRQ_ROUND | GBA_IRQ_DIED);
    acknowledge(1, GBA_IRQ_ROUND);
    assert_int_equal(events(1), GBA_IRQ_DIED);
    acknowledge(1, GBA_IRQ_BITS);
    assert_int_equal(port_read(1, GBA_PORT_IRQ_CAUSE), 0);
    bench_port = 1;
    assert_int_equal(bench_read(4, GBA_PORT_EVENT(2)), 0); /* no such group */
}

BENCH_TEST(test_IRQ_3_new_events_interrupt, 2)
{
    arm(2, 0);
    port_write(1, GBA_PORT_IRQ_MASK, ~1u);
    notify(1, 0);
    assert_false(effects.interrupt);
    acknowledge(1, GBA_IRQ_ROUND);
    port_write(1, GBA_PORT_IRQ_MASK, 1);
    assert_false(effects.interrupt);
    for (int i = 0; i < 3; i++) {
        notify(1, 0);
        assert_true(interrupted(1));
        notify(1, 0); /* is set already */
        assert_false(effects.interrupt);
        err(1);
        acknowledge(1, GBA_IRQ_BITS);
        assert_false(effects.interrupt);
    }
}

BENCH_TEST(test_IRQ_4_unmasking_interrupts, 2)
{
    arm(2, 0);
    notify(1, 0);
    port_write(1, GBA_PORT_IRQ_MASK, 2); /* another group */
    assert_false(effects.interrupt);
    port_write(0, GBA_PORT_IRQ_MASK, 1); /* another port */
    assert_false(effects.interrupt);
    port_write(1, GBA_PORT_IRQ_MASK, 3);
    assert_true(interrupted(1));
    port_write(1, GBA_PORT_IRQ_MASK, 3);
    assert_false(effects.interrupt);
}

BENCH_TEST(test_NOTE_1_once_when_the_round_is_complete, 1)
{
    arm(3, 0xFFFFFFFFu);
    for (uint16_t port = 0; port < 3; port++)
        port_write(port, GBA_PORT_IRQ_MASK, 1);
    arrive(0, 0);
    notify(0, 0);
    notify(0, 0);
    arrive(1, 0);
    notify(1, 0);
    assert_int_equal(events(0) | events(1), 0);
    assert_int_equal(arrive(2, 0), 3);
    assert_true(interrupted(0) && interrupted(1));
    assert_false(interrupted(2));
    assert_int_equal(events(0) & events(1), GBA_IRQ_ROUND);
    acknowledge(0, GBA_IRQ_ROUND);
    arrive(0, 1);
    arrive(1, 1);
    assert_int_equal(arrive(2, 1), 3); /* the request was for one round */
    assert_false(effects.interrupt);
    assert_int_equal(events(0), 0);
}

/* NOTIFY before, between and after the arrivals: the event comes in each order. */
TEST(test_NOTE_2_at_once_if_complete)
{
    for (int at = 0; at < 3; at++) {
        bench_power_on(1);
        arm(2, 6);
        for (uint16_t step = 0; step < 3; step++) {
            if (step == at)
                notify(0, 7);
            if (step < 2)
                arrive(step, 7);
        }
        assert_int_equal(events(0), GBA_IRQ_ROUND);
        bench_port = 0;
        bench_access(true, 8, GBA_DOORBELL(0) + GBA_BELL_NOTIFY, GBA_ARRIVAL(9, generation, 0));
        assert_int_equal(effects.error, GBA_ERROR_SEQUENCE);
        bench_access(true, 8, GBA_DOORBELL(0) + GBA_BELL_NOTIFY, GBA_ARRIVAL(6, generation, 0));
        assert_int_equal(effects.error, GBA_ERROR_SEQUENCE);
        bench_access(true, 8, GBA_DOORBELL(0) + GBA_BELL_NOTIFY, GBA_ARRIVAL(8, generation, 1));
        assert_int_equal(effects.error, GBA_ERROR_MEMBER);
    }
}

BENCH_TEST(test_NOTE_3_cancelled, 1)
{
    arm(3, 0);
    notify(1, 1);
    notify(2, 1);
    arrive(1, 1);
    assert_int_equal(leave(1, 1), GBA_RESULT_OK);
    arrive(0, 1);
    assert_int_equal(arrive(2, 1), 2);
    assert_int_equal(events(1), 0);
    assert_int_equal(events(2), GBA_IRQ_ROUND);
}

TEST_MAIN()
