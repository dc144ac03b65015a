/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages between the hosts of team_harness.h: a transport in memory. */
#include <stdlib.h>

#include "gba/algo/sched.h"
#include "gba/transport/transport.h"
#include "tests/unit/team/team_harness.h"

/* The words of one path, which its number keeps from those of all others. */
struct harness_net {
    struct harness_net *next;
    uint64_t epoch;
    uint32_t channel;
    bool opened[HARNESS_MEMBERS];
    gba_word_t word[HARNESS_MEMBERS][HARNESS_SLOTS][2]; /* by receiver, slot, parity */
};

struct net {
    struct gba_transport base;
    struct harness *harness;
    uint32_t rank[HARNESS_MEMBERS]; /* of the team, by number in the group */
    uint32_t mine;
    gba_word_t (*word)[HARNESS_SLOTS][2]; /* of all members */
    uint32_t calls, kept; /* calls of progress and sent since the last set; sets not sent yet */
    struct {
        gba_word_t *word;
        uint32_t seq;
    } set[HARNESS_SLOTS];
};

static gba_status_t net_set(struct gba_transport *transport, uint32_t peer, uint32_t slot,
                            uint32_t seq)
{
    struct net *net = (struct net *)transport;

    gba_word_add_relaxed(&net->harness->sent, 1);
    gba_word_add_relaxed(&net->harness->owed[net->mine], 1);
    gba_word_add_relaxed(&net->harness->owed[net->rank[peer]], UINT64_MAX);
    net->set[net->kept].word = &net->word[net->rank[peer]][slot][gba_slot_parity(seq)];
    net->set[net->kept++].seq = seq;
    net->harness->kept[net->mine]++;
    net->calls = 0;
    return GBA_OK;
}

/* Sets leave this member after a few of its calls, and never without a call. */
static gba_status_t net_sent(struct gba_transport *transport)
{
    struct net *net = (struct net *)transport;

    if (net->kept > 0 && ++net->calls < net->harness->keeps)
        return GBA_INPROGRESS;
    net->harness->kept[net->mine] -= net->kept;
    while (net->kept > 0) {
        net->kept--;
        gba_word_store_release(net->set[net->kept].word, net->set[net->kept].seq);
    }
    return GBA_OK;
}

static gba_status_t net_progress(struct gba_transport *transport)
{
    (void)net_sent(transport);
    return GBA_OK;
}

static uint32_t net_load(struct gba_transport *transport, uint32_t slot, uint32_t parity)
{
    struct net *net = (struct net *)transport;

    return (uint32_t)gba_word_load_acquire(&net->word[net->mine][slot][parity]);
}

/* Without faults a member sends as many messages in a barrier as it receives. */
static void net_destroy(struct gba_transport *transport)
{
    struct net *net = (struct net *)transport;

    if (net->harness->accounts && 0 != gba_word_load_relaxed(&net->harness->owed[net->mine]))
        gba_word_add_relaxed(&net->harness->unread, 1);
    if (transport->given_up) /* what has not left the member is lost */
        net->harness->kept[net->mine] -= net->kept;
    free(transport);
}

static const struct gba_transport_ops net_ops = {.name = "net",
                                                 .set = net_set,
                                                 .load = net_load,
                                                 .sent = net_sent,
                                                 .progress = net_progress,
                                                 .destroy = net_destroy};

/* The words of a path, which the first member makes that opens it; NULL: out of memory. */
static struct harness_net *net_find(struct harness *w, const gba_remote_group_t *group,
                                    uint32_t rank)
{
    struct harness_net *found;

    pthread_mutex_lock(&w->net_lock);
    for (found = w->nets; found != NULL; found = found->next)
        if (found->epoch == group->epoch && found->channel == group->channel)
            break;
    if (found == NULL && (found = calloc(1, sizeof *found)) != NULL) {
        *found =
            (struct harness_net){.next = w->nets, .epoch = group->epoch, .channel = group->channel};
        w->nets = found;
    }
    /* Degraded mode, which no member leaves in the middle, has one number. */
    if (found != NULL && 0 == group->channel && found->opened[rank])
        gba_word_add_relaxed(&w->unread, 1);
    if (found != NULL)
        found->opened[rank] = true;
    pthread_mutex_unlock(&w->net_lock);
    return found;
}

void harness_net_end(struct harness *w)
{
    struct harness_net *next;

    for (; w->nets != NULL; w->nets = next) {
        next = w->nets->next;
        free(w->nets);
    }
}

gba_status_t harness_net_open(void *ctx, const gba_remote_group_t *group,
                              struct gba_transport **transport)
{
    struct harness *w = ctx;
    uint32_t rank = group->ranks == NULL ? group->rank : group->ranks[group->rank];
    struct harness_net *words = rank == w->no_open ? NULL : net_find(w, group, rank);
    struct net *net = words == NULL ? NULL : calloc(1, sizeof *net);

    if (net == NULL)
        return GBA_ERR_NOMEM;
    net->base.ops = &net_ops;
    net->harness = w;
    for (uint32_t i = 0; i < group->size; i++)
        net->rank[i] = group->ranks == NULL ? i : group->ranks[i];
    net->mine = rank;
    net->word = words->word;
    for (uint32_t slot = 0; slot < HARNESS_SLOTS; slot++)
        for (uint32_t parity = 0; parity < 2; parity++)
            gba_word_store_relaxed(&net->word[net->mine][slot][parity], group->sequence);
    *transport = &net->base;
    return GBA_OK;
}
