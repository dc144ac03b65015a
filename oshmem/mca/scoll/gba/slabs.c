/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symmetric memory for the signals of active sets, and its division into slabs.
 *
 * Memory is symmetric if all PEs allocate it in the same order. The members of a set cannot,
 * because the other PEs do not take part. So there is one allocation, which all PEs make when the
 * set of all PEs agrees on its path. Only then is it certain that each PE has this component. All
 * PEs are in the same barrier then, so no allocation of the program comes between. The memory
 * belongs to the 2 MiB that Open MPI has for itself besides the size that the user set. All PEs
 * compare the address.
 *
 * The memory is divided into slabs, and a set needs the same slab on all its members. Each member
 * offers the slabs that it has free. The set takes the lowest one that all members offer. A slab
 * that is offered in one agreement is not offered in a concurrent one (of another thread with its
 * own set). That agreement may find no slab.
 *
 * A slab becomes free when its set ends: no signal is in transit any more, because a member that
 * has left a barrier has received all signals of it. The exception is central (v3), where members
 * read the slab of another member. A slow one may still read, and would never find its value in the
 * slab of another set. Such a slab is kept, and one whose barrier its member has left in the
 * middle.
 *
 * All members know what prevents a slab, and use messages then (ompi/mca/common/gba/transport.c).
 */
#include "oshmem/mca/scoll/gba/scoll_gba.h"

#include <dirent.h>
#include <string.h>

#include "opal/mca/base/mca_base_var.h"
#include "oshmem/mca/atomic/atomic.h"
#include "oshmem/mca/memheap/memheap.h"

#define SLAB_MEMORY_BYTES (GBA_SCOLL_SLABS * GBA_SCOLL_SLAB_SLOTS * 2 * sizeof(uint64_t))

/* Why there is no slab. The numbers travel between members. */
static const char *const why_texts[] = {
    [GBA_SCOLL_WHY_NONE] = "",
    [GBA_SCOLL_WHY_ASKED] = "signals is \"pml\"",
    [GBA_SCOLL_WHY_NETWORK] = "there is no RDMA device",
    [GBA_SCOLL_WHY_ATOMIC] = "the atomic component is not ucx",
    [GBA_SCOLL_WHY_KEYS] = "memheap_base_key_exchange is 0",
    [GBA_SCOLL_WHY_MEMORY] = "no private symmetric memory is free",
    [GBA_SCOLL_WHY_ADDRESS] = "the private symmetric memory has different addresses",
    [GBA_SCOLL_WHY_EARLY] = "the set of all PEs has not agreed on a path yet",
    [GBA_SCOLL_WHY_SLABS] = "no signal slab is free on all members",
    [GBA_SCOLL_WHY_SLOTS] = "more signals than a signal slab has slots",
    [GBA_SCOLL_WHY_RENEGOTIATION] = "the signal slab was in use during the renegotiation",
};

static bool keys_exchanged(void)
{
    int index = mca_base_var_find("oshmem", "memheap", "base", "key_exchange");
    const int *value = NULL;

    return index < 0 || OPAL_SUCCESS != mca_base_var_get_value(index, &value, NULL, NULL) ||
           value == NULL || 0 != *value;
}

/*
 * Whether a network device of this host can write to memory by itself. Without one UCX makes
 * atomics of messages, and one of our messages takes half the time or less: see README.md.
 */
static bool network_rdma(void)
{
    DIR *devices = opendir("/sys/class/infiniband");
    const struct dirent *entry;
    bool found = false;

    if (devices == NULL)
        return false;
    while (!found && (entry = readdir(devices)) != NULL)
        found = '.' != entry->d_name[0];
    closedir(devices);
    return found;
}

/*
 * Why this PE cannot use symmetric memory. The atomic component basic makes atomics of puts and
 * gets under a lock, and waits for the peer. The guarantees of other components are not known. UCX
 * dereferences a null pointer if it has no key of the memory of a PE.
 */
static enum gba_scoll_why why_not(void)
{
    const opal_class_t *class = mca_atomic.super.obj_class;

    if (GBA_SCOLL_TRANSPORT_PML == gba_common.own.signals)
        return GBA_SCOLL_WHY_ASKED;
    if (class == NULL || 0 != strcmp(class->cls_name, "mca_atomic_ucx_module_t"))
        return GBA_SCOLL_WHY_ATOMIC;
    if (GBA_SCOLL_TRANSPORT_AUTO == gba_common.own.signals && !network_rdma())
        return GBA_SCOLL_WHY_NETWORK;
    return keys_exchanged() ? GBA_SCOLL_WHY_NONE : GBA_SCOLL_WHY_KEYS;
}

/* Agree on the reason of the first member that has one, if any. why, pe: those of this member.
 * Collective. */
static gba_status_t reason_agree(gba_scoll_module_t *module, enum gba_scoll_why *why, uint32_t *pe)
{
    uint64_t word = GBA_SCOLL_WHY_NONE == *why ? UINT64_MAX : (uint64_t)*pe << 32 | (uint32_t)*why;
    gba_status_t status = gba_common_min(&module->base, &word, 1);

    *why = UINT64_MAX == word ? GBA_SCOLL_WHY_NONE : (enum gba_scoll_why)(uint32_t)word;
    *pe = (uint32_t)(word >> 32);
    return status;
}

/* Allocate the memory, and learn whether all members have it at the address of the leader.
 * Collective. */
static gba_status_t slab_memory_allocate(gba_scoll_module_t *module, void **memory,
                                         enum gba_scoll_why *why, uint32_t *pe)
{
    uint64_t address;
    gba_status_t status;

    if (OSHMEM_SUCCESS != MCA_MEMHEAP_CALL(private_alloc(SLAB_MEMORY_BYTES, memory)))
        *memory = NULL;
    address = 0 == module->base.rank ? (uintptr_t)*memory : UINT64_MAX;
    status = gba_common_min(&module->base, &address, 1);
    *pe = (uint32_t)module->set->my_pe;
    if (*memory == NULL)
        *why = GBA_SCOLL_WHY_MEMORY;
    else if (address != (uintptr_t)*memory)
        *why = GBA_SCOLL_WHY_ADDRESS;
    return GBA_OK == status ? reason_agree(module, why, pe) : status;
}

/* The set of all PEs: allocate the memory, if all can. Once in the life of the job. Collective. */
static gba_status_t slab_memory_agree(gba_scoll_module_t *module)
{
    struct gba_scoll_slab_memory *slab_memory = &gba_scoll->slab_memory;
    enum gba_scoll_why why = why_not();
    uint32_t pe = (uint32_t)module->set->my_pe;
    gba_status_t status = reason_agree(module, &why, &pe);
    void *memory = NULL;

    if (GBA_OK == status && GBA_SCOLL_WHY_NONE == why)
        status = slab_memory_allocate(module, &memory, &why, &pe);
    if (GBA_OK == status) {
        slab_memory->why = why;
        slab_memory->pe = pe;
        slab_memory->tried = true;
    }
    if (GBA_OK == status && GBA_SCOLL_WHY_NONE == why)
        slab_memory->words = memory;
    else if (memory != NULL)
        (void)MCA_MEMHEAP_CALL(private_free(memory));
    return status;
}

/* Reserve all free slabs; slabs_give releases some. */
static uint64_t slabs_take(void)
{
    struct gba_scoll_slab_memory *slab_memory = &gba_scoll->slab_memory;
    uint64_t all = gba_common.own.signal_rows >= GBA_SCOLL_SLABS
                       ? UINT64_MAX
                       : (UINT64_C(1) << gba_common.own.signal_rows) - 1;
    uint64_t slabs;

    opal_mutex_lock(&gba_common.lock);
    slabs = slab_memory->words == NULL ? 0 : all & ~slab_memory->taken;
    slab_memory->taken |= slabs;
    opal_mutex_unlock(&gba_common.lock);
    return slabs;
}

static void slabs_give(uint64_t slabs)
{
    opal_mutex_lock(&gba_common.lock);
    gba_scoll->slab_memory.taken &= ~slabs;
    opal_mutex_unlock(&gba_common.lock);
}

/*
 * Choose the lowest slab that all members offer; *bit is 0 if there is none. Each proposes its
 * lowest one; while the proposals differ, its lowest one that is not below the highest proposal.
 * offered: the slabs that this member offers. Collective.
 */
static gba_status_t slab_choose(gba_scoll_module_t *module, uint64_t offered, uint64_t *bit)
{
    uint64_t least, most = 0, words[2];
    gba_status_t status;

    do {
        offered &= GBA_SCOLL_SLABS == most ? 0 : UINT64_MAX << most;
        words[0] = 0 == offered ? GBA_SCOLL_SLABS : (uint64_t)__builtin_ctzll(offered);
        words[1] = ~words[0];
        status = gba_common_min(&module->base, words, 2);
        least = words[0];
        most = ~words[1];
    } while (GBA_OK == status && least != most);
    *bit = GBA_OK == status && GBA_SCOLL_SLABS != most ? UINT64_C(1) << most : 0;
    return status;
}

gba_status_t gba_scoll_slab_agree(gba_scoll_module_t *module)
{
    struct gba_scoll_slab_memory *slab_memory = &gba_scoll->slab_memory;
    struct gba_scoll_slab *slab = &module->slab;
    gba_status_t status = GBA_OK;
    uint64_t offered;

    gba_scoll_slab_close(module); /* the slab of a team that recovers */
    if (module->set == oshmem_group_all && !slab_memory->tried)
        status = slab_memory_agree(module);
    if (GBA_OK != status)
        return status;
    slab->why = slab_memory->tried ? slab_memory->why : GBA_SCOLL_WHY_EARLY;
    slab->pe = slab_memory->tried ? slab_memory->pe : (uint32_t)module->set->my_pe;
    status = reason_agree(module, &slab->why, &slab->pe);
    if (GBA_OK != status || GBA_SCOLL_WHY_NONE != slab->why)
        return status;
    offered = slabs_take();
    status = slab_choose(module, offered, &slab->bit);
    slabs_give(offered & ~slab->bit);
    if (GBA_OK == status && 0 == slab->bit)
        slab->why = GBA_SCOLL_WHY_SLABS;
    return status;
}

uint64_t *gba_scoll_slab_words(const struct gba_scoll_slab *slab)
{
    return gba_scoll->slab_memory.words +
           (size_t)__builtin_ctzll(slab->bit) * GBA_SCOLL_SLAB_SLOTS * 2;
}

void gba_scoll_slab_settle(gba_scoll_module_t *module, gba_path_t path)
{
    struct gba_scoll_slab *slab = &module->slab;

    /* All members are in an agreement, so no member reads the slab any more. */
    if (slab->transport == NULL) {
        slabs_give(slab->kept ? 0 : slab->bit);
        slab->bit = 0;
        slab->pulled = slab->kept = false;
    }
    if (GBA_PATH_SOFTWARE != path ||
        (slab->transport == NULL && GBA_SCOLL_CARRIER_SPML == slab->carrier))
        slab->carrier = GBA_SCOLL_CARRIER_NONE;
    else if (slab->transport != NULL) /* a renegotiation without a group may have set another one */
        slab->carrier = GBA_SCOLL_CARRIER_SPML;
}

void gba_scoll_slab_close(gba_scoll_module_t *module)
{
    if (!module->slab.pulled && !module->slab.kept)
        slabs_give(module->slab.bit);
    memset(&module->slab, 0, sizeof module->slab);
}

void gba_scoll_slab_memory_close(void)
{
    struct gba_scoll_slab_memory *slab_memory = &gba_scoll->slab_memory;

    if (slab_memory->words != NULL)
        (void)MCA_MEMHEAP_CALL(private_free(slab_memory->words));
    memset(slab_memory, 0, sizeof *slab_memory);
}

void gba_scoll_slab_describe(const struct gba_scoll_slab *slab, char *text, size_t len)
{
    char member[96] = "";

    text[0] = '\0';
    if (GBA_SCOLL_CARRIER_SPML == slab->carrier)
        snprintf(text, len, "; signals: spml, slab %d of %d", __builtin_ctzll(slab->bit),
                 GBA_SCOLL_SLABS);
    if (GBA_SCOLL_CARRIER_PML != slab->carrier)
        return;
    /* No single member is the cause of the last reasons. */
    if (slab->why < GBA_SCOLL_WHY_SLABS)
        gba_scoll_name_pe(slab->pe, member, sizeof member);
    snprintf(text, len, "; signals: pml, %s%s%s%s", why_texts[slab->why],
             '\0' == member[0] ? "" : " (", member, '\0' == member[0] ? "" : ")");
}
