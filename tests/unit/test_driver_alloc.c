/* SPDX-License-Identifier: BSD-3-Clause */
/* ALLOC of the Linux driver (contrib/driver/alloc.c), outside the kernel, on the model of the
 * device. The driver is that of the host at port 0; port 1 is another host. */
#include "tests/unit/kernel.h"
/* The driver's headers and alloc.c without their includes; see tests/local.mk. The kernel adds to
 * pointers to void. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpointer-arith"
#include "tests/unit/driver_alloc.h"
#pragma GCC diagnostic pop

#include "tests/unit/control_bench.h"

static struct gba_device gba;
static struct gba_file file = {.gba = &gba, .user = {7}};

u32 readl(const void *address)
{
    bench_port = 0;
    return (u32)bench_read(4, (u32)((const char *)address - (const char *)gba.bar));
}

int gba_command(struct gba_device *device, struct gba_command *request)
{
    static const int results[] = {0, -EINVAL, -ESTALE, -EBUSY, -ENOSPC, -EUSERS};
    u32 result;

    assert_ptr_equal(device, &gba);
    number = request->group;
    generation = request->generation;
    key = request->key;
    result = call(0, request->command, request->member, request->value);
    assert_in_range(result, 0, sizeof results / sizeof results[0] - 1);
    request->group = number = port_read(0, GBA_PORT_GROUP);
    request->generation = generation = port_read(0, GBA_PORT_GENERATION);
    request->key = key = bench_read(8, GBA_PORT_REG(GBA_PORT_KEY));
    return results[result];
}

bool gba_check(struct gba_device *device)
{
    return device->up;
}

bool gba_check_port(struct gba_device *device)
{
    return device->up;
}

static void start(u32 groups)
{
    power_on(groups);
    memset(&gba, 0, sizeof gba);
    gba.up = true;
    gba.bar = &gba; /* any address; only offsets count */
    gba.groups = groups;
    gba.members_max = GBA_MEMBERS_MAX;
    for (u32 group = 0; group < GBA_GROUPS; group++)
        gba.group[group].members.next = &gba.group[group].members;
}

/* ALLOC by this host. Returns its error. */
static int ask(u64 job, u32 groups_max, u32 *group)
{
    struct gba_ioc_alloc request = {.members = 1, .job = job, .groups_max = groups_max};
    int result = gba_alloc(&file, &request);

    *group = result ? GBA_GROUP_ANY : request.group;
    return result;
}

/* The group of the last ALLOC, armed with the one member that port 1 has. */
static void arm_at_1(void)
{
    assert_int_equal(join(1, 0), GBA_RESULT_OK);
    map(1, 0);
    assert_int_equal(call(1, GBA_CMD_ARM, 0, 0), GBA_RESULT_OK);
}

/* Each job has its limit, also of another user, and the administrator limits users. */
TEST(test_DRV_11_limits)
{
    u32 group;

    start(8);
    assert_int_equal(ask(70, 2, &group), 0);
    assert_int_equal(ask(70, 1, &group), -EDQUOT);
    assert_int_equal(ask(70, 2, &group), 0);
    assert_int_equal(ask(70, 2, &group), -EDQUOT);
    assert_int_equal(ask(71, 1, &group), 0);
    file.user.val = 8;
    assert_int_equal(ask(70, 1, &group), 0);
    user_groups_max = 1;
    assert_int_equal(ask(72, 0, &group), -EUSERS);
    file.user.val = 7;
    user_groups_max = 0;
    while (ask(73, 0, &group) == 0)
        ;
    assert_int_equal(ask(73, 0, &group), -ENOSPC);
    assert_int_equal(ask(70, 2, &group), -EDQUOT); /* the limit comes before the lack */
}

/* A group that this host allocated has ended, and another host has it now: it does not count. */
TEST(test_DRV_11_a_group_of_another_host_does_not_count)
{
    u32 group, own;

    start(2);
    assert_int_equal(ask(70, 1, &group), 0);
    arm_at_1();
    assert_int_equal(leave(1, 0), GBA_RESULT_OK);
    assert_int_equal(alloc(1, 1), GBA_RESULT_OK);
    assert_int_equal(number, group);
    arm_at_1();
    assert_true(gba.group[group].held); /* the driver does not know yet */
    assert_int_equal(ask(70, 1, &own), 0);
    assert_int_not_equal(own, group);
    assert_int_equal(ask(70, 1, &own), -EDQUOT);
}

TEST_MAIN()
