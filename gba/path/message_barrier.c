/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/path/message_barrier.h"

#include <string.h>

#include "gba/spec/gba_regs.h"

gba_status_t gba_message_barrier_open(struct gba_message_barrier *barrier,
                                      const gba_remote_t *remote, gba_remote_group_t group,
                                      const struct gba_algorithm *algorithm, uint32_t radix)
{
    if (remote == NULL)
        return GBA_ERR_UNSUPPORTED;
    group.schedule = algorithm->schedule;
    group.radix = radix;
    barrier->algorithm = algorithm;
    barrier->ranks = group.ranks;
    gba_algo_init(&barrier->algo, group.rank, group.size, radix, group.sequence);
    return remote->open(remote->ctx, &group, &barrier->transport);
}

void gba_message_barrier_close(struct gba_message_barrier *barrier)
{
    struct gba_transport *transport = barrier->transport;

    if (transport != NULL && transport->ops->destroy != NULL)
        transport->ops->destroy(transport);
    memset(barrier, 0, sizeof *barrier);
}

/*
 * The slot of the signal that this member reports as missing, of an algorithm that pushes;
 * UINT32_MAX: none. Of dissemination and radix it is that of the first signal, which its source
 * sends as soon as it arrives. In a tree a parent reports its child, and one child of the root the
 * root, which no other member would report.
 */
static uint32_t late_slot(const struct gba_message_barrier *barrier)
{
    const struct gba_algo_state *algo = &barrier->algo;
    uint32_t word;

    if (barrier->algorithm->tree) {
        if (algo->seen < algo->lanes || (1 == algo->rank && algo->seen == algo->lanes))
            return barrier->algorithm->awaited(algo);
        return UINT32_MAX;
    }
    word = barrier->transport->ops->load(barrier->transport, 0, gba_slot_parity(algo->seq));
    return GBA_SEQ_REACHED(word, algo->seq) ? UINT32_MAX : 0;
}

uint32_t gba_message_barrier_late_source(const struct gba_message_barrier *barrier)
{
    const struct gba_algo_state *algo = &barrier->algo;
    uint32_t peer, slot;

    if (barrier->algorithm->pulls) {
        if (algo->seen >= algo->size)
            return UINT32_MAX;
        peer = gba_sched_peer(algo->rank, algo->seen, algo->size);
    } else {
        slot = late_slot(barrier);
        if (UINT32_MAX == slot)
            return UINT32_MAX;
        peer = barrier->algorithm->schedule->link(algo->rank, algo->size, algo->radix, slot).source;
    }
    return barrier->ranks == NULL ? peer : barrier->ranks[peer];
}

const char *gba_message_barrier_represented(const struct gba_message_barrier *barrier,
                                            uint32_t member, const char *other)
{
    const struct gba_algo_state *algo = &barrier->algo;
    uint32_t number = member;

    if (!barrier->algorithm->tree)
        return other;
    for (uint32_t i = 0; barrier->ranks != NULL && i < algo->size; i++)
        if (barrier->ranks[i] == member)
            number = i;
    if (0 == gba_sched_tree_children(number, algo->size, algo->radix))
        return other;
    return " or another process whose arrival it forwards";
}
