/* SPDX-License-Identifier: BSD-3-Clause */
/* An active set: the tags and the ways of its messages, and its names and those of its members. */
#include "oshmem/mca/scoll/gba/scoll_gba.h"

#include <string.h>

/*
 * A tag is kind << 20 | log2(stride) << 15 | size: 22 bits, because PML UCX has 23. It omits the
 * first PE of the set, which is one end of each message up or down; see GBA_SCOLL_CHANNEL_TAG for
 * the others. A set has two members or more, so no tag is 0, which Open MPI uses.
 */
#define TAG_SIZE_BITS   15
#define TAG_STRIDE_BITS 5

int gba_scoll_tag(const oshmem_group_t *set, enum gba_scoll_message kind)
{
    uint32_t size = (uint32_t)set->proc_count, stride, log = 0;
    int tag;

    stride = size < 2 ? 1 : set->proc_vpids[1] - set->proc_vpids[0];
    while ((UINT32_C(1) << log) < stride && log < (1 << TAG_STRIDE_BITS) - 1)
        log++;
    if ((UINT32_C(1) << log) != stride || size >= 1 << TAG_SIZE_BITS)
        return -1;
    tag = (int)((uint32_t)kind << (TAG_SIZE_BITS + TAG_STRIDE_BITS) | log << TAG_SIZE_BITS | size);
    return tag <= mca_pml.pml_max_tag ? tag : -1;
}

void gba_scoll_messages(const gba_scoll_module_t *module, enum gba_scoll_message kind,
                        struct gba_common_messages *messages)
{
    const oshmem_group_t *set = module->set;
    const bool own = 0 != (module->channels & GBA_SCOLL_CHANNEL_COMM);

    *messages = (struct gba_common_messages){.comm = own ? set->ompi_comm : oshmem_comm_world,
                                             .tag = {gba_scoll_tag(set, kind)},
                                             .ranks = own ? NULL : set->proc_vpids};
}

int gba_scoll_peer(const void *owner, uint32_t member)
{
    const gba_scoll_module_t *module = owner;

    return (int)module->set->proc_vpids[member];
}

void gba_scoll_name_set(const oshmem_group_t *set, char *text, size_t len)
{
    int count = set->proc_count, first, second;

    if (set == oshmem_group_all) {
        snprintf(text, len, "all %d PEs", count);
        return;
    }
    first = (int)set->proc_vpids[0];
    second = (int)set->proc_vpids[1]; /* the component declines sets of one PE */
    if (2 == count)
        snprintf(text, len, "2 PEs (%d and %d)", first, second);
    else if (1 == second - first)
        snprintf(text, len, "%d PEs (%d to %d)", count, first, (int)set->proc_vpids[count - 1]);
    else
        snprintf(text, len, "%d PEs (%d to %d, stride %d)", count, first,
                 (int)set->proc_vpids[count - 1], second - first);
}

void gba_scoll_name(void *owner, char *text, size_t len)
{
    gba_scoll_name_set(((const gba_scoll_module_t *)owner)->set, text, len);
}

uint64_t gba_scoll_id(const void *owner)
{
    const gba_scoll_module_t *module = owner;
    uint64_t id = GBA_COMMON_IDS_SCOLL;

    for (int i = 0; i < module->set->proc_count; i++)
        id = id * UINT64_C(0x100000001b3) + module->set->proc_vpids[i];
    return id;
}

void gba_scoll_name_pe(uint32_t pe, char *text, size_t len)
{
    opal_process_name_t name = *OMPI_PROC_MY_NAME;
    char host[OPAL_MAXHOSTNAMELEN];

    name.vpid = pe;
    gba_compat_host(&name, host, sizeof host);
    snprintf(text, len, "PE %u on %s", pe, host);
}

void gba_scoll_name_member(void *owner, uint32_t rank, char *text, size_t len)
{
    gba_scoll_name_pe((uint32_t)gba_scoll_peer(owner, rank), text, len);
}
