/* SPDX-License-Identifier: BSD-3-Clause */
/* One module per communicator, and the fallback. */
#include "ompi/mca/coll/gba_barrier/module.h"
#include "ompi/mca/coll/gba_barrier/agree.h"
#include "ompi/mca/coll/gba_barrier/queue.h"
#include "ompi/mca/common/gba/notifications.h"
#include "ompi/mca/common/gba/report.h"

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

/* Whether the communicator has a function for one collective, and its module. */
#define HAS(comm, api) \
    ((comm)->c_coll->coll_##api != NULL && (comm)->c_coll->coll_##api##_module != NULL)

/* Store these, and install our own. Without them provide none: the framework reads our function
 * after enable. */
#define TAKE(module, comm, api)                                                        \
    do {                                                                               \
        if (HAS(comm, api)) {                                                          \
            (module)->fallback.api = (comm)->c_coll->coll_##api;                       \
            (module)->fallback.api##_module = (comm)->c_coll->coll_##api##_module;     \
            GBA_MODULE_RETAIN((module)->fallback.api##_module);                        \
            GBA_COLL_INSTALL(comm, api, (module)->super.coll_##api, &(module)->super); \
        } else {                                                                       \
            (module)->super.coll_##api = NULL;                                         \
        }                                                                              \
    } while (0)

#define RESTORE(module, comm, api)                                                                \
    do {                                                                                          \
        if ((module)->fallback.api != NULL &&                                                     \
            (comm)->c_coll->coll_##api##_module == &(module)->super)                              \
            GBA_COLL_INSTALL(comm, api, (module)->fallback.api, (module)->fallback.api##_module); \
    } while (0)

/* The framework enables modules from the lowest priority up, so the current functions are below us.
 */
static int module_enable(mca_coll_base_module_t *super, ompi_communicator_t *comm)
{
    gba_coll_module_t *module = (gba_coll_module_t *)super;
    char name[MPI_MAX_OBJECT_NAME];

    if (!HAS(comm, barrier)) {
        if (0 == ompi_comm_rank(comm))
            gba_common_print(
                false, "%s (id %u): not used, because no component below this one has a barrier",
                gba_compat_comm_name(comm, name), GBA_COMM_ID(comm));
        return OMPI_ERR_NOT_AVAILABLE;
    }
    module->world = comm == &ompi_mpi_comm_world.comm;
    /* MPI_COMM_WORLD agrees at once: one agreement is short against MPI_Init. */
    module->agree_after = module->world ? 0 : (unsigned)gba_common.own.agree_after;
    TAKE(module, comm, barrier);
    TAKE(module, comm, ibarrier);
    TAKE(module, comm, barrier_init);
    module->comm = comm;
    module->base.comm = comm;
    module->base.size = gba_coll_size(comm);
    module->base.rank = (uint32_t)ompi_comm_rank(comm);
    if (OMPI_COMM_IS_INTER(comm)) {
        module->base.agreed = true; /* on the fallback */
        if (gba_coll_first_group(comm) != comm->c_local_group)
            module->base.rank += (uint32_t)ompi_comm_remote_size(comm);
    }
    gba_common_module_open(&module->base);
    return OMPI_SUCCESS;
}

/* Called once, once per function, or never, depending on the release. */
static int module_disable(mca_coll_base_module_t *super, ompi_communicator_t *comm)
{
    gba_coll_module_t *module = (gba_coll_module_t *)super;

    RESTORE(module, comm, barrier);
    RESTORE(module, comm, ibarrier);
    RESTORE(module, comm, barrier_init);
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
