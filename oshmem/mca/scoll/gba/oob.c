/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange for agreements between the members of an active set: messages between the leader and
 * each member, on Open MPI's communicator of all PEs. The collectives of the fallback are no
 * alternative, because they need symmetric memory and a pSync of their own. A communicator of the
 * set is no alternative, because only scoll/mpi makes one. An agreement takes half a dozen
 * exchanges, once in the life of a set. So a star is good enough for the 708 members that a barrier
 * group can have.
 */
#include "oshmem/mca/scoll/gba/scoll_gba.h"

#include <string.h>

/*
 * A tag is kind << 20 | log2(stride) << 15 | size: 22 bits, because PML UCX has 23. It omits the
 * first PE of the set, which is one end of each message up or down.
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

gba_status_t gba_scoll_send(const gba_scoll_module_t *module, uint32_t rank,
                            enum gba_scoll_message kind, mca_pml_base_send_mode_t mode,
                            const void *data, size_t bytes)
{
    int rc = MCA_PML_CALL(send(data, bytes, MPI_BYTE, oshmem_proc_pe_vpid(module->set, (int)rank),
                               gba_scoll_tag(module->set, kind), mode, oshmem_comm_world));

    return OMPI_SUCCESS == rc ? GBA_OK : GBA_ERR_OOB;
}

gba_status_t gba_scoll_receive(const gba_scoll_module_t *module, uint32_t rank,
                               enum gba_scoll_message kind, void *data, size_t bytes)
{
    int rc =
        MCA_PML_CALL(recv(data, bytes, MPI_BYTE, oshmem_proc_pe_vpid(module->set, (int)rank),
                          gba_scoll_tag(module->set, kind), oshmem_comm_world, MPI_STATUS_IGNORE));

    return OMPI_SUCCESS == rc ? GBA_OK : GBA_ERR_OOB;
}

static gba_status_t send_up(const gba_scoll_module_t *module, const void *data, size_t bytes)
{
    return gba_scoll_send(module, 0, GBA_SCOLL_UP, MCA_PML_BASE_SEND_STANDARD, data, bytes);
}

/* Send the leader's data to all members. */
static gba_status_t share(const gba_scoll_module_t *module, void *data, size_t bytes)
{
    gba_status_t status = GBA_OK;

    if (0 != module->base.rank)
        return gba_scoll_receive(module, 0, GBA_SCOLL_DOWN, data, bytes);
    for (uint32_t rank = 1; rank < module->base.size && GBA_OK == status; rank++)
        status =
            gba_scoll_send(module, rank, GBA_SCOLL_DOWN, MCA_PML_BASE_SEND_STANDARD, data, bytes);
    return status;
}

gba_status_t gba_scoll_combine(const gba_scoll_module_t *module, void *data, void *other,
                               size_t bytes, void (*join)(void *all, const void *other))
{
    gba_status_t status = GBA_OK;

    if (0 != module->base.rank)
        status = send_up(module, data, bytes);
    for (uint32_t rank = 1; 0 == module->base.rank && rank < module->base.size && GBA_OK == status;
         rank++) {
        status = gba_scoll_receive(module, rank, GBA_SCOLL_UP, other, bytes);
        if (GBA_OK == status)
            join(data, other);
    }
    return GBA_OK == status ? share(module, data, bytes) : status;
}

/* Words of a minimum, with their number. */
struct words {
    uint32_t count, unused;
    uint64_t word[GBA_OOB_WORDS];
};

static void join_min(void *all, const void *other)
{
    struct words *least = all;
    const struct words *theirs = other;

    for (uint32_t i = 0; i < least->count; i++)
        if (theirs->word[i] < least->word[i])
            least->word[i] = theirs->word[i];
}

static gba_status_t oob_min(void *ctx, uint64_t *words, uint32_t count)
{
    struct words mine = {.count = count}, other;
    gba_status_t status;

    memcpy(mine.word, words, count * sizeof *words);
    status = gba_scoll_combine(ctx, &mine, &other,
                               offsetof(struct words, word) + count * sizeof *words, join_min);
    memcpy(words, mine.word, count * sizeof *words);
    return status;
}

static gba_status_t oob_allgather(void *ctx, const void *in, void *out, size_t bytes)
{
    const gba_scoll_module_t *module = ctx;
    gba_status_t status = GBA_OK;

    if (0 != module->base.rank)
        status = send_up(module, in, bytes);
    else
        memcpy(out, in, bytes);
    for (uint32_t rank = 1; 0 == module->base.rank && rank < module->base.size && GBA_OK == status;
         rank++)
        status = gba_scoll_receive(module, rank, GBA_SCOLL_UP, (char *)out + rank * bytes, bytes);
    return GBA_OK == status ? share(module, out, module->base.size * bytes) : status;
}

/* The operations are complete when they return. */
static gba_status_t oob_test(void *ctx)
{
    (void)ctx;
    return GBA_OK;
}

gba_status_t gba_scoll_oob_barrier(void *ctx)
{
    uint64_t word = 0;

    return oob_min(ctx, &word, 1);
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

void gba_scoll_name_member(const oshmem_group_t *set, uint32_t rank, char *text, size_t len)
{
    opal_process_name_t name = *OMPI_PROC_MY_NAME;
    char host[OPAL_MAXHOSTNAMELEN];

    name.vpid = set->proc_vpids[rank];
    gba_compat_host(&name, host, sizeof host);
    snprintf(text, len, "PE %u on %s", (unsigned)name.vpid, host);
}

static void oob_name_member(void *ctx, uint32_t rank, char *text, size_t len)
{
    const gba_scoll_module_t *module = ctx;

    gba_scoll_name_member(module->set, rank, text, len);
}

const gba_oob_t gba_scoll_oob = {
    .min = oob_min, .allgather = oob_allgather, .test = oob_test, .name_member = oob_name_member};

int gba_scoll_oob_peer(const void *owner, uint32_t member)
{
    const gba_scoll_module_t *module = owner;

    return (int)module->set->proc_vpids[member];
}
