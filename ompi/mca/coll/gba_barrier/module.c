/* SPDX-License-Identifier: BSD-3-Clause */
/* One module per communicator: the fallback, and the counts. */
#include "ompi/mca/coll/gba_barrier/coll_gba_barrier.h"

#include <string.h>

static void counts_add(struct gba_common_counts *sum, const gba_coll_module_t *module)
{
    sum->barriers[GBA_PATH_FALLBACK] += module->fallbacks;
    if (GBA_OK != module->declined)
        sum->refused[-module->declined]++;
    gba_common_counts_add(sum, module->team, module->path, &module->tally);
}

void gba_coll_counts_sum(struct gba_common_counts *sum)
{
    opal_mutex_lock(&gba_coll->lock);
    *sum = gba_coll->retired;
    for (const gba_coll_module_t *module = gba_coll->modules; NULL != module; module = module->next)
        counts_add(sum, module);
    opal_mutex_unlock(&gba_coll->lock);
}

void gba_coll_module_activate(gba_coll_module_t *module)
{
    bool fast = GBA_PATH_FALLBACK != module->path && NULL == module->queue && 0 == gba_coll->sample;

    /* Release: pairs with the acquire in gba_coll_barrier, in a thread that did not run the team's
     * last nonblocking barrier. */
    gba_pointer_store_release(&module->active, fast ? module->team : NULL);
}

static void waits_add(struct gba_coll_waits *sum, const struct gba_coll_waits *waits)
{
    sum->sampled += waits->sampled;
    sum->ns += waits->ns;
    if (sum->max_ns < waits->max_ns)
        sum->max_ns = waits->max_ns;
}

void gba_coll_waits_sum(struct gba_coll_waits *sum)
{
    opal_mutex_lock(&gba_coll->lock);
    *sum = gba_coll->retired_waits;
    for (const gba_coll_module_t *module = gba_coll->modules; NULL != module; module = module->next)
        waits_add(sum, &module->waits);
    opal_mutex_unlock(&gba_coll->lock);
}

bool gba_coll_counts_of(const ompi_communicator_t *comm, struct gba_common_counts *counts,
                        struct gba_coll_waits *waits, gba_path_t *path)
{
    const gba_coll_module_t *module;

    opal_mutex_lock(&gba_coll->lock);
    for (module = gba_coll->modules; NULL != module && comm != module->comm; module = module->next)
        ;
    if (NULL != module) {
        memset(counts, 0, sizeof *counts);
        counts_add(counts, module);
        *waits = module->waits;
        *path = module->path;
    }
    opal_mutex_unlock(&gba_coll->lock);
    return NULL != module;
}

/* Leave the team and the list. Sends nothing, because MPI_Comm_free does not synchronise. */
static void module_close(gba_coll_module_t *module)
{
    if (module->world)
        gba_coll_notifications_stop();
    opal_mutex_lock(&gba_coll->lock);
    if (NULL != module->link) {
        counts_add(&gba_coll->retired, module);
        waits_add(&gba_coll->retired_waits, &module->waits);
        *module->link = module->next;
        if (NULL != module->next)
            module->next->link = module->link;
        module->link = NULL;
    }
    opal_mutex_unlock(&gba_coll->lock);
    gba_coll_report_unagreed_end(module);
    gba_coll_ibarrier_drop(module);
    gba_team_destroy(module->team);
    module->team = NULL;
    module->path = GBA_PATH_FALLBACK;
    gba_pointer_store_release(&module->active, NULL);
    module->agreed = true; /* later calls use the fallback barrier */
}

void gba_coll_modules_close(void)
{
    while (NULL != gba_coll->modules)
        module_close(gba_coll->modules);
}

static void module_construct(gba_coll_module_t *module)
{
    memset((char *)module + sizeof module->super, 0, sizeof *module - sizeof module->super);
    module->path = GBA_PATH_FALLBACK;
    module->queue_last = &module->queue;
}

#define RELEASE(module, api)                                     \
    do {                                                         \
        if (NULL != (module)->fallback.api##_module)             \
            GBA_MODULE_RELEASE((module)->fallback.api##_module); \
        (module)->fallback.api##_module = NULL;                  \
    } while (0)

static void module_destruct(gba_coll_module_t *module)
{
    module_close(module);
    RELEASE(module, barrier);
    RELEASE(module, bcast);
    RELEASE(module, allreduce);
    RELEASE(module, allgather);
    RELEASE(module, ibarrier);
    RELEASE(module, barrier_init);
}

OBJ_CLASS_INSTANCE(gba_coll_module_t, mca_coll_base_module_t, module_construct, module_destruct);

#define HAS(comm, api) \
    (NULL != (comm)->c_coll->coll_##api && NULL != (comm)->c_coll->coll_##api##_module)

/* Store the communicator's function and module for one collective. */
#define SAVE(module, comm, api)                                                \
    do {                                                                       \
        (module)->fallback.api = (comm)->c_coll->coll_##api;                   \
        (module)->fallback.api##_module = (comm)->c_coll->coll_##api##_module; \
        GBA_MODULE_RETAIN((module)->fallback.api##_module);                    \
    } while (0)

int gba_coll_fallback_barrier(ompi_communicator_t *comm, struct gba_coll_fallback *fallback)
{
    mca_coll_base_comm_coll_t *now = comm->c_coll;
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
    rc = fallback->barrier(comm, fallback->barrier_module);
    fallback->barrier = now->coll_barrier;
    fallback->barrier_module = now->coll_barrier_module;
    now->coll_barrier = barrier;
    now->coll_barrier_module = barrier_module;
    return rc;
}

/* The framework enables modules from the lowest priority up, so the current functions are below us.
 */
static int module_enable(mca_coll_base_module_t *super, ompi_communicator_t *comm)
{
    gba_coll_module_t *module = (gba_coll_module_t *)super;

    if (!HAS(comm, barrier) || !HAS(comm, bcast) || !HAS(comm, allreduce) ||
        !HAS(comm, allgather)) {
        if (0 == ompi_comm_rank(comm))
            opal_output_verbose(
                1, gba_coll->output,
                "coll gba_barrier: %s (id %u): not used, because no component below this "
                "one has all of barrier, bcast, allreduce and allgather",
                gba_compat_comm_name(comm), GBA_COMM_ID(comm));
        return OMPI_ERR_NOT_AVAILABLE;
    }
    module->world = comm == &ompi_mpi_comm_world.comm;
    SAVE(module, comm, barrier);
    SAVE(module, comm, bcast);
    SAVE(module, comm, allreduce);
    SAVE(module, comm, allgather);
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
    opal_mutex_lock(&gba_coll->lock);
    module->next = gba_coll->modules;
    module->link = &gba_coll->modules;
    if (NULL != module->next)
        module->next->link = &module->next;
    gba_coll->modules = module;
    opal_mutex_unlock(&gba_coll->lock);
    return OMPI_SUCCESS;
}

/* Called once, once per function, or never, depending on the release. */
static int module_disable(mca_coll_base_module_t *super, ompi_communicator_t *comm)
{
    gba_coll_module_t *module = (gba_coll_module_t *)super;

    if (NULL != module->fallback.barrier && comm->c_coll->coll_barrier_module == super)
        GBA_COLL_INSTALL(comm, barrier, module->fallback.barrier, module->fallback.barrier_module);
    if (NULL != module->fallback.ibarrier && comm->c_coll->coll_ibarrier_module == super)
        GBA_COLL_INSTALL(comm, ibarrier, module->fallback.ibarrier,
                         module->fallback.ibarrier_module);
    if (NULL != module->fallback.barrier_init && comm->c_coll->coll_barrier_init_module == super)
        GBA_COLL_INSTALL(comm, barrier_init, module->fallback.barrier_init,
                         module->fallback.barrier_init_module);
    if (module->world)
        gba_coll_notifications_stop();
    /* The communicator ends. Requests keep a communicator alive, except MPI_COMM_WORLD. */
    gba_coll_ibarrier_drop(module);
    return OMPI_SUCCESS;
}

mca_coll_base_module_t *gba_coll_module_create(void)
{
    gba_coll_module_t *module = OBJ_NEW(gba_coll_module_t);

    if (NULL == module)
        return NULL;
    module->super.coll_module_enable = module_enable;
    module->super.coll_module_disable = module_disable;
    module->super.coll_barrier = gba_coll_barrier;
    module->super.coll_ibarrier = gba_coll_ibarrier;
    module->super.coll_barrier_init = gba_coll_barrier_init;
    return &module->super;
}
