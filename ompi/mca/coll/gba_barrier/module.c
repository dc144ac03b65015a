/* SPDX-License-Identifier: BSD-3-Clause */
/* One module per communicator, and the fallback. */
#include "ompi/mca/coll/gba_barrier/module.h"
#include "ompi/mca/coll/gba_barrier/agree.h"
#include "ompi/mca/coll/gba_barrier/queue.h"
#include "ompi/mca/coll/gba_barrier/report.h"
#include "ompi/mca/common/gba/notifications.h"

#include <string.h>

/* MPI_Finalize ends communicators after its fence, so all members have completed their last round.
 * It ends them before the PML, which learns of the end of this one after this call. */
static void world_close(const gba_coll_module_t *module)
{
    if (!module->world)
        return;
    gba_common_notifications_drain();
    gba_common_notifications_stop();
}

void gba_coll_module_close(void *owner)
{
    gba_coll_module_t *module = owner;

    world_close(module);
    gba_coll_report_unagreed_end(module);
    gba_coll_ibarrier_drop(module);
    gba_coll_messages_close(module);
    module->queueing = false;
    gba_common_module_close(&module->base);
}

static void module_construct(gba_coll_module_t *module)
{
    memset((char *)module + sizeof module->super, 0, sizeof *module - sizeof module->super);
    gba_common_module_init(&module->base, module);
    module->queue_last = &module->queue;
}

#define RELEASE(module, api)                                     \
    do {                                                         \
        if ((module)->fallback.api##_module != NULL)             \
            GBA_MODULE_RELEASE((module)->fallback.api##_module); \
        (module)->fallback.api##_module = NULL;                  \
    } while (0)

static void module_destruct(gba_coll_module_t *module)
{
    gba_coll_module_close(module);
    RELEASE(module, barrier);
    RELEASE(module, ibarrier);
    RELEASE(module, barrier_init);
}

OBJ_CLASS_INSTANCE(gba_coll_module_t, mca_coll_base_module_t, module_construct, module_destruct);

#define HAS(comm, api) \
    ((comm)->c_coll->coll_##api != NULL && (comm)->c_coll->coll_##api##_module != NULL)

/* Store the communicator's function and module for one collective. */
#define SAVE(module, comm, api)                                                \
    do {                                                                       \
        (module)->fallback.api = (comm)->c_coll->coll_##api;                   \
        (module)->fallback.api##_module = (comm)->c_coll->coll_##api##_module; \
        GBA_MODULE_RETAIN((module)->fallback.api##_module);                    \
    } while (0)

/* The framework enables modules from the lowest priority up, so the current functions are below us.
 */
static int module_enable(mca_coll_base_module_t *super, ompi_communicator_t *comm)
{
    gba_coll_module_t *module = (gba_coll_module_t *)super;

    if (!HAS(comm, barrier)) {
        if (0 == ompi_comm_rank(comm))
            gba_common_print(
                false, "%s (id %u): not used, because no component below this one has a barrier",
                gba_compat_comm_name(comm), GBA_COMM_ID(comm));
        return OMPI_ERR_NOT_AVAILABLE;
    }
    module->world = comm == &ompi_mpi_comm_world.comm;
    /* MPI_COMM_WORLD agrees at once: one agreement is short against MPI_Init. */
    module->agree_after = module->world ? 0 : (unsigned)gba_coll->agree_after;
    SAVE(module, comm, barrier);
    GBA_COLL_INSTALL(comm, barrier, gba_coll_barrier, super);
    if (HAS(comm, ibarrier)) {
        SAVE(module, comm, ibarrier);
        GBA_COLL_INSTALL(comm, ibarrier, gba_coll_ibarrier, super);
    } else {
        super->coll_ibarrier = NULL; /* the framework reads it after this call */
    }
    if (HAS(comm, barrier_init)) {
        SAVE(module, comm, barrier_init);
        GBA_COLL_INSTALL(comm, barrier_init, gba_coll_barrier_init, super);
    } else {
        super->coll_barrier_init = NULL;
    }
    module->comm = comm;
    module->base.comm = comm;
    module->base.rank = (uint32_t)ompi_comm_rank(comm);
    module->base.size = (uint32_t)ompi_comm_size(comm);
    gba_common_module_open(&module->base);
    return OMPI_SUCCESS;
}

/* Called once, once per function, or never, depending on the release. */
static int module_disable(mca_coll_base_module_t *super, ompi_communicator_t *comm)
{
    gba_coll_module_t *module = (gba_coll_module_t *)super;

    if (module->fallback.barrier != NULL && comm->c_coll->coll_barrier_module == super)
        GBA_COLL_INSTALL(comm, barrier, module->fallback.barrier, module->fallback.barrier_module);
    if (module->fallback.ibarrier != NULL && comm->c_coll->coll_ibarrier_module == super)
        GBA_COLL_INSTALL(comm, ibarrier, module->fallback.ibarrier,
                         module->fallback.ibarrier_module);
    if (module->fallback.barrier_init != NULL && comm->c_coll->coll_barrier_init_module == super)
        GBA_COLL_INSTALL(comm, barrier_init, module->fallback.barrier_init,
                         module->fallback.barrier_init_module);
    world_close(module);
    /* The communicator ends. Requests keep a communicator alive, except MPI_COMM_WORLD. */
    gba_coll_ibarrier_drop(module);
    return OMPI_SUCCESS;
}

mca_coll_base_module_t *gba_coll_module_create(void)
{
    gba_coll_module_t *module = OBJ_NEW(gba_coll_module_t);

    if (module == NULL)
        return NULL;
    module->super.coll_module_enable = module_enable;
    module->super.coll_module_disable = module_disable;
    module->super.coll_barrier = gba_coll_barrier;
    module->super.coll_ibarrier = gba_coll_ibarrier;
    module->super.coll_barrier_init = gba_coll_barrier_init;
    return &module->super;
}
