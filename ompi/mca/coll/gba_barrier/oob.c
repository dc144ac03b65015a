/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange for agreements between the members of a communicator: direct calls of the fallback's
 * collectives, which work whatever component is above ours. And two translations that an exchange
 * needs: members to names, and statuses to Open MPI's errors.
 */
#include "ompi/mca/coll/gba_barrier/coll_gba_barrier.h"

#include <limits.h>

static gba_status_t oob_status(int rc)
{
    return OMPI_SUCCESS == rc ? GBA_OK : GBA_ERR_OOB;
}

static gba_status_t oob_bcast(void *ctx, void *buffer, size_t bytes, uint32_t root)
{
    const struct gba_coll_oob_ctx *c = ctx;

    if (bytes > INT_MAX) /* counts are int up to Open MPI 5.0 */
        return GBA_ERR_OOB;
    return oob_status(c->fallback->bcast(buffer, (int)bytes, MPI_BYTE, (int)root, c->comm,
                                         c->fallback->bcast_module));
}

static gba_status_t oob_allreduce_min(void *ctx, int64_t mine, int64_t *least)
{
    const struct gba_coll_oob_ctx *c = ctx;

    return oob_status(c->fallback->allreduce(&mine, least, 1, MPI_INT64_T, MPI_MIN, c->comm,
                                             c->fallback->allreduce_module));
}

static gba_status_t oob_allgather(void *ctx, const void *in, void *out, size_t bytes)
{
    const struct gba_coll_oob_ctx *c = ctx;

    if (bytes > INT_MAX)
        return GBA_ERR_OOB;
    return oob_status(c->fallback->allgather(in, (int)bytes, MPI_BYTE, out, (int)bytes, MPI_BYTE,
                                             c->comm, c->fallback->allgather_module));
}

static gba_status_t oob_barrier(void *ctx)
{
    const struct gba_coll_oob_ctx *c = ctx;

    return oob_status(gba_coll_fallback_barrier(c->comm, c->fallback));
}

void gba_coll_name_member(ompi_communicator_t *comm, uint32_t rank, char *text, size_t len)
{
    opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, (int)rank);
    char host[OPAL_MAXHOSTNAMELEN];

    gba_compat_host(&name, host, sizeof host);
    snprintf(text, len, "rank %u on %s", (unsigned)rank, host);
}

static void oob_name_member(void *ctx, uint32_t rank, char *text, size_t len)
{
    const struct gba_coll_oob_ctx *c = ctx;

    gba_coll_name_member(c->comm, rank, text, len);
}

void gba_coll_oob_init(gba_oob_t *oob, struct gba_coll_oob_ctx *ctx, ompi_communicator_t *comm,
                       struct gba_coll_fallback *fallback)
{
    ctx->comm = comm;
    ctx->fallback = fallback;
    oob->ctx = ctx;
    oob->rank = (uint32_t)ompi_comm_rank(comm);
    oob->size = (uint32_t)ompi_comm_size(comm);
    oob->bcast = oob_bcast;
    oob->allreduce_min = oob_allreduce_min;
    oob->allgather = oob_allgather;
    oob->barrier = oob_barrier;
    oob->name_member = oob_name_member;
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
