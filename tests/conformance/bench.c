/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that the tests of the conformance suite share. */
#include "tests/conformance/conformance.h"

#include <sched.h>
#include <string.h>
#include <time.h>

/* The time limit of a wait, far more than any device needs on the slowest machine. */
#define WAIT_SECONDS 60

gba_group_handle_t conf_alloc(struct conf *conf, uint32_t members)
{
    const gba_group_request_t request = {.members = members};
    gba_group_handle_t handle;

    assert_int_equal(conf->ops->alloc(conf->dev, &request, &handle), GBA_OK);
    assert_int_equal(handle.members, members);
    return handle;
}

struct gba_membership *conf_join(struct conf *conf, const gba_group_handle_t *handle,
                                 uint32_t member)
{
    struct gba_membership *membership = NULL;

    assert_int_equal(conf->ops->join(conf->dev, handle, member, &membership), GBA_OK);
    assert_non_null(membership);
    assert_ptr_equal(membership->dev, conf->dev);
    assert_int_equal(membership->group, handle->group);
    assert_int_equal(membership->generation, handle->generation);
    assert_int_equal(membership->member, member);
    assert_int_equal(membership->members, handle->members);
    assert_null(membership->flag);
    return membership;
}

struct gba_membership *conf_membership(struct conf *conf, const gba_group_handle_t *handle,
                                       uint32_t member, uint32_t sequence)
{
    struct gba_membership *membership = conf_join(conf, handle, member);

    assert_int_equal(conf->ops->map_flag(membership), GBA_OK);
    assert_non_null(membership->flag);
    assert_int_equal((uintptr_t)membership->flag % sizeof(gba_word_t), 0);
    gba_flag_store_relaxed(membership->flag, sequence);
    return membership;
}

void conf_group_make(struct conf *conf, struct conf_group *group, uint32_t members,
                     uint32_t sequence)
{
    group->handle = conf_alloc(conf, members);
    for (uint32_t i = 0; i < members; i++)
        group->membership[i] = conf_membership(conf, &group->handle, i, sequence);
    assert_int_equal(conf->ops->configure(group->membership[members - 1], sequence), GBA_OK);
}

void conf_group_leave(struct conf *conf, struct conf_group *group)
{
    for (uint32_t i = 0; i < group->handle.members; i++)
        if (group->membership[i] != NULL)
            conf->ops->leave(group->membership[i]);
}

void conf_send(struct conf *conf, struct gba_membership *membership, uint64_t value)
{
    if (membership->doorbell != NULL) /* as the engine does */
        gba_mmio_write64(membership->doorbell, value);
    else
        conf->ops->arrive(membership, value);
}

void conf_run(struct conf *conf)
{
    if (conf->backend->run != NULL)
        conf->backend->run();
}

void conf_arrive(struct conf *conf, struct gba_membership *membership, uint32_t sequence)
{
    conf_send(conf, membership, GBA_ARRIVAL(sequence, membership->generation, membership->member));
    conf_run(conf);
}

uint64_t conf_flag(const struct gba_membership *membership)
{
    return gba_flag_load_acquire(membership->flag);
}

void conf_wait(struct conf *conf, struct gba_membership *membership, uint32_t sequence)
{
    time_t end = time(NULL) + WAIT_SECONDS;

    while (sequence != conf_flag(membership)) {
        if (time(NULL) > end)
            fail_msg("member %u is not released from round %u: its flag is %llx",
                     membership->member, sequence, (unsigned long long)conf_flag(membership));
        if (conf->ops->poll != NULL)
            conf->ops->poll(membership);
        sched_yield();
    }
}

void conf_round(struct conf *conf, struct conf_group *group, uint32_t sequence, uint32_t last)
{
    uint32_t members = group->handle.members;

    for (uint32_t i = 0; i < members; i++)
        if (i != last)
            conf_send(conf, group->membership[i],
                      GBA_ARRIVAL(sequence, group->handle.generation, i));
    conf_run(conf);
    for (uint32_t i = 0; i < members; i++) {
        if (conf->ops->poll != NULL)
            conf->ops->poll(group->membership[i]);
        if (sequence - 1 != conf_flag(group->membership[i]))
            fail_msg("member %u was released from round %u before member %u arrived", i, sequence,
                     last);
    }
    conf_arrive(conf, group->membership[last], sequence);
    for (uint32_t i = 0; i < members; i++)
        conf_wait(conf, group->membership[i], sequence);
}

gba_device_info_t conf_info(struct conf *conf)
{
    gba_device_info_t info;

    memset(&info, 0, sizeof info);
    assert_int_equal(conf->ops->query(conf->dev, &info), GBA_OK);
    return info;
}

gba_group_state_t conf_inspect(struct conf *conf, struct gba_membership *membership)
{
    gba_group_state_t state;

    gba_status_t status;

    memset(&state, 0, sizeof state);
    do
        status = conf->ops->inspect(membership, &state);
    while (GBA_INPROGRESS == status);
    assert_int_equal(status, GBA_OK);
    return state;
}

void conf_counted(struct conf *conf, const gba_device_info_t *before, uint32_t counter, uint64_t n)
{
    gba_device_info_t now = conf_info(conf);

    assert_int_equal(now.counters[counter] - before->counters[counter], n);
}

void conf_same_round(const gba_group_state_t *a, const gba_group_state_t *b)
{
    assert_int_equal(a->sequence, b->sequence);
    assert_int_equal(a->arrived_count, b->arrived_count);
    assert_int_equal(a->members, b->members);
    assert_memory_equal(a->arrived_mask, b->arrived_mask, sizeof a->arrived_mask);
}
