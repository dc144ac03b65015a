/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of devices, groups and memberships: device.md, chapter "Driver". */
#include "tests/conformance/conformance.h"

#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct conf_group one, other;

/* The status of a join that must fail. Also checks that the join sets no output. */
static gba_status_t join_status(struct conf *conf, const gba_group_handle_t *handle,
                                uint32_t member)
{
    struct gba_membership *const untouched = (struct gba_membership *)(uintptr_t)&one;
    struct gba_membership *membership = untouched;
    gba_status_t status = conf->ops->join(conf->dev, handle, member, &membership);

    assert_int_not_equal(status, GBA_OK);
    assert_ptr_equal(membership, untouched); /* outputs are set on success only */
    return status;
}

/* [DRV-1] */
static void identity(struct conf *conf)
{
    static const uint8_t nobody[GBA_UUID_SIZE];
    gba_device_info_t a = conf_info(conf), b = conf_info(conf);

    assert_int_equal(a.regs_version >> 16, GBA_REGS_MAJOR);
    assert_int_equal(a.groups, GBA_GROUPS);
    assert_int_equal(a.groups_free, GBA_GROUPS);
    assert_int_equal(a.members_max, GBA_MEMBERS_MAX);
    assert_false(a.dead);
    assert_memory_not_equal(a.uuid, nobody, sizeof nobody);
    assert_memory_equal(a.uuid, b.uuid, sizeof a.uuid);
}

/* [DRV-6, DRV-7, CMD-6] */
static void from_allocation_to_freedom(struct conf *conf)
{
    gba_group_state_t state;

    conf_group_make(conf, &one, 3, 41);
    assert_int_equal(conf_info(conf).groups_free, GBA_GROUPS - 1);
    state = conf_inspect(conf, one.membership[1]);
    assert_int_equal(state.members, 3);
    assert_int_equal(state.sequence, 41);
    assert_int_equal(state.arrived_count, 0);
    assert_int_equal(state.status, GBA_STATUS_READY);
    assert_int_equal(state.last_error, GBA_ERROR_NONE);
    conf_round(conf, &one, 42, 1);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(conf_info(conf).groups_free, GBA_GROUPS - 1);
        conf->ops->leave(one.membership[i]);
    }
    assert_int_equal(conf_info(conf).groups_free, GBA_GROUPS);
    assert_int_equal(join_status(conf, &one.handle, 0), GBA_ERR_STALE);
}

static void handles_name_the_device(struct conf *conf)
{
    gba_group_handle_t a = conf_alloc(conf, 2), b = conf_alloc(conf, 708);
    gba_device_info_t info = conf_info(conf);

    assert_memory_equal(a.uuid, info.uuid, sizeof a.uuid);
    assert_int_not_equal(a.group, b.group);
    assert_true(a.key != b.key);
    assert_int_equal(info.groups_free, GBA_GROUPS - 2);
    conf->ops->cancel(conf->dev, &a);
    assert_int_equal(join_status(conf, &a, 0), GBA_ERR_STALE);
    conf->ops->cancel(conf->dev, &a); /* the second cancel has no effect */
    conf->ops->cancel(conf->dev, &b);
}

static void a_joined_group_is_not_cancelled(struct conf *conf)
{
    gba_group_handle_t handle = conf_alloc(conf, 2);
    struct gba_membership *membership = conf_join(conf, &handle, 1);

    conf->ops->cancel(conf->dev, &handle);
    assert_int_equal(conf_info(conf).groups_free, GBA_GROUPS - 1);
    assert_int_equal(conf_inspect(conf, membership).members, 2);
    conf->ops->leave(membership);
}

/* [DRV-3, CMD-3] */
static void wrong_generation_or_key(struct conf *conf)
{
    gba_group_handle_t handle = conf_alloc(conf, 2), wrong = handle;

    wrong.generation++;
    assert_int_equal(join_status(conf, &wrong, 0), GBA_ERR_STALE);
    wrong = handle;
    wrong.key ^= 1ull << 63;
    assert_int_equal(join_status(conf, &wrong, 0), GBA_ERR_STALE);
    wrong = handle;
    wrong.group = (handle.group + 1) % GBA_GROUPS;
    assert_int_equal(join_status(conf, &wrong, 0), GBA_ERR_STALE);
    conf->ops->leave(conf_join(conf, &handle, 0)); /* the correct handle still works */
}

static void busy_memberships(struct conf *conf)
{
    gba_group_handle_t handle = conf_alloc(conf, 3);
    struct gba_membership *a = conf_join(conf, &handle, 0), *b = conf_join(conf, &handle, 1);

    assert_int_equal(join_status(conf, &handle, 0), GBA_ERR_BUSY);
    assert_int_equal(join_status(conf, &handle, 3), GBA_ERR_PARAM);
    conf->ops->leave(a);
    assert_int_equal(join_status(conf, &handle, 0), GBA_ERR_BUSY); /* left, not empty */
    conf->ops->leave(b);
}

/* [DRV-4, DRV-5] */
static void armed_only_when_all_have_mapped(struct conf *conf)
{
    gba_group_handle_t handle = conf_alloc(conf, 2);
    struct gba_membership *a = conf_membership(conf, &handle, 0, 7), *b;

    assert_int_equal(conf->ops->configure(a, 7), GBA_ERR_BUSY); /* no process has membership 1 */
    b = conf_join(conf, &handle, 1);
    if (!conf->backend->flag_at_join)
        assert_int_equal(conf->ops->configure(a, 7), GBA_ERR_BUSY); /* no flag is mapped */
    assert_int_equal(conf_inspect(conf, a).status & GBA_STATUS_READY, 0);
    assert_int_equal(conf->ops->map_flag(b), GBA_OK);
    assert_int_equal(conf->ops->configure(b, 7), GBA_OK);
    assert_int_equal(conf->ops->configure(a, 9), GBA_ERR_BUSY); /* the group is armed already */
    assert_int_equal(conf_inspect(conf, b).sequence, 7);
    conf->ops->leave(a);
    conf->ops->leave(b);
}

static void a_member_left_before_it_was_armed(struct conf *conf)
{
    gba_group_handle_t handle = conf_alloc(conf, 2);
    struct gba_membership *a = conf_membership(conf, &handle, 0, 0),
                          *b = conf_membership(conf, &handle, 1, 0);

    conf->ops->leave(b);
    assert_int_equal(conf->ops->configure(a, 0), GBA_ERR_BUSY);
    conf->ops->leave(a);
}

static void every_size(struct conf *conf)
{
    static const uint32_t sizes[] = {1, 2, 63, 64, 65, 128, 707, 708};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        conf_group_make(conf, &one, sizes[i], 0);
        assert_int_equal(conf_inspect(conf, one.membership[0]).members, sizes[i]);
        conf_round(conf, &one, 1, 0);
        conf_round(conf, &one, 2, sizes[i] - 1);
        conf_group_leave(conf, &one);
    }
}

static void groups_run_out(struct conf *conf)
{
    const gba_group_request_t two = {.members = 2};
    gba_group_handle_t handle[GBA_GROUPS], extra;
    uint32_t seen = 0;

    for (uint32_t i = 0; i < GBA_GROUPS; i++) {
        handle[i] = conf_alloc(conf, 2);
        assert_true(handle[i].group < GBA_GROUPS);
        assert_int_equal(seen & 1u << handle[i].group, 0);
        seen |= 1u << handle[i].group;
    }
    assert_int_equal(conf_info(conf).groups_free, 0);
    memset(&extra, 0x5a, sizeof extra);
    assert_int_equal(conf->ops->alloc(conf->dev, &two, &extra), GBA_ERR_NO_GROUP);
    for (size_t i = 0; i < sizeof extra; i++)
        assert_int_equal(((const unsigned char *)&extra)[i], 0x5a);
    /* The next allocation takes the group that was given back. */
    conf->ops->cancel(conf->dev, &handle[17]);
    extra = conf_alloc(conf, 5);
    assert_int_equal(extra.group, handle[17].group);
    assert_int_not_equal(extra.generation, handle[17].generation);
    assert_true(extra.key != handle[17].key);
    handle[17] = extra;
    for (uint32_t i = 0; i < GBA_GROUPS; i++)
        conf->ops->cancel(conf->dev, &handle[i]);
}

/* Allocate groups until one is `group`, and give the rest back. */
static gba_group_handle_t alloc_group(struct conf *conf, uint32_t group, uint32_t members)
{
    gba_group_handle_t handle[GBA_GROUPS];
    uint32_t count = 0;

    do {
        assert_true(count < GBA_GROUPS);
        handle[count] = conf_alloc(conf, members);
    } while (group != handle[count++].group);
    for (uint32_t i = 0; i + 1 < count; i++)
        conf->ops->cancel(conf->dev, &handle[i]);
    return handle[count - 1];
}

/* [DRV-2] */
static void nothing_is_left(struct conf *conf)
{
    gba_group_handle_t old, handle;
    gba_group_state_t state;
    struct gba_membership *membership;

    conf_group_make(conf, &one, 3, 100);
    conf_round(conf, &one, 101, 2);
    conf_arrive(conf, one.membership[0], 102); /* half a round */
    conf_send(conf, one.membership[1],
              GBA_ARRIVAL(500, one.handle.generation, 1)); /* and an error */
    conf_run(conf);
    old = one.handle;
    conf_group_leave(conf, &one);

    handle = alloc_group(conf, old.group, 2);
    assert_int_not_equal(handle.generation, old.generation);
    assert_int_equal(join_status(conf, &old, 0), GBA_ERR_STALE);
    conf->ops->cancel(conf->dev, &old); /* stale: the new owner keeps the group */
    membership = conf_join(conf, &handle, 0);
    state = conf_inspect(conf, membership);
    assert_int_equal(state.members, 2);
    assert_int_equal(state.sequence, 0);
    assert_int_equal(state.arrived_count, 0);
    assert_int_equal(state.status, 0);
    assert_int_equal(state.last_error, GBA_ERROR_NONE);
    for (uint32_t i = 0; i < GBA_MASK_WORDS; i++)
        assert_int_equal(state.arrived_mask[i], 0);
    conf->ops->leave(membership);
}

/* [MAP-2] */
static void groups_are_isolated(struct conf *conf)
{
    gba_group_state_t before, after;

    conf_group_make(conf, &one, 3, 10);
    conf_group_make(conf, &other, 3, 20);
    conf_arrive(conf, other.membership[2], 21);
    before = conf_inspect(conf, other.membership[0]);
    for (uint32_t i = 11; i < 30; i++)
        conf_round(conf, &one, i, i % 3);
    conf_send(conf, one.membership[0],
              GBA_ARRIVAL(21, one.handle.generation, 0)); /* valid there, invalid here */
    conf_run(conf);
    after = conf_inspect(conf, other.membership[0]);
    conf_same_round(&before, &after);
    assert_int_equal(after.status, before.status);
    assert_int_equal(after.last_error, GBA_ERROR_NONE);
    conf_group_leave(conf, &one);
    /* The earlier arrival is neither lost nor counted twice. */
    conf_arrive(conf, other.membership[0], 21);
    assert_int_equal(conf_flag(other.membership[1]), 20);
    conf_arrive(conf, other.membership[1], 21);
    for (uint32_t i = 0; i < 3; i++)
        conf_wait(conf, other.membership[i], 21);
    conf_group_leave(conf, &other);
}

static void flags_stand_apart(struct conf *conf)
{
    conf_group_make(conf, &one, 40, 0);
    for (uint32_t i = 0; i < 40; i++)
        for (uint32_t j = 0; j < i; j++) {
            intptr_t apart = (intptr_t)one.membership[i]->flag - (intptr_t)one.membership[j]->flag;

            assert_true(apart >= (intptr_t)GBA_FLAG_STRIDE || apart <= -(intptr_t)GBA_FLAG_STRIDE);
        }
    conf_group_leave(conf, &one);
}

/* The process of another member: join as member 1, and end when the pipe is closed. */
static void mortal(struct conf *conf, const gba_group_handle_t *handle, int ready, int end)
{
    struct gba_membership *membership;
    struct gba_dev_path path;
    struct gba_dev *dev;
    char text[400], byte = 0;

    if (GBA_OK != gba_dev_path_parse(conf->backend->path, &path, text, sizeof text) ||
        GBA_OK != conf->ops->open(&path, NULL, &dev) ||
        GBA_OK != conf->ops->join(dev, handle, 1, &membership) ||
        GBA_OK != conf->ops->map_flag(membership) || 1 != write(ready, &byte, 1))
        _exit(1);
    (void)!read(end, &byte, 1);
    _exit(0);
}

/* [DRV-18] Only for a client of gba-switchd: the fake driver serves one process. */
static void a_member_that_died(struct conf *conf)
{
    const time_t limit = time(NULL) + 60;
    gba_group_handle_t handle;
    struct gba_membership *member, *alone;
    int ready[2], end[2], status;
    pid_t child;
    char byte;

    if (!conf->backend->daemon)
        return;
    handle = conf_alloc(conf, 2);
    member = conf_membership(conf, &handle, 0, 0);
    conf_group_make(conf, &other, 1, 0);
    alone = other.membership[0];
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(end), 0);
    child = fork();
    if (0 == child) {
        close(end[1]);
        mortal(conf, &handle, ready[1], end[0]);
    }
    assert_true(child > 0);
    close(ready[1]);
    close(end[0]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(conf->ops->configure(member, 0), GBA_OK);
    assert_false(conf->ops->died(member));
    close(end[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    while (!conf->ops->died(member)) {
        assert_true(time(NULL) < limit);
        conf->ops->poll(member);
    }
    assert_int_equal(conf->ops->failure(member), GBA_OK); /* the device is not dead */
    assert_false(conf->ops->died(alone));
    conf->ops->leave(member);
    /* The next team of that group has no dead member. */
    handle = alloc_group(conf, handle.group, 1);
    member = conf_membership(conf, &handle, 0, 0);
    (void)conf_inspect(conf, member);
    assert_false(conf->ops->died(member));
    conf->ops->leave(member);
    conf_group_leave(conf, &other);
    close(ready[0]);
}

const struct conf_test conf_life_tests[] = {
    {"identity", identity},
    {"from allocation to freedom", from_allocation_to_freedom},
    {"tickets name the device", handles_name_the_device},
    {"a joined group is not cancelled", a_joined_group_is_not_cancelled},
    {"wrong generation or key", wrong_generation_or_key},
    {"busy seats", busy_memberships},
    {"armed only when all have mapped", armed_only_when_all_have_mapped},
    {"a member left before it was armed", a_member_left_before_it_was_armed},
    {"every size", every_size},
    {"groups run out", groups_run_out},
    {"nothing is left for the next", nothing_is_left},
    {"groups are isolated", groups_are_isolated},
    {"flags stand apart", flags_stand_apart},
    {"a member that died", a_member_that_died},
    {NULL, NULL},
};
