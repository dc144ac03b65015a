/* SPDX-License-Identifier: BSD-3-Clause */
/* One module per communicator: what was selected before us, and what we count. */
#include "ompi/mca/coll/gba_barrier/coll_gba_barrier.h"

#include <string.h>

static void counts_add(struct gba_common_counts *sum, const gba_coll_module_t *module)
{
    sum->barriers[GBA_PATH_CALLER] += module->fallbacks;
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
    bool fast = GBA_PATH_CALLER != module->path && NULL == module->queue && 0 == gba_coll->sample;

    /* Release: pairs with the acquire in gba_coll_barrier, of a thread that did not do the last
     * nonblocking barrier of the team. */
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

/* Leave the team and the list. Sends nothing: MPI_Comm_free does not synchronise. */
static void module_close(gba_coll_module_t *module)
{
    if (module->world)
        gba_coll_notices_stop();
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
    gba_coll_ibarrier_drop(module);
    gba_team_destroy(module->team);
    module->team = NULL;
    module->path = GBA_PATH_CALLER;
    gba_pointer_store_release(&module->active, NULL);
    module->agreed = true; /* on the saved barrier, should anybody still call us */
}

void gba_coll_modules_close(void)
{
    while (NULL != gba_coll->modules)
        module_close(gba_coll->modules);
}

static void module_construct(gba_coll_module_t *module)
{
    memset((char *)module + sizeof module->super, 0, sizeof *module - sizeof module->super);
    module->path = GBA_PATH_CALLER;
    module->queue_last = &module->queue;
}

#define RELEASE(module, api)                                  \
    do {                                                      \
        if (NULL != (module)->saved.api##_module)             \
            GBA_MODULE_RELEASE((module)->saved.api##_module); \
        (module)->saved.api##_module = NULL;                  \
    } while (0)

static void module_destruct(gba_coll_module_t *module)
{
    module_close(module);
    RELEASE(module, barrier);
    RELEASE(module, bcast);
    RELEASE(module, allreduce);
    RELEASE(module, allgather);
    RELEASE(module, ibarrier);
}

OBJ_CLASS_INSTANCE(gba_coll_module_t, mca_coll_base_module_t, module_construct, module_destruct);

#define HAS(comm, api) \
    (NULL != (comm)->c_coll->coll_##api && NULL != (comm)->c_coll->coll_##api##_module)

/* Remember what the communicator has for one collective. */
#define SAVE(module, comm, api)                                             \
    do {                                                                    \
        (module)->saved.api = (comm)->c_coll->coll_##api;                   \
        (module)->saved.api##_module = (comm)->c_coll->coll_##api##_module; \
        GBA_MODULE_RETAIN((module)->saved.api##_module);                    \
    } while (0)

int gba_coll_saved_barrier(ompi_communicator_t *comm, struct gba_coll_saved *saved)
{
    mca_coll_base_comm_coll_t *now = comm->c_coll;
    mca_coll_base_module_barrier_fn_t barrier = now->coll_barrier;
    mca_coll_base_module_t *barrier_module = now->coll_barrier_module;
    int rc;

    /*
     * It stands where it would without us, since it may give up and look there for what to call in
     * its place. coll/han of 4.1 does: it puts back what it has saved itself, if it finds itself,
     * and calls what is there then, even if it is us, with another component's module. We go on
     * with what it leaves, as the communicator would. The references are right: it retains the
     * module that it puts there and releases its own, and what stands there is ours meanwhile.
     */
    now->coll_barrier = saved->barrier;
    now->coll_barrier_module = saved->barrier_module;
    rc = saved->barrier(comm, saved->barrier_module);
    saved->barrier = now->coll_barrier;
    saved->barrier_module = now->coll_barrier_module;
    now->coll_barrier = barrier;
    now->coll_barrier_module = barrier_module;
    return rc;
}

/* The framework enables modules from the lowest priority up, so what is there now is below us. */
static int module_enable(mca_coll_base_module_t *super, ompi_communicator_t *comm)
{
    gba_coll_module_t *module = (gba_coll_module_t *)super;

    if (!HAS(comm, barrier) || !HAS(comm, bcast) || !HAS(comm, allreduce) ||
        !HAS(comm, allgather)) {
        if (0 == ompi_comm_rank(comm))
            opal_output_verbose(1, gba_coll->output,
                                "coll gba_barrier: %s (id %u): not used, no component below this "
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
        super->coll_ibarrier = NULL; /* the framework looks at it after this call */
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

    if (NULL != module->saved.barrier && comm->c_coll->coll_barrier_module == super)
        GBA_COLL_INSTALL(comm, barrier, module->saved.barrier, module->saved.barrier_module);
    if (NULL != module->saved.ibarrier && comm->c_coll->coll_ibarrier_module == super)
        GBA_COLL_INSTALL(comm, ibarrier, module->saved.ibarrier, module->saved.ibarrier_module);
    if (module->world)
        gba_coll_notices_stop();
    /* The communicator ends. One with requests is kept by them, but MPI_COMM_WORLD is not. */
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
    return &module->super;
}
