/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange for agreements between the members of a communicator: direct calls of the fallback's
 * collectives, which work whatever component is above ours. And two translations that an exchange
 * needs: members to names, and statuses to Open MPI's errors.
 */
#include "ompi/mca/coll/gba_barrier/coll_gba_barrier.h"

#include <limits.h>

int gba_coll_fallback_barrier(gba_coll_module_t *module)
{
    struct gba_coll_fallback *fallback = &module->fallback;
    mca_coll_base_comm_coll_t *now = module->comm->c_coll;
    mca_coll_base_module_barrier_fn_t barrier = now->coll_barrier;
    mca_coll_base_module_t *barrier_module = now->coll_barrier_module;
    int rc;

    /*
     * The fallback is in the place that it would have without us, because it may give up and call
     * what it finds there. coll/han of 4.1 does so: it restores what it has saved itself if it
     * finds itself, and calls what is there then, even ours, with another component's module.
     * Afterwards we use what it leaves, as the communicator would. The references are right: the
     * fallback retains the module that it installs and releases its own, and meanwhile that place
     * is ours.
     */
    now->coll_barrier = fallback->barrier;
    now->coll_barrier_module = fallback->barrier_module;
    rc = fallback->barrier(module->comm, fallback->barrier_module);
    fallback->barrier = now->coll_barrier;
    fallback->barrier_module = now->coll_barrier_module;
    now->coll_barrier = barrier;
    now->coll_barrier_module = barrier_module;
    return rc;
}

void gba_coll_name_member(ompi_communicator_t *comm, uint32_t rank, char *text, size_t len)
{
    opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, (int)rank);
    char host[OPAL_MAXHOSTNAMELEN];

    gba_compat_host(&name, host, sizeof host);
    snprintf(text, len, "rank %u on %s", (unsigned)rank, host);
}

static gba_status_t oob_status(int rc)
{
    return OMPI_SUCCESS == rc ? GBA_OK : GBA_ERR_OOB;
}

static gba_status_t oob_bcast(void *ctx, void *buffer, size_t bytes, uint32_t root)
{
    const gba_coll_module_t *m = ctx;

    if (bytes > INT_MAX) /* counts are int up to Open MPI 5.0 */
        return GBA_ERR_OOB;
    return oob_status(m->fallback.bcast(buffer, (int)bytes, MPI_BYTE, (int)root, m->comm,
                                        m->fallback.bcast_module));
}

static gba_status_t oob_allreduce_min(void *ctx, int64_t mine, int64_t *least)
{
    const gba_coll_module_t *m = ctx;

    return oob_status(m->fallback.allreduce(&mine, least, 1, MPI_INT64_T, MPI_MIN, m->comm,
                                            m->fallback.allreduce_module));
}

static gba_status_t oob_allgather(void *ctx, const void *in, void *out, size_t bytes)
{
    const gba_coll_module_t *m = ctx;

    if (bytes > INT_MAX)
        return GBA_ERR_OOB;
    return oob_status(m->fallback.allgather(in, (int)bytes, MPI_BYTE, out, (int)bytes, MPI_BYTE,
                                            m->comm, m->fallback.allgather_module));
}

static gba_status_t oob_barrier(void *ctx)
{
    return oob_status(gba_coll_fallback_barrier(ctx));
}

static void oob_name_member(void *ctx, uint32_t rank, char *text, size_t len)
{
    const gba_coll_module_t *module = ctx;

    gba_coll_name_member(module->comm, rank, text, len);
}

const gba_oob_t gba_coll_oob = {.bcast = oob_bcast,
                                .allreduce_min = oob_allreduce_min,
                                .allgather = oob_allgather,
                                .barrier = oob_barrier,
                                .name_member = oob_name_member};

int gba_coll_oob_peer(const void *owner, uint32_t member)
{
    const gba_coll_module_t *module = owner;

    return (int)ompi_group_get_proc_name(module->comm->c_local_group, (int)member).vpid;
}

int gba_coll_error(gba_status_t status)
{
    switch (status) {
    case GBA_OK:
        return OMPI_SUCCESS;
    case GBA_ERR_NOMEM:
        return OMPI_ERR_OUT_OF_RESOURCE;
    case GBA_ERR_PARAM:
        return OMPI_ERR_BAD_PARAM;
    default:
        return OMPI_ERROR;
    }
}
