/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Barrier. The first one on a communicator decides, by all members together, which path this
 * and all later ones take. Not earlier: Open MPI selects modules for new communicators inside a
 * progress callback, where nothing may block.
 */
#include "ompi/mca/coll/gba_barrier/coll_gba_barrier.h"

#include <dlfcn.h>
#include <string.h>

#include "gba/base/clock.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "opal/runtime/opal_progress.h"

static void barrier_progress(void *arg)
{
    (void)arg;
    (void)opal_progress();
}

/* Not all members take part: no team, and no exchange, which some of them would never join. */
static void barrier_decline(gba_coll_module_t *module, ompi_communicator_t *comm,
                            gba_status_t reason, uint32_t rank, uint32_t speaker)
{
    const char *text = gba_status_text(reason);
    char member[96], why[256];

    if (GBA_ERR_UNSUPPORTED == reason)
        text = "its members belong to several jobs";
    else if (GBA_ERR_MISMATCH == reason)
        text = "members differ in priority, min_comm_size or version";
    module->declined = reason;
    module->agreed = true;
    gba_coll_name_member(comm, rank, member, sizeof member);
    snprintf(why, sizeof why, "%s: %s (%s)", gba_path_name(GBA_PATH_CALLER), text, member);
    gba_coll_report_path(comm, speaker, reason, why);
}

/*
 * The communicator that Open MPI itself uses in a program of OpenSHMEM. After its barrier in
 * shmem_finalize UCX waits for all processes, and nothing else makes progress meanwhile: when the
 * device dies in that barrier, nobody who has left it could answer a notice.
 */
static bool barrier_of_shmem(const ompi_communicator_t *comm)
{
    ompi_communicator_t *const *world = dlsym(RTLD_DEFAULT, "oshmem_comm_world");

    return NULL != world && comm == *world;
}

/* That one, or one below an active set, whose members have another path, or soon will: no device.
 */
static bool barrier_for_set(const ompi_communicator_t *comm)
{
    return 0 == strncmp(gba_compat_comm_name(comm), GBA_COMMON_SET_NAME,
                        sizeof GBA_COMMON_SET_NAME - 1) ||
           barrier_of_shmem(comm);
}

/* What the attributes of a team point to. */
struct attr_storage {
    gba_remote_t remote;
    struct gba_common_messages messages;
    char name[64];
};

static void barrier_name_member(void *ctx, uint32_t rank, char *text, size_t len)
{
    gba_coll_name_member(ctx, rank, text, len);
}

static void barrier_attr_init(gba_team_attr_t *attr, struct attr_storage *storage,
                              ompi_communicator_t *comm)
{
    memset(attr, 0, sizeof *attr);
    storage->messages = (struct gba_common_messages){
        .comm = comm, .tag = MCA_COLL_BASE_TAG_BARRIER, .label = "coll gba_barrier"};
    gba_common_remote_init(&storage->remote, &storage->messages);
    attr->remote = &storage->remote;
    snprintf(storage->name, sizeof storage->name, "%.40s (id %u)", gba_compat_comm_name(comm),
             GBA_COMM_ID(comm));
    attr->name = storage->name;
    attr->params = &gba_coll->params;
    attr->name_member = barrier_name_member;
    attr->name_ctx = comm;
    attr->device_status = GBA_ERR_UNSUPPORTED;
    if (!barrier_for_set(comm))
        attr->device = gba_coll_device(&attr->device_status);
    if (NULL != attr->device && OMPI_SUCCESS != gba_coll_notices_start()) {
        attr->device = NULL;
        attr->device_status = GBA_ERR_NOMEM;
    }
    attr->crowded = gba_compat_crowded();
    if (0 == ompi_comm_rank(comm))
        attr->id = gba_common_notices_id(GBA_COMMON_IDS_COLL);
}

/*
 * The module goes on with what its team has agreed. Notices can come from now on, if it is a
 * device: also to a member that has none, but the leader of whose node has. (Without a device
 * nobody pays for a look at messages that never come.) Returns GBA_OK or GBA_ERR_NOMEM.
 */
static gba_status_t barrier_follow(gba_coll_module_t *module, gba_team_t *team)
{
    opal_mutex_lock(&gba_coll->lock); /* for a thread that reads the counters */
    module->team = team;
    gba_common_tally_note(&module->tally, team, module->path);
    module->path = gba_team_path(team);
    opal_mutex_unlock(&gba_coll->lock);
    gba_coll_module_activate(module);
    module->agreed = true;
    if (gba_team_path(team) <= GBA_PATH_SIM && OMPI_SUCCESS != gba_coll_notices_start())
        return GBA_ERR_NOMEM;
    return GBA_OK;
}

/* The agreement. Returns GBA_OK when the module has a path, whichever it is. */
static gba_status_t barrier_agree(gba_coll_module_t *module, ompi_communicator_t *comm)
{
    struct gba_coll_oob_ctx ctx;
    struct attr_storage storage;
    gba_team_attr_t attr;
    gba_team_t *team;
    gba_oob_t oob;
    uint32_t rank = 0, speaker = 0;
    gba_status_t status = gba_coll_capability_check(comm, &rank, &speaker);

    if (GBA_OK != status) {
        barrier_decline(module, comm, status, rank, speaker);
        return GBA_OK;
    }
    barrier_attr_init(&attr, &storage, comm);
    gba_coll_oob_init(&oob, &ctx, comm, &module->saved);
    status = gba_team_create(&attr, &oob, &team);
    if (GBA_OK != status)
        return status;
    status = barrier_follow(module, team);
    gba_coll_report_path(comm, 0, barrier_for_set(comm) ? GBA_OK : gba_team_reason(team),
                         gba_team_why(team));
    return status;
}

/* An exchange failed, and so will the saved barrier, loudly. */
static int barrier_broken(gba_coll_module_t *module, gba_status_t status)
{
    opal_mutex_lock(&gba_coll->lock);
    gba_common_tally_note(&module->tally, module->team, module->path);
    module->path = GBA_PATH_CALLER;
    opal_mutex_unlock(&gba_coll->lock);
    gba_coll_module_activate(module);
    return gba_coll_error(status);
}

/* The group is lost, and all members are here: the path from now on. */
static int barrier_recover(ompi_communicator_t *comm, gba_coll_module_t *module)
{
    struct gba_coll_oob_ctx ctx;
    struct attr_storage storage;
    gba_team_attr_t attr;
    gba_oob_t oob;
    gba_status_t status;
    bool again;

    barrier_attr_init(&attr, &storage, comm);
    gba_coll_oob_init(&oob, &ctx, comm, &module->saved);
    status = gba_team_recover(module->team, &attr, &oob, &again);
    if (GBA_OK != status)
        return barrier_broken(module, status);
    status = barrier_follow(module, module->team);
    gba_coll_report_path(comm, 0, gba_team_reason(module->team), gba_team_why(module->team));
    return gba_coll_error(status);
}

/* The members meet: perhaps there is a barrier group for them now. */
static int __attribute__((noinline))
barrier_meet(gba_coll_module_t *module, ompi_communicator_t *comm)
{
    gba_status_t before = gba_team_reason(module->team), status;
    struct gba_coll_oob_ctx ctx;
    struct attr_storage storage;
    gba_team_attr_t attr;
    gba_oob_t oob;

    barrier_attr_init(&attr, &storage, comm);
    gba_coll_oob_init(&oob, &ctx, comm, &module->saved);
    status = gba_team_revisit(module->team, &attr, &oob);
    if (GBA_OK != status)
        return barrier_broken(module, status);
    status = barrier_follow(module, module->team);
    if (before != gba_team_reason(module->team))
        gba_coll_report_path(comm, 0, gba_team_reason(module->team), gba_team_why(module->team));
    return gba_coll_error(status);
}

int gba_coll_barrier_after(ompi_communicator_t *comm, gba_coll_module_t *module)
{
    gba_common_notices_flush();
    if (OPAL_UNLIKELY(gba_team_recover_due(module->team)))
        return barrier_recover(comm, module);
    if (OPAL_UNLIKELY(gba_team_meet_due(module->team)))
        return barrier_meet(module, comm);
    return OMPI_SUCCESS;
}

/* The device has died. Others may have left this round and be waiting for something else, or be in
 * it and not know yet; so this member tells them, and waits for what they say. */
static int barrier_lost(gba_coll_module_t *module, ompi_communicator_t *comm)
{
    gba_status_t status;

    /* _progress, and not just _test: it tells of a barrier that does not end. */
    while (GBA_ERR_DEAD == (status = gba_barrier_progress(module->team)) ||
           GBA_INPROGRESS == status) {
        gba_coll_notices_tell(module, comm);
        (void)opal_progress();
    }
    return GBA_OK == status ? gba_coll_barrier_after(comm, module) : gba_coll_error(status);
}

/* gba_barrier_wait did not say just GBA_OK. Not inline, nor is barrier_other: their registers would
 * be saved on the fast path. */
static int __attribute__((noinline))
barrier_fail(gba_coll_module_t *module, ompi_communicator_t *comm, gba_status_t status)
{
    if (GBA_MEET == status)
        return barrier_meet(module, comm);
    return GBA_ERR_DEAD == status ? barrier_lost(module, comm) : gba_coll_error(status);
}

/*
 * With the parameter "sample": measure every n-th, from the arrival to the release as this member
 * sees them. That is how long it waited for the last one, and so by how much it was early.
 */
static gba_status_t barrier_sampled(gba_coll_module_t *module)
{
    struct gba_coll_waits *waits = &module->waits;
    unsigned long long ns;
    gba_status_t status;
    uint64_t began;

    if (++module->unsampled < gba_coll->sample)
        return gba_barrier_wait(module->team, barrier_progress, NULL);
    module->unsampled = 0;
    began = gba_clock_ns();
    status = gba_barrier_wait(module->team, barrier_progress, NULL);
    ns = gba_clock_ns() - began;
    if (GBA_OK == status || GBA_MEET == status) {
        waits->sampled++;
        waits->ns += ns;
        if (waits->max_ns < ns)
            waits->max_ns = ns;
    }
    return status;
}

/* The barrier that was there before us. */
static int barrier_saved(gba_coll_module_t *module, ompi_communicator_t *comm)
{
    int rc = module->saved.barrier(comm, module->saved.barrier_module);

    module->fallbacks++;
    if (OMPI_SUCCESS == rc && GBA_MEET == gba_team_count(module->team))
        return barrier_meet(module, comm);
    return rc;
}

/* No path yet, none of ours, or one that is not free. */
static int __attribute__((noinline))
barrier_other(gba_coll_module_t *module, ompi_communicator_t *comm)
{
    gba_status_t status;

    if (!module->agreed) {
        status = barrier_agree(module, comm);
        return GBA_OK == status ? gba_coll_barrier(comm, &module->super) : gba_coll_error(status);
    }
    if (GBA_PATH_CALLER == module->path)
        return barrier_saved(module, comm);
    /* The queue has no place for a measurement: it would be one of what is before it. */
    if (0 == gba_coll->sample || !gba_coll_ibarrier_idle(module))
        return gba_coll_ibarrier_wait(comm, module);
    status = barrier_sampled(module);
    return GBA_OK == status ? OMPI_SUCCESS : barrier_fail(module, comm, status);
}

int gba_coll_barrier(ompi_communicator_t *comm, mca_coll_base_module_t *super)
{
    gba_coll_module_t *module = (gba_coll_module_t *)super;
    /* Acquire: pairs with gba_coll_module_activate. */
    gba_team_t *team = gba_pointer_load_acquire(&module->active);
    gba_status_t status;

    if (OPAL_UNLIKELY(NULL == team))
        return barrier_other(module, comm);
    status = gba_barrier_wait(team, barrier_progress, NULL);
    return OPAL_LIKELY(GBA_OK == status) ? OMPI_SUCCESS : barrier_fail(module, comm, status);
}
