/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Barrier. The first one on a communicator decides, by all members together, which path this
 * and all later ones take. Not earlier: Open MPI selects modules for new communicators inside a
 * progress callback, where nothing may block.
 */
#include "ompi/mca/coll/gba_barrier/coll_gba_barrier.h"

#include "opal/runtime/opal_progress.h"

static void barrier_progress(void *arg)
{
    (void)arg;
    (void)opal_progress();
}

static int barrier_saved(gba_coll_module_t *module, ompi_communicator_t *comm)
{
    module->fallbacks++;
    return module->saved.barrier(comm, module->saved.barrier_module);
}

/* Not all members take part: no team, and no exchange, which some of them would never join. */
static void barrier_decline(gba_coll_module_t *module, ompi_communicator_t *comm,
                            gba_status_t reason, uint32_t rank, uint32_t speaker)
{
    const char *text = GBA_ERR_UNSUPPORTED == reason ? "its members belong to several jobs"
                                                     : gba_status_text(reason);
    char member[96], why[256];

    module->agreed = true;
    gba_coll_name_member(comm, rank, member, sizeof member);
    snprintf(why, sizeof why, "%s: %s (%s)", gba_path_name(GBA_PATH_CALLER), text, member);
    gba_coll_report_path(comm, speaker, reason, why);
}

/* The agreement. Returns GBA_OK when the module has a path, whichever it is. */
static gba_status_t barrier_agree(gba_coll_module_t *module, ompi_communicator_t *comm)
{
    struct gba_coll_oob_ctx ctx;
    gba_team_attr_t attr;
    gba_team_t *team;
    gba_oob_t oob;
    uint32_t rank = 0, speaker = 0;
    gba_status_t status = gba_coll_capability_check(comm, &rank, &speaker);

    if (GBA_OK != status) {
        barrier_decline(module, comm, status, rank, speaker);
        return GBA_OK;
    }
    attr.name = gba_compat_comm_name(comm);
    attr.params = &gba_coll->params;
    attr.device_status = GBA_OK;
    attr.device = gba_coll_device(&attr.device_status);
    gba_coll_oob_init(&oob, &ctx, comm, &module->saved);
    status = gba_team_create(&attr, &oob, &team);
    if (GBA_OK != status)
        return status;

    opal_mutex_lock(&gba_coll->lock); /* for a thread that reads the counters */
    module->team = team;
    module->path = gba_team_path(team);
    opal_mutex_unlock(&gba_coll->lock);
    if (GBA_PATH_CALLER != module->path)
        module->active = team;
    module->agreed = true;
    gba_coll_report_path(comm, 0, gba_team_reason(team), gba_team_why(team));
    return GBA_OK;
}

/* The device died in this round. All members come here, those too that had left the round before it
 * died: at their next barrier. */
static int barrier_recover(gba_coll_module_t *module, ompi_communicator_t *comm)
{
    struct gba_coll_oob_ctx ctx;
    gba_oob_t oob;
    bool done = false;
    gba_status_t status;

    gba_coll_oob_init(&oob, &ctx, comm, &module->saved);
    status = gba_team_recover(module->team, &oob, &done);
    module->active = NULL;
    if (GBA_OK != status)
        return gba_coll_error(status);
    gba_coll_report_path(comm, 0, gba_team_reason(module->team), gba_team_why(module->team));
    return done ? OMPI_SUCCESS : barrier_saved(module, comm);
}

static int barrier_slow(gba_coll_module_t *module, ompi_communicator_t *comm)
{
    gba_status_t status;

    if (!module->agreed) {
        status = barrier_agree(module, comm);
        if (GBA_OK != status)
            return gba_coll_error(status);
        return gba_coll_barrier(comm, &module->super);
    }
    return barrier_saved(module, comm);
}

int gba_coll_barrier(ompi_communicator_t *comm, mca_coll_base_module_t *super)
{
    gba_coll_module_t *module = (gba_coll_module_t *)super;

    if (OPAL_UNLIKELY(NULL == module->active))
        return barrier_slow(module, comm);
    if (OPAL_LIKELY(GBA_OK == gba_barrier_wait(module->active, barrier_progress, NULL)))
        return OMPI_SUCCESS;
    return barrier_recover(module, comm);
}
