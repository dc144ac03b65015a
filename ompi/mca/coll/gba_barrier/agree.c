/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agreement of a communicator's members about the path of their barriers: in its first blocking
 * barrier, again when the device has failed, and at each renegotiation. Not earlier, because Open
 * MPI selects modules for new communicators inside a progress callback, where nothing may block.
 */
#include "ompi/mca/coll/gba_barrier/coll_gba_barrier.h"

#include <dlfcn.h>
#include <string.h>

/* Decline a team without an exchange, because some members may never join one. All members know the
 * reason. */
static void agree_decline(gba_coll_module_t *module, ompi_communicator_t *comm, gba_status_t reason,
                          const char *text, uint32_t speaker)
{
    char why[512];

    module->declined = reason;
    module->agreed = true;
    snprintf(why, sizeof why, "%s: %s", gba_path_name(GBA_PATH_FALLBACK), text);
    gba_coll_report_path(comm, speaker, reason, speaker, why);
}

/*
 * Whether this is the communicator that Open MPI itself uses in an OpenSHMEM program. After its
 * barrier in shmem_finalize UCX waits for all processes, without progress elsewhere. If the device
 * failed in that barrier, a member that has left it could not answer a failure notification.
 */
static bool comm_of_shmem(const ompi_communicator_t *comm)
{
    ompi_communicator_t *const *world = dlsym(RTLD_DEFAULT, "oshmem_comm_world");

    return NULL != world && comm == *world;
}

/* Whether the communicator gets no device: that of comm_of_shmem, or one below an active set, whose
 * members have another path or will have one soon. */
static bool comm_for_set(const ompi_communicator_t *comm)
{
    return 0 == strncmp(gba_compat_comm_name(comm), GBA_COMMON_SET_NAME,
                        sizeof GBA_COMMON_SET_NAME - 1) ||
           comm_of_shmem(comm);
}

/* The attributes of a team, and the objects that they point to. */
struct agreement {
    struct gba_coll_oob_ctx ctx;
    struct gba_common_messages messages;
    gba_remote_t remote;
    char name[64];
    gba_team_attr_t attr;
    gba_oob_t oob;
};

static void agree_name_member(void *ctx, uint32_t rank, char *text, size_t len)
{
    gba_coll_name_member(ctx, rank, text, len);
}

/*
 * The device for the communicator; or NULL with the reason in *status, and in *text if it is not
 * the device's. Failure notifications require that MPI_Finalize waits for all members, because a
 * member that has ended cannot answer. MPI_Session_finalize does not wait. Without MPI_Init there
 * is no MPI_COMM_WORLD to send on.
 */
static gba_device_t *agree_device(const ompi_communicator_t *comm, gba_status_t *status,
                                  const char **text)
{
    gba_device_t *device;

    *status = GBA_ERR_UNSUPPORTED;
    if (comm_for_set(comm))
        *text = "Open MPI created this communicator for OpenSHMEM; see scoll_gba_device_path";
    else if (ompi_async_mpi_finalize)
        *text = "async_mpi_finalize is set";
    else if (!gba_compat_comm_of_world(comm))
        *text = "the communicator belongs to a session, not to MPI_Init";
    if (NULL != *text)
        return NULL;
    device = gba_coll_device(status);
    if (NULL == device || OMPI_SUCCESS == gba_coll_notifications_start())
        return device;
    *status = GBA_ERR_NOMEM;
    return NULL;
}

static void agree_begin(struct agreement *a, ompi_communicator_t *comm, gba_coll_module_t *module)
{
    memset(a, 0, sizeof *a);
    a->messages = (struct gba_common_messages){
        .comm = comm, .tag = {GBA_COMMON_TAG_TRANSPORT, GBA_COMMON_TAG_DEGRADED}};
    gba_common_remote_init(&a->remote, &a->messages);
    snprintf(a->name, sizeof a->name, "%.40s (id %u)", gba_compat_comm_name(comm),
             GBA_COMM_ID(comm));
    a->attr.remote = &a->remote;
    a->attr.name = a->name;
    a->attr.params = &gba_coll->params;
    a->attr.name_member = agree_name_member;
    a->attr.name_ctx = comm;
    a->attr.device = agree_device(comm, &a->attr.device_status, &a->attr.device_text);
    a->attr.oversubscribed = gba_compat_oversubscribed();
    a->attr.nonblocking = true;
    if (0 == ompi_comm_rank(comm))
        a->attr.id = gba_common_notifications_id(GBA_COMMON_IDS_COLL);
    gba_coll_oob_init(&a->oob, &a->ctx, comm, &module->fallback);
}

/*
 * Apply the team's agreement to the module. With a device path, failure notifications may arrive
 * from now on, also at a member without a device whose node's leader has one. (Without a device
 * path no process pays for probes.) Returns GBA_OK or GBA_ERR_NOMEM.
 */
static gba_status_t agree_follow(gba_coll_module_t *module, gba_team_t *team)
{
    opal_mutex_lock(&gba_coll->lock); /* another thread may read the counters */
    module->team = team;
    gba_common_tally_note(&module->tally, team, module->path);
    module->path = gba_team_path(team);
    opal_mutex_unlock(&gba_coll->lock);
    gba_coll_module_activate(module);
    module->agreed = true;
    if (gba_team_path(team) <= GBA_PATH_SIM && OMPI_SUCCESS != gba_coll_notifications_start())
        return GBA_ERR_NOMEM;
    return GBA_OK;
}

bool gba_coll_agree_declines(ompi_communicator_t *comm, gba_coll_module_t *module)
{
    char text[448];
    uint32_t rank = 0, speaker = 0;
    gba_status_t status = gba_coll_capability_check(comm, &rank, &speaker);

    if (GBA_OK != status) {
        gba_coll_capability_describe(comm, status, rank, text, sizeof text);
    } else if (ompi_comm_size(comm) < gba_coll->params.min_comm_size) {
        status = GBA_ERR_TOO_FEW;
        snprintf(text, sizeof text, "fewer ranks than min_comm_size, which is %d",
                 gba_coll->params.min_comm_size);
    }
    if (GBA_OK == status)
        return false;
    agree_decline(module, comm, status, text, speaker);
    return true;
}

gba_status_t gba_coll_agree(ompi_communicator_t *comm, gba_coll_module_t *module)
{
    struct agreement a;
    gba_team_t *team;
    gba_status_t status;

    if (gba_coll_agree_declines(comm, module))
        return GBA_OK;
    agree_begin(&a, comm, module);
    status = gba_team_create(&a.attr, &a.oob, &team);
    if (GBA_OK != status)
        return status;
    status = agree_follow(module, team);
    gba_coll_report_path(comm, 0, comm_for_set(comm) ? GBA_OK : gba_team_reason(team),
                         gba_team_culprit(team), gba_team_why(team));
    return status;
}

/* An exchange failed: take the fallback barrier, which then fails and reports the error. */
static void agree_broken(gba_coll_module_t *module)
{
    opal_mutex_lock(&gba_coll->lock);
    gba_common_tally_note(&module->tally, module->team, module->path);
    module->path = GBA_PATH_FALLBACK;
    opal_mutex_unlock(&gba_coll->lock);
    gba_coll_module_activate(module);
}

/* The end of a later agreement of the same team. reported: the path has been reported to the user.
 */
static int agree_end(ompi_communicator_t *comm, gba_coll_module_t *module, gba_status_t status,
                     bool reported)
{
    if (GBA_OK != status) {
        agree_broken(module);
        return gba_coll_error(status);
    }
    status = agree_follow(module, module->team);
    if (!reported)
        gba_coll_report_path(comm, 0, gba_team_reason(module->team), gba_team_culprit(module->team),
                             gba_team_why(module->team));
    return gba_coll_error(status);
}

int gba_coll_recover(ompi_communicator_t *comm, gba_coll_module_t *module)
{
    struct agreement a;

    agree_begin(&a, comm, module);
    return agree_end(comm, module, gba_team_recover(module->team, &a.attr, &a.oob), false);
}

int gba_coll_renegotiate(ompi_communicator_t *comm, gba_coll_module_t *module)
{
    gba_status_t before = gba_team_reason(module->team), status;
    struct agreement a;

    agree_begin(&a, comm, module);
    status = gba_team_renegotiate(module->team, &a.attr, &a.oob);
    return agree_end(comm, module, status, before == gba_team_reason(module->team));
}
