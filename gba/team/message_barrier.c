/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/team/message_barrier.h"

#include <string.h>

#include "gba/spec/gba_regs.h"

gba_status_t gba_message_barrier_open(struct gba_message_barrier *barrier,
                                      const gba_remote_t *remote, gba_remote_group_t group,
                                      const struct gba_algorithm *algorithm, uint32_t radix)
{
    if (NULL == remote)
        return GBA_ERR_UNSUPPORTED;
    /* The transport expects the signals of this schedule; dissemination uses that of radix 2. */
    group.radix = &gba_algo_radix == algorithm ? radix : 2;
    barrier->algorithm = algorithm;
    barrier->ranks = group.ranks;
    gba_algo_init(&barrier->algo, group.rank, group.size, radix, group.sequence);
    return remote->open(remote->ctx, &group, &barrier->transport);
}

void gba_message_barrier_close(struct gba_message_barrier *barrier)
{
    struct gba_transport *transport = barrier->transport;

    if (NULL != transport && NULL != transport->ops->destroy)
        transport->ops->destroy(transport);
    memset(barrier, 0, sizeof *barrier);
}

uint32_t gba_message_barrier_late_source(const struct gba_message_barrier *barrier)
{
    const struct gba_algo_state *algo = &barrier->algo;
    uint32_t peer, word;

    if (barrier->algorithm->pulls) {
        if (algo->seen >= algo->size)
            return UINT32_MAX;
        peer = gba_sched_peer(algo->rank, algo->seen, algo->size);
    } else {
        word = barrier->transport->ops->mine(barrier->transport, 0, gba_slot_parity(algo->seq));
        if (GBA_SEQ_REACHED(word, algo->seq))
            return UINT32_MAX;
        peer = gba_sched_source(algo->rank, 1, algo->size);
    }
    return NULL == barrier->ranks ? peer : barrier->ranks[peer];
}
