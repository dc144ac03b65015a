/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange for agreements between the members of a communicator (exchange.h). And two
 * translations that an exchange needs: members to names, and statuses to Open MPI's errors.
 */
#include "ompi/mca/coll/gba_barrier/coll_gba_barrier.h"

#include <string.h>

#include "opal/runtime/opal_progress.h"

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

gba_status_t gba_coll_fallback(void *owner)
{
    return OMPI_SUCCESS == gba_coll_fallback_barrier(owner) ? GBA_OK : GBA_ERR_OOB;
}

void gba_coll_name_member(ompi_communicator_t *comm, uint32_t rank, char *text, size_t len)
{
    opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, (int)rank);
    char host[OPAL_MAXHOSTNAMELEN];

    gba_compat_host(&name, host, sizeof host);
    snprintf(text, len, "rank %u on %s", (unsigned)rank, host);
}

gba_status_t gba_coll_oob_open(gba_coll_module_t *module)
{
    if (NULL == module->messages)
        module->messages = gba_coll_messages_open(module->comm);
    return NULL == module->messages ? GBA_ERR_NOMEM : GBA_OK;
}

static gba_status_t oob_await(gba_coll_module_t *module)
{
    struct gba_coll_exchange *x = gba_coll_messages_exchange(module->messages);
    gba_status_t status;

    while (GBA_INPROGRESS == (status = gba_coll_exchange_test(x)))
        if (module->agreeing)
            gba_coll_iagree_yield(module->iagree);
        else
            (void)opal_progress();
    return status;
}

static gba_status_t oob_min(void *ctx, uint64_t *words, uint32_t count)
{
    gba_coll_module_t *module = ctx;
    gba_status_t status =
        gba_coll_exchange_min(gba_coll_messages_exchange(module->messages), words, count);

    return GBA_OK == status ? oob_await(module) : status;
}

static gba_status_t oob_allgather(void *ctx, const void *in, void *out, size_t bytes)
{
    gba_coll_module_t *module = ctx;
    gba_status_t status =
        gba_coll_exchange_allgather(gba_coll_messages_exchange(module->messages), in, out, bytes);

    return GBA_OK == status ? oob_await(module) : status;
}

/* The operations are complete when they return. */
static gba_status_t oob_test(void *ctx)
{
    (void)ctx;
    return GBA_OK;
}

static void oob_name_member(void *ctx, uint32_t rank, char *text, size_t len)
{
    const gba_coll_module_t *module = ctx;

    gba_coll_name_member(module->comm, rank, text, len);
}

const gba_oob_t gba_coll_oob = {
    .min = oob_min, .allgather = oob_allgather, .test = oob_test, .name_member = oob_name_member};

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
