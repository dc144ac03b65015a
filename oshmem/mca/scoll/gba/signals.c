/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The signals of a software barrier (gba/signal/signal_ops.h) through symmetric memory, by Open
 * MPI's layer for one-sided communication (SPML) and its atomics.
 *
 * A signal is an atomic set of a word of the receiver. Open MPI has none: its shmem_atomic_set is a
 * swap, which waits until the receiver has answered, and a signal must not wait. But each word has
 * one writer, who knows what it holds: so it adds the difference, by an atomic add, which asks for
 * no answer. (It may call progress until the add is on its way, so no lock is held here.) Adds may
 * overtake each other on their way as they like, the sum is right, and the two words of a slot keep
 * the signals of a fast member apart all the same.
 *
 * The order: the puts of a PE are complete before it arrives (a barrier begins with a quiet, see
 * barrier.c). What it wrote to its own memory is visible before its signal is: the release here.
 * What it reads after the barrier was not read before the signals came: the acquire here.
 *
 * v3 reads the words of others, by gets that do not wait either. A get is complete when the word
 * that it writes to has changed: no word of a row ever holds UNREAD. Over a network that cannot
 * read by itself (TCP), the PE that is read has to call something of Open MPI now and then, also
 * when it has left the barrier. That is why nobody gets v3 between hosts unless he asks for it.
 */
#include "oshmem/mca/scoll/gba/scoll_gba.h"

#include <string.h>

#include "gba/base/order.h"
#include "gba/signal/signal_ops.h"
#include "gba/soft/sched.h"
#include "opal/runtime/opal_progress.h"
#include "oshmem/mca/atomic/atomic.h"

/* The last slot of a row is where gets write to. */
#define SLOTS  (GBA_SCOLL_ROW_SLOTS - 1)
#define UNREAD UINT64_MAX

struct spml_signals {
    struct gba_signals base;
    struct gba_scoll_row *row; /* the module's, which lives longer */
    gba_word_t *words;         /* of the row, at the same address on all PEs */
    uint32_t rank, size;
    uint32_t sequence;       /* of the words at first */
    uint32_t begun;          /* v3: the round under way, or the last one */
    bool reading;            /* a get is under way */
    bool failed;             /* for good */
    uint32_t sent[SLOTS][2]; /* what this member has set, by slot and parity */
    int pes[];               /* [size] of the members */
};

static gba_word_t *word_of(const struct spml_signals *s, uint32_t slot, uint32_t parity)
{
    return &s->words[2 * slot + parity];
}

static gba_status_t signals_fail(struct spml_signals *s, const char *what, int pe, int code)
{
    /* Once: what comes after it is a consequence. */
    if (!s->failed)
        opal_output(gba_scoll->output,
                    GBA_SCOLL_LABEL ": a barrier over the SPML: %s PE %d: error %d", what, pe,
                    code);
    s->failed = true;
    return GBA_ERR_IO;
}

static gba_status_t spml_set(struct gba_signals *signals, uint32_t peer, uint32_t slot,
                             uint32_t seq)
{
    struct spml_signals *s = (struct spml_signals *)signals;
    uint32_t parity = gba_signal_parity(seq), *sent = &s->sent[slot][parity];
    gba_word_t *word = word_of(s, slot, parity);
    uint32_t more = seq - *sent; /* unsigned: right when the sequence wraps, too */
    int rc;

    if (s->failed)
        return GBA_ERR_IO;
    if (peer == s->rank) {
        /* For others to read. Pairs with the acquire in their spml_peek. */
        s->begun = seq;
        gba_word_store_release(word, seq);
        return GBA_OK;
    }
    *sent = seq;
    /* Release: pairs with spml_mine. A NIC reads no memory of ours for an add, so for it there is
     * nothing more to order. */
    gba_fence_release();
    rc = MCA_ATOMIC_CALL(add(oshmem_ctx_default, word, more, sizeof *word, s->pes[peer]));
    return OSHMEM_SUCCESS == rc ? GBA_OK : signals_fail(s, "cannot signal to", s->pes[peer], rc);
}

/* Only the low half counts: an add that wraps carries into the other one. */
static uint32_t spml_mine(struct gba_signals *signals, uint32_t slot, uint32_t parity)
{
    const struct spml_signals *s = (struct spml_signals *)signals;

    return (uint32_t)gba_word_load_acquire(word_of(s, slot, parity));
}

static uint32_t spml_peek(struct gba_signals *signals, uint32_t peer, uint32_t slot,
                          uint32_t parity)
{
    struct spml_signals *s = (struct spml_signals *)signals;
    gba_word_t *landing = &s->words[2 * SLOTS];
    const uint32_t older = s->begun - 2; /* the word held that, or more, when the round began */
    uint64_t value;
    int rc;

    if (s->failed)
        return older;
    if (!s->reading) {
        gba_word_store_relaxed(landing, UNREAD);
        s->row->pulled = s->reading = true;
        rc = MCA_SPML_CALL(get_nb(oshmem_ctx_default, word_of(s, slot, parity), sizeof *landing,
                                  landing, s->pes[peer], NULL));
        if (OSHMEM_SUCCESS != rc) {
            (void)signals_fail(s, "cannot read from", s->pes[peer], rc);
            return older;
        }
    }
    value = gba_word_load_acquire(landing);
    if (UNREAD == value)
        return older;
    /* The waiter goes on to the next member when this one has arrived, and asks again if not: so a
     * get is never left under way, and what it brings is always of the member that is asked for. */
    s->reading = false;
    return (uint32_t)value;
}

/* The waiter calls opal_progress anyway; here it only learns that there is nothing to wait for. */
static gba_status_t spml_progress(struct gba_signals *signals)
{
    return ((struct spml_signals *)signals)->failed ? GBA_ERR_IO : GBA_OK;
}

static void spml_destroy(struct gba_signals *signals)
{
    struct spml_signals *s = (struct spml_signals *)signals;

    s->row->signals = NULL;
    free(s);
}

static const struct gba_signal_ops spml_ops = {.name = "spml",
                                               .set = spml_set,
                                               .mine = spml_mine,
                                               .peek = spml_peek,
                                               .progress = spml_progress,
                                               .destroy = spml_destroy};

static gba_status_t spml_open(gba_scoll_module_t *module, const gba_remote_group_t *group,
                              struct gba_signals **signals)
{
    struct spml_signals *s = calloc(1, sizeof *s + group->size * sizeof s->pes[0]);

    if (NULL == s)
        return GBA_ERR_NOMEM;
    s->base.ops = &spml_ops;
    s->row = &module->row;
    s->words = (gba_word_t *)gba_scoll_row_words(&module->row);
    s->rank = group->rank;
    s->size = group->size;
    s->sequence = s->begun = group->sequence;
    for (uint32_t i = 0; i < group->size; i++)
        s->pes[i] = (int)module->set->proc_vpids[NULL == group->ranks ? i : group->ranks[i]];
    /* Nobody signals before all have said that they are ready, which is after this. */
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        for (uint32_t parity = 0; parity < 2; parity++) {
            s->sent[slot][parity] = group->sequence;
            gba_word_store_relaxed(&s->words[2 * slot + parity], group->sequence);
        }
    module->row.carrier = GBA_SCOLL_CARRIER_SPML;
    module->row.signals = &s->base;
    *signals = &s->base;
    return GBA_OK;
}

static uint32_t slots_needed(const gba_remote_group_t *group)
{
    uint32_t slots = 0;

    for (uint32_t distance = 1; distance < group->size; distance *= group->radix)
        slots += gba_sched_lanes(distance, group->size, group->radix);
    return slots;
}

/* Not collective, but all that it looks at is the same for all members, so all choose the same. */
static gba_status_t remote_open(void *ctx, const gba_remote_group_t *group,
                                struct gba_signals **signals)
{
    struct gba_scoll_remote *remote = ctx;
    struct gba_scoll_row *row = &remote->module->row;

    if (remote->row && slots_needed(group) < SLOTS)
        return spml_open(remote->module, group, signals);
    if (!remote->apart)
        return GBA_ERR_UNSUPPORTED;
    if (0 != row->bit)
        row->why = remote->row ? GBA_SCOLL_WHY_SLOTS : GBA_SCOLL_WHY_MEETING;
    row->carrier = GBA_SCOLL_CARRIER_PML;
    remote->super.name = remote->pml.name;
    return remote->pml.open(remote->pml.ctx, group, signals);
}

const gba_remote_t *gba_scoll_remote_init(struct gba_scoll_remote *remote,
                                          gba_scoll_module_t *module, bool meeting)
{
    remote->module = module;
    remote->row = 0 != module->row.bit && !meeting;
    remote->apart = 0 != module->channels;
    remote->messages =
        (struct gba_common_messages){.comm = oshmem_comm_world,
                                     .tag = {gba_scoll_tag(module->set, GBA_SCOLL_SIGNAL)},
                                     .ranks = module->set->proc_vpids,
                                     .label = GBA_SCOLL_LABEL};
    if (0 != (module->channels & GBA_SCOLL_CHANNEL_COMM)) {
        remote->messages.comm = module->set->ompi_comm;
        remote->messages.ranks = NULL; /* the same in both */
    }
    gba_common_remote_init(&remote->pml, &remote->messages);
    remote->super = (gba_remote_t){.ctx = remote,
                                   .pulls = remote->row,
                                   .name = remote->row ? "symmetric memory" : remote->pml.name,
                                   .open = remote_open};
    return remote->row || remote->apart ? &remote->super : NULL;
}

/*
 * A barrier of its own, by v1: there whoever has left is not looked at any more. Its slots follow
 * that of v3 and are as at first.
 */
void gba_scoll_signals_drain(gba_scoll_module_t *module)
{
    struct spml_signals *s = (struct spml_signals *)module->row.signals;
    gba_status_t status = GBA_OK;
    uint32_t seq, slot = 1;

    if (NULL == s || !module->row.pulled || s->failed)
        return;
    seq = s->sequence + 1;
    for (uint32_t distance = 1; distance < s->size && GBA_OK == status; distance *= 2) {
        status = spml_set(&s->base, gba_sched_peer(s->rank, distance, s->size), slot, seq);
        while (GBA_OK == status && seq != spml_mine(&s->base, slot, gba_signal_parity(seq)))
            opal_progress();
        slot++;
    }
}
