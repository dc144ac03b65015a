/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The signals of a software barrier (gba/transport/transport.h) through symmetric memory, by Open
 * MPI's layer for one-sided communication (SPML) and its atomics.
 *
 * A signal sets a word of the receiver atomically. Open MPI has no such operation without an
 * answer: its shmem_atomic_set is a swap, which waits until the receiver has answered, and a signal
 * must not wait. But each word has one writer, which knows the value of the word. So the writer
 * adds the difference, by an atomic add, which needs no answer. (The add may call progress until it
 * has left, so no lock is held here.) Adds may overtake each other: the sum is right in any order.
 * The two words of a slot keep the signals of a fast member apart.
 *
 * Ordering. The puts of a PE are complete before it arrives, because a barrier begins with a quiet
 * (see barrier.c). Its stores to its own memory are visible before its signal: the release here.
 * Its loads after the barrier follow the signals: the acquire here.
 *
 * Members of a trial may leave a barrier in the middle (gba_remote_group_t.epoch). An add may come
 * later then, and the slab of a member that has left is not used again.
 *
 * Central (v3) reads the words of other members, by gets that do not wait either. The words of all
 * members that have not been seen are read at the same time, so if all have arrived, a member waits
 * for one round trip and not for one of each. A get is complete when the word that it writes to has
 * changed: no word of a slab ever holds UNREAD. Over a network
 * that cannot read memory by itself (TCP), the PE that is read must call Open MPI now and then,
 * also when it has left the barrier. So central runs between hosts only if the user requests it.
 */
#include "oshmem/mca/scoll/gba/scoll_gba.h"

#include <string.h>

#include "gba/base/order.h"
#include "gba/transport/transport.h"
#include "gba/algo/sched.h"
#include "opal/runtime/opal_progress.h"
#include "ompi/runtime/mpiruntime.h"
#include "oshmem/mca/atomic/atomic.h"

#define SLOTS  GBA_SCOLL_SLAB_SLOTS
#define UNREAD UINT64_MAX

struct spml_transport {
    struct gba_transport base;
    struct gba_scoll_slab *slab; /* the module's, which outlives this */
    gba_word_t *words;           /* of the slab, at the same address on all PEs */
    uint32_t rank, size;
    uint32_t sequence;       /* the initial value of the words */
    uint32_t begun;          /* central (v3): the current round, or the last one */
    gba_word_t *landing;     /* [size] results of gets; UNREAD: one is in progress */
    bool unsent;             /* adds since the last quiet, which may not have left this process */
    bool connected;          /* one barrier is complete, so the connections exist */
    bool failed;             /* permanently */
    uint32_t sent[SLOTS][2]; /* the values that this member has set, by slot and parity */
    int pes[];               /* [size] the members' PEs */
};

static gba_word_t *word_of(const struct spml_transport *s, uint32_t slot, uint32_t parity)
{
    return &s->words[2 * slot + parity];
}

static gba_status_t transport_fail(struct spml_transport *s, const char *what, int pe, int code)
{
    /* Once: later errors are consequences of the first. */
    if (!s->failed)
        gba_common_alert("a barrier over the SPML: %s PE %d: error %d", what, pe, code);
    s->failed = true;
    return GBA_ERR_IO;
}

static gba_status_t spml_set(struct gba_transport *transport, uint32_t peer, uint32_t slot,
                             uint32_t seq)
{
    struct spml_transport *s = (struct spml_transport *)transport;
    uint32_t parity = gba_slot_parity(seq), *sent = &s->sent[slot][parity];
    gba_word_t *word = word_of(s, slot, parity);
    uint32_t more = seq - *sent; /* unsigned: right also when the sequence wraps */
    int rc;

    if (s->failed)
        return GBA_ERR_IO;
    if (peer == s->rank) {
        /* Release: pairs with the acquire in other members' spml_peek. */
        s->begun = seq;
        gba_word_store_release(word, seq);
        return GBA_OK;
    }
    *sent = seq;
    s->unsent = true;
    /* Release: pairs with spml_load. A NIC reads none of our memory for an add, so it needs no
     * further ordering. */
    gba_fence_release();
    rc = MCA_ATOMIC_CALL(add(oshmem_ctx_default, word, more, sizeof *word, s->pes[peer]));
    return OSHMEM_SUCCESS == rc ? GBA_OK : transport_fail(s, "cannot signal to", s->pes[peer], rc);
}

/* Acquire: pairs with spml_set. Only the low half counts, because an add that wraps carries into
 * the high half. */
static uint32_t spml_load(struct gba_transport *transport, uint32_t slot, uint32_t parity)
{
    const struct spml_transport *s = (struct spml_transport *)transport;

    return (uint32_t)gba_word_load_acquire(word_of(s, slot, parity));
}

/*
 * Read the word of each member that is not known to have arrived, unless that is in progress. The
 * caller leaves the barrier when it has seen all members arrive. So no get is in progress then.
 */
static void read_others(struct spml_transport *s, uint32_t slot, uint32_t parity)
{
    int rc = OSHMEM_SUCCESS;

    s->slab->pulled = true;
    for (uint32_t i = 1; i < s->size && OSHMEM_SUCCESS == rc; i++) {
        uint32_t peer = gba_sched_peer(s->rank, i, s->size);
        uint64_t value = gba_word_load_relaxed(&s->landing[peer]);

        if (UNREAD == value || (uint32_t)value == s->begun)
            continue;
        gba_word_store_relaxed(&s->landing[peer], UNREAD);
        rc = MCA_SPML_CALL(get_nb(oshmem_ctx_default, word_of(s, slot, parity),
                                  sizeof s->landing[peer], &s->landing[peer], s->pes[peer], NULL));
        if (OSHMEM_SUCCESS != rc)
            (void)transport_fail(s, "cannot read from", s->pes[peer], rc);
    }
}

static uint32_t spml_peek(struct gba_transport *transport, uint32_t peer, uint32_t slot,
                          uint32_t parity)
{
    struct spml_transport *s = (struct spml_transport *)transport;
    uint64_t value = gba_word_load_acquire(&s->landing[peer]);

    if (UNREAD != value && (uint32_t)value != s->begun && !s->failed)
        read_others(s, slot, parity);
    /* If not yet: the word held this, or more, when the round began. */
    return UNREAD != value && (uint32_t)value == s->begun ? s->begun : s->begun - 2;
}

/*
 * Open MPI does not report when an add has left the process. Only a quiet does, which waits for the
 * peers' answers. A barrier begins with a quiet, so nothing is queued ahead of its adds, and they
 * leave at once. There are two exceptions: the first barrier, whose adds may wait until UCX has
 * made the connection; and a program of several threads, whose other puts may be queued ahead. In
 * both cases the barrier also ends with a quiet. The peers are in Open MPI, so they answer: they
 * cannot leave the barrier before they have received the adds.
 */
static gba_status_t spml_sent(struct gba_transport *transport)
{
    struct spml_transport *s = (struct spml_transport *)transport;

    if (s->failed)
        return GBA_ERR_IO;
    if (OPAL_LIKELY(s->connected && !ompi_mpi_thread_multiple))
        return GBA_OK;
    if (s->unsent)
        MCA_SPML_CALL(quiet(oshmem_ctx_default));
    s->unsent = false;
    s->connected = true;
    return GBA_OK;
}

/* The waiting caller calls opal_progress anyway; here it learns only whether the transport has
 * failed. */
static gba_status_t spml_progress(struct gba_transport *transport)
{
    return ((struct spml_transport *)transport)->failed ? GBA_ERR_IO : GBA_OK;
}

static void spml_destroy(struct gba_transport *transport)
{
    struct spml_transport *s = (struct spml_transport *)transport;
    bool reading = false;

    s->slab->transport = NULL;
    s->slab->kept |= s->base.given_up;
    for (uint32_t i = 0; i < s->size && !reading; i++)
        reading = UNREAD == gba_word_load_relaxed(&s->landing[i]);
    if (!reading) /* after a failure it is leaked, because a get may still write to it */
        free(s->landing);
    free(s);
}

static const struct gba_transport_ops spml_ops = {.name = "spml",
                                                  .set = spml_set,
                                                  .load = spml_load,
                                                  .peek = spml_peek,
                                                  .sent = spml_sent,
                                                  .progress = spml_progress,
                                                  .destroy = spml_destroy};

static gba_status_t spml_open(gba_scoll_module_t *module, const gba_remote_group_t *group,
                              struct gba_transport **transport)
{
    struct spml_transport *s = calloc(1, sizeof *s + group->size * sizeof s->pes[0]);

    if (s == NULL)
        return GBA_ERR_NOMEM;
    s->landing = malloc(group->size * sizeof *s->landing);
    if (s->landing == NULL) {
        free(s);
        return GBA_ERR_NOMEM;
    }
    s->base.ops = &spml_ops;
    s->slab = &module->slab;
    s->words = (gba_word_t *)gba_scoll_slab_words(&module->slab);
    s->rank = group->rank;
    s->size = group->size;
    s->sequence = s->begun = group->sequence;
    for (uint32_t i = 0; i < group->size; i++) {
        gba_word_store_relaxed(&s->landing[i], group->sequence);
        s->pes[i] = (int)module->set->proc_vpids[group->ranks == NULL ? i : group->ranks[i]];
    }
    /* No member signals before all have voted that they are ready, which follows this call. */
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        for (uint32_t parity = 0; parity < 2; parity++) {
            s->sent[slot][parity] = group->sequence;
            gba_word_store_relaxed(&s->words[2 * slot + parity], group->sequence);
        }
    module->slab.carrier = GBA_SCOLL_CARRIER_SPML;
    module->slab.transport = &s->base;
    *transport = &s->base;
    return GBA_OK;
}

/* Not collective. All inputs of the decision are the same on all members, so all decide the same.
 */
static gba_status_t remote_open(void *ctx, const gba_remote_group_t *group,
                                struct gba_transport **transport)
{
    gba_scoll_module_t *module = ctx;
    struct gba_scoll_remote *remote = &module->remote;
    struct gba_scoll_slab *slab = &module->slab;

    if (remote->slab && group->schedule->slots(group->size, group->radix) < SLOTS)
        return spml_open(module, group, transport);
    if (0 != slab->bit)
        slab->why = remote->slab ? GBA_SCOLL_WHY_SLOTS : GBA_SCOLL_WHY_RENEGOTIATION;
    slab->carrier = GBA_SCOLL_CARRIER_PML;
    remote->super.name = remote->pml.name;
    return remote->pml.open(remote->pml.ctx, group, transport);
}

const gba_remote_t *gba_scoll_remote_init(gba_scoll_module_t *module, bool renegotiation)
{
    struct gba_scoll_remote *remote = &module->remote;

    remote->slab = 0 != module->slab.bit && !renegotiation;
    gba_scoll_messages(module, GBA_SCOLL_SIGNAL, &remote->messages);
    gba_common_remote_init(&remote->pml, &remote->messages);
    remote->super = (gba_remote_t){.ctx = module,
                                   .pulls = remote->slab,
                                   .name = remote->slab ? "symmetric memory" : remote->pml.name,
                                   .open = remote_open};
    return &remote->super;
}

/*
 * A separate barrier by dissemination, in which no member reads another one's slab after that one
 * has left. Its slots follow that of central, and still have their initial values.
 */
void gba_scoll_transport_drain(gba_scoll_module_t *module)
{
    struct spml_transport *s = (struct spml_transport *)module->slab.transport;
    gba_status_t status = GBA_OK;
    uint32_t seq, slot = 1;

    if (s == NULL || !module->slab.pulled || s->failed)
        return;
    seq = s->sequence + 1;
    for (uint32_t distance = 1; distance < s->size && GBA_OK == status; distance *= 2) {
        status = spml_set(&s->base, gba_sched_peer(s->rank, distance, s->size), slot, seq);
        while (GBA_OK == status && seq != spml_load(&s->base, slot, gba_slot_parity(seq)))
            opal_progress();
        slot++;
    }
}
