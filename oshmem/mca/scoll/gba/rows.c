/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symmetric memory for the signals of active sets, and who has which part of it. And what their
 * messages go over, where there is none.
 *
 * Memory is symmetric if all PEs allocate it in the same order. The members of a set cannot: the
 * other PEs know nothing of it. So there is one pool, which all PEs allocate when the set of all
 * PEs agrees on its path: only then is it certain that each of them has this component, and all of
 * them are in the same barrier, so nothing that the program allocates comes between. It is of the 2
 * MiB that Open MPI has for itself besides what the user asked for, and all compare the address.
 *
 * The pool is divided into rows, and a set needs the same row on all its members. Each offers the
 * rows that it has free; of those that all offer the first is taken. What is offered in one
 * agreement is not offered in another at the same time (threads, with a set each): that one may
 * find no row.
 *
 * A row goes back when its set does: nothing is on its way any more, for whoever has left a barrier
 * has got all signals of it. But where others read the row of a member (v3), a slow one may still
 * do so, and would never find what it waits for in the row of another set: such a row is kept.
 *
 * Whatever prevents this, all members know, and take messages (ompi/mca/common/gba/signals.c).
 */
#include "oshmem/mca/scoll/gba/scoll_gba.h"

#include <dirent.h>
#include <string.h>

#include "ompi/runtime/mpiruntime.h"
#include "opal/mca/base/mca_base_var.h"
#include "oshmem/mca/atomic/atomic.h"
#include "oshmem/mca/memheap/memheap.h"

#define POOL_BYTES (GBA_SCOLL_ROWS * GBA_SCOLL_ROW_SLOTS * 2 * sizeof(uint64_t))

/* Why there is no row. The numbers travel between members. */
static const char *const why_texts[] = {
    [GBA_SCOLL_WHY_NONE] = "",
    [GBA_SCOLL_WHY_ASKED] = "the parameter \"signals\" says so",
    [GBA_SCOLL_WHY_NETWORK] = "there is no RDMA device",
    [GBA_SCOLL_WHY_ATOMIC] = "the atomic component is not ucx",
    [GBA_SCOLL_WHY_KEYS] = "memheap_base_key_exchange is 0",
    [GBA_SCOLL_WHY_MEMORY] = "no private symmetric memory",
    [GBA_SCOLL_WHY_ADDRESS] = "the private symmetric memory is not symmetric",
    [GBA_SCOLL_WHY_EARLY] = "the set of all PEs has not agreed on a path yet",
    [GBA_SCOLL_WHY_ROWS] = "no row of symmetric memory is free on all members",
    [GBA_SCOLL_WHY_SLOTS] = "more signals than a row of symmetric memory has slots",
    [GBA_SCOLL_WHY_MEETING] = "the row of symmetric memory was in use when the members met",
};

/* What a member offers, and what all of them do. Travels as bytes between processes of one build.
 */
struct offer {
    uint64_t rows;    /* bits */
    uint64_t address; /* of the pool, 0: not yet */
    int32_t why;      /* enum gba_scoll_why */
    uint32_t pe;      /* whose reason that is */
    uint32_t channels;
    uint32_t unused;
};

/* The set of all PEs has a tag for itself. And its communicator may be the user's own world. */
static uint32_t channels_mine(const gba_scoll_module_t *module)
{
    const oshmem_group_t *set = module->set;
    uint32_t channels = 0;

    if (set == oshmem_group_all)
        return GBA_SCOLL_CHANNEL_TAG;
    if (NULL != set->ompi_comm)
        channels |= GBA_SCOLL_CHANNEL_COMM;
    if (!ompi_mpi_thread_multiple)
        channels |= GBA_SCOLL_CHANNEL_TAG;
    return channels;
}

static bool keys_exchanged(void)
{
    int index = mca_base_var_find("oshmem", "memheap", "base", "key_exchange");
    const int *value = NULL;

    return index < 0 || OPAL_SUCCESS != mca_base_var_get_value(index, &value, NULL, NULL) ||
           NULL == value || 0 != *value;
}

/*
 * Whether a network device of this host can write to memory by itself. Where there is none, and UCX
 * makes atomics of messages, one message of ours takes half the time or less: see README.md.
 */
static bool network_rdma(void)
{
    DIR *devices = opendir("/sys/class/infiniband");
    const struct dirent *entry;
    bool found = false;

    if (NULL == devices)
        return false;
    while (!found && NULL != (entry = readdir(devices)))
        found = '.' != entry->d_name[0];
    closedir(devices);
    return found;
}

/*
 * What this PE can do. The atomic component basic makes atomics of puts and gets under a lock, and
 * waits for the other side; what others promise is not known. UCX passes a null pointer on if it
 * has no key of the memory of a PE.
 */
static enum gba_scoll_why why_not(void)
{
    const opal_class_t *class = mca_atomic.super.obj_class;

    if (GBA_SCOLL_SIGNALS_PML == gba_scoll->signals)
        return GBA_SCOLL_WHY_ASKED;
    if (NULL == class || 0 != strcmp(class->cls_name, "mca_atomic_ucx_module_t"))
        return GBA_SCOLL_WHY_ATOMIC;
    if (GBA_SCOLL_SIGNALS_AUTO == gba_scoll->signals && !network_rdma())
        return GBA_SCOLL_WHY_NETWORK;
    return keys_exchanged() ? GBA_SCOLL_WHY_NONE : GBA_SCOLL_WHY_KEYS;
}

/* Of two members the first reason counts, and without a reason what both offer. */
static void offer_join(struct offer *all, const struct offer *other)
{
    all->rows &= other->rows;
    all->channels &= other->channels;
    if (GBA_SCOLL_WHY_NONE != all->why)
        return;
    all->why = other->why;
    all->pe = other->pe;
    if (GBA_SCOLL_WHY_NONE == other->why && all->address != other->address)
        all->why = GBA_SCOLL_WHY_ADDRESS;
}

/* Collective: all get what all offer. Needs no memory, which one of them might lack. */
static gba_status_t offers_exchange(const gba_scoll_module_t *module, struct offer *offer)
{
    gba_status_t status;
    struct offer other;

    if (0 != module->rank) {
        status = gba_scoll_send(module, 0, GBA_SCOLL_UP, MCA_PML_BASE_SEND_STANDARD, offer,
                                sizeof *offer);
        if (GBA_OK != status)
            return status;
        return gba_scoll_receive(module, 0, GBA_SCOLL_DOWN, offer, sizeof *offer);
    }
    for (uint32_t rank = 1; rank < module->size; rank++) {
        status = gba_scoll_receive(module, rank, GBA_SCOLL_UP, &other, sizeof other);
        if (GBA_OK != status)
            return status;
        offer_join(offer, &other);
    }
    for (uint32_t rank = 1; rank < module->size; rank++) {
        status = gba_scoll_send(module, rank, GBA_SCOLL_DOWN, MCA_PML_BASE_SEND_STANDARD, offer,
                                sizeof *offer);
        if (GBA_OK != status)
            return status;
    }
    return GBA_OK;
}

/* The set of all PEs: allocate the pool, if all can. Once in the life of the job. */
static gba_status_t pool_agree(const gba_scoll_module_t *module)
{
    struct gba_scoll_pool *pool = &gba_scoll->pool;
    const uint32_t me = (uint32_t)module->set->my_pe;
    struct offer offer = {.why = why_not(), .pe = me};
    gba_status_t status = offers_exchange(module, &offer);
    void *memory = NULL;

    if (GBA_OK == status && GBA_SCOLL_WHY_NONE == offer.why) {
        if (OSHMEM_SUCCESS != MCA_MEMHEAP_CALL(private_alloc(POOL_BYTES, &memory)))
            memory = NULL;
        offer = (struct offer){.address = (uintptr_t)memory, .pe = me};
        if (NULL == memory)
            offer.why = GBA_SCOLL_WHY_MEMORY;
        status = offers_exchange(module, &offer);
    }
    if (GBA_OK == status) {
        pool->why = (enum gba_scoll_why)offer.why;
        pool->pe = offer.pe;
        pool->tried = true;
    }
    if (GBA_OK == status && GBA_SCOLL_WHY_NONE == offer.why)
        pool->words = memory;
    else if (NULL != memory)
        (void)MCA_MEMHEAP_CALL(private_free(memory));
    return status;
}

/* Take all rows that are free; give back some. */
static uint64_t rows_take(void)
{
    struct gba_scoll_pool *pool = &gba_scoll->pool;
    uint64_t all = gba_scoll->signal_rows >= GBA_SCOLL_ROWS
                       ? UINT64_MAX
                       : (UINT64_C(1) << gba_scoll->signal_rows) - 1;
    uint64_t rows;

    opal_mutex_lock(&gba_scoll->lock);
    rows = NULL == pool->words ? 0 : all & ~pool->taken;
    pool->taken |= rows;
    opal_mutex_unlock(&gba_scoll->lock);
    return rows;
}

static void rows_give(uint64_t rows)
{
    opal_mutex_lock(&gba_scoll->lock);
    gba_scoll->pool.taken &= ~rows;
    opal_mutex_unlock(&gba_scoll->lock);
}

gba_status_t gba_scoll_row_agree(gba_scoll_module_t *module)
{
    struct gba_scoll_pool *pool = &gba_scoll->pool;
    struct gba_scoll_row *row = &module->row;
    gba_status_t status = GBA_OK;
    struct offer offer;
    uint64_t mine;

    gba_scoll_row_close(module); /* of a team that is to recover */
    if (module->set == oshmem_group_all && !pool->tried)
        status = pool_agree(module);
    if (GBA_OK != status)
        return status;
    mine = rows_take();
    offer = (struct offer){.rows = mine,
                           .address = (uintptr_t)pool->words,
                           .why = (int32_t)(pool->tried ? pool->why : GBA_SCOLL_WHY_EARLY),
                           .pe = pool->tried ? pool->pe : (uint32_t)module->set->my_pe,
                           .channels = channels_mine(module)};
    status = offers_exchange(module, &offer);
    if (GBA_OK == status && GBA_SCOLL_WHY_NONE == offer.why)
        row->bit = offer.rows & (~offer.rows + 1); /* the lowest one of all */
    rows_give(mine & ~row->bit);
    if (GBA_OK != status)
        return status;
    module->channels = offer.channels;
    row->why = (enum gba_scoll_why)offer.why;
    row->pe = offer.pe;
    if (GBA_SCOLL_WHY_NONE == row->why && 0 == row->bit)
        row->why = GBA_SCOLL_WHY_ROWS;
    return GBA_OK;
}

uint64_t *gba_scoll_row_words(const struct gba_scoll_row *row)
{
    return gba_scoll->pool.words + (size_t)__builtin_ctzll(row->bit) * GBA_SCOLL_ROW_SLOTS * 2;
}

void gba_scoll_row_settle(gba_scoll_module_t *module, gba_path_t path)
{
    struct gba_scoll_row *row = &module->row;

    /* All members are in an agreement, so nobody reads it any more. */
    if (NULL == row->signals) {
        rows_give(row->bit);
        row->bit = 0;
        row->pulled = false;
    }
    if (GBA_PATH_SOFT != path || (NULL == row->signals && GBA_SCOLL_CARRIER_SPML == row->carrier))
        row->carrier = GBA_SCOLL_CARRIER_NONE;
    else if (NULL != row->signals) /* a meeting that came to nothing may have noted another one */
        row->carrier = GBA_SCOLL_CARRIER_SPML;
}

void gba_scoll_row_close(gba_scoll_module_t *module)
{
    if (!module->row.pulled)
        rows_give(module->row.bit);
    memset(&module->row, 0, sizeof module->row);
}

void gba_scoll_pool_close(void)
{
    struct gba_scoll_pool *pool = &gba_scoll->pool;

    if (NULL != pool->words)
        (void)MCA_MEMHEAP_CALL(private_free(pool->words));
    memset(pool, 0, sizeof *pool);
}

void gba_scoll_row_describe(const struct gba_scoll_row *row, char *text, size_t len)
{
    char member[96] = "";

    text[0] = '\0';
    if (GBA_SCOLL_CARRIER_SPML == row->carrier)
        snprintf(text, len, "; signals: spml, row %d of %d", __builtin_ctzll(row->bit),
                 GBA_SCOLL_ROWS);
    if (GBA_SCOLL_CARRIER_PML != row->carrier)
        return;
    /* No single member is to blame for the last ones. */
    if (row->why < GBA_SCOLL_WHY_ROWS)
        gba_scoll_name_member(oshmem_group_all, row->pe, member, sizeof member);
    snprintf(text, len, "; signals: pml, %s%s%s%s", why_texts[row->why],
             '\0' == member[0] ? "" : " (", member, '\0' == member[0] ? "" : ")");
}
