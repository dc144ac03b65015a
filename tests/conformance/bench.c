/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of the conformance suite share. */
#include "tests/conformance/conformance.h"

#include <sched.h>
#include <string.h>
#include <time.h>

/* Far more than any device needs, on the slowest machine. */
#define WAIT_SECONDS 60

gba_ticket_t conf_alloc(struct conf *conf, uint32_t members)
{
    const gba_group_request_t request = {.members = members};
    gba_ticket_t ticket;

    assert_int_equal(conf->ops->alloc(conf->dev, &request, &ticket), GBA_OK);
    assert_int_equal(ticket.members, members);
    return ticket;
}

struct gba_seat *conf_join(struct conf *conf, const gba_ticket_t *ticket, uint32_t member)
{
    struct gba_seat *seat = NULL;

    assert_int_equal(conf->ops->join(conf->dev, ticket, member, &seat), GBA_OK);
    assert_non_null(seat);
    assert_ptr_equal(seat->dev, conf->dev);
    assert_int_equal(seat->group, ticket->group);
    assert_int_equal(seat->generation, ticket->generation);
    assert_int_equal(seat->member, member);
    assert_int_equal(seat->members, ticket->members);
    assert_null(seat->flag);
    return seat;
}

struct gba_seat *conf_seat(struct conf *conf, const gba_ticket_t *ticket, uint32_t member,
                           uint32_t sequence)
{
    struct gba_seat *seat = conf_join(conf, ticket, member);

    assert_int_equal(conf->ops->map_flag(seat), GBA_OK);
    assert_non_null(seat->flag);
    assert_int_equal((uintptr_t)seat->flag % sizeof(gba_word_t), 0);
    gba_word_store_relaxed(seat->flag, sequence);
    return seat;
}

void conf_group_make(struct conf *conf, struct conf_group *group, uint32_t members,
                     uint32_t sequence)
{
    group->ticket = conf_alloc(conf, members);
    for (uint32_t i = 0; i < members; i++)
        group->seat[i] = conf_seat(conf, &group->ticket, i, sequence);
    assert_int_equal(conf->ops->configure(group->seat[members - 1], sequence), GBA_OK);
}

void conf_group_leave(struct conf *conf, struct conf_group *group)
{
    for (uint32_t i = 0; i < group->ticket.members; i++)
        if (NULL != group->seat[i])
            conf->ops->leave(group->seat[i]);
}

void conf_send(struct conf *conf, struct gba_seat *seat, uint64_t value)
{
    if (NULL != seat->doorbell) /* as the engine does */
        gba_mmio_write64(seat->doorbell, value);
    else
        conf->ops->arrive(seat, value);
}

void conf_run(struct conf *conf)
{
    if (NULL != conf->backend->run)
        conf->backend->run();
}

void conf_arrive(struct conf *conf, struct gba_seat *seat, uint32_t sequence)
{
    conf_send(conf, seat, GBA_ARRIVAL(sequence, seat->member));
    conf_run(conf);
}

uint64_t conf_flag(const struct gba_seat *seat)
{
    return gba_word_load_acquire(seat->flag);
}

void conf_wait(struct conf *conf, struct gba_seat *seat, uint32_t sequence)
{
    time_t end = time(NULL) + WAIT_SECONDS;

    while (sequence != conf_flag(seat)) {
        if (time(NULL) > end)
            fail_msg("member %u is not released from round %u: its flag is %llx", seat->member,
                     sequence, (unsigned long long)conf_flag(seat));
        if (NULL != conf->ops->poll)
            conf->ops->poll(seat);
        sched_yield();
    }
}

void conf_round(struct conf *conf, struct conf_group *group, uint32_t sequence, uint32_t last)
{
    uint32_t members = group->ticket.members;

    for (uint32_t i = 0; i < members; i++)
        if (i != last)
            conf_send(conf, group->seat[i], GBA_ARRIVAL(sequence, i));
    conf_run(conf);
    for (uint32_t i = 0; i < members; i++) {
        if (NULL != conf->ops->poll)
            conf->ops->poll(group->seat[i]);
        if (sequence - 1 != conf_flag(group->seat[i]))
            fail_msg("member %u was released from round %u before member %u arrived", i, sequence,
                     last);
    }
    conf_arrive(conf, group->seat[last], sequence);
    for (uint32_t i = 0; i < members; i++)
        conf_wait(conf, group->seat[i], sequence);
}

gba_device_info_t conf_info(struct conf *conf)
{
    gba_device_info_t info;

    memset(&info, 0, sizeof info);
    assert_int_equal(conf->ops->query(conf->dev, &info), GBA_OK);
    return info;
}

gba_group_state_t conf_inspect(struct conf *conf, struct gba_seat *seat)
{
    gba_group_state_t state;

    memset(&state, 0, sizeof state);
    assert_int_equal(conf->ops->inspect(seat, &state), GBA_OK);
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
