/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which path the barriers of a communicator take: agreed by all members together in its first
 * blocking barrier, and again when the device was lost, or when the members meet. Not earlier: Open
 * MPI selects modules for new communicators inside a progress callback, where nothing may block.
 */
#include "ompi/mca/coll/gba_barrier/coll_gba_barrier.h"

#include <dlfcn.h>
#include <string.h>

/* Not all members take part: no team, and no exchange, which some of them would never join. */
static void agree_decline(gba_coll_module_t *module, ompi_communicator_t *comm, gba_status_t reason,
                          uint32_t rank, uint32_t speaker)
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
static bool comm_of_shmem(const ompi_communicator_t *comm)
{
    ompi_communicator_t *const *world = dlsym(RTLD_DEFAULT, "oshmem_comm_world");

    return NULL != world && comm == *world;
}

/* That one, or one below an active set, whose members have another path, or soon will: no device.
 */
static bool comm_for_set(const ompi_communicator_t *comm)
{
    return 0 == strncmp(gba_compat_comm_name(comm), GBA_COMMON_SET_NAME,
                        sizeof GBA_COMMON_SET_NAME - 1) ||
           comm_of_shmem(comm);
}

/* What a team is made from, and what that points to. */
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
 * The device for that communicator, or NULL and the reason. Notices need MPI_Finalize to wait for
 * all members: one that has left the round in which the device dies would answer no more.
 */
static gba_device_t *agree_device(const ompi_communicator_t *comm, gba_status_t *status)
{
    gba_device_t *device;

    *status = GBA_ERR_UNSUPPORTED;
    if (comm_for_set(comm) || ompi_async_mpi_finalize)
        return NULL;
    device = gba_coll_device(status);
    if (NULL == device || OMPI_SUCCESS == gba_coll_notices_start())
        return device;
    *status = GBA_ERR_NOMEM;
    return NULL;
}

static void agree_begin(struct agreement *a, ompi_communicator_t *comm, gba_coll_module_t *module)
{
    memset(a, 0, sizeof *a);
    a->messages =
        (struct gba_common_messages){.comm = comm,
                                     .tag = {GBA_COMMON_TAG_SIGNALS, GBA_COMMON_TAG_INTERIM},
                                     .label = "coll gba_barrier"};
    gba_common_remote_init(&a->remote, &a->messages);
    snprintf(a->name, sizeof a->name, "%.40s (id %u)", gba_compat_comm_name(comm),
             GBA_COMM_ID(comm));
    a->attr.remote = &a->remote;
    a->attr.name = a->name;
    a->attr.params = &gba_coll->params;
    a->attr.name_member = agree_name_member;
    a->attr.name_ctx = comm;
    a->attr.device = agree_device(comm, &a->attr.device_status);
    a->attr.crowded = gba_compat_crowded();
    a->attr.nonblocking = true;
    if (0 == ompi_comm_rank(comm))
        a->attr.id = gba_common_notices_id(GBA_COMMON_IDS_COLL);
    gba_coll_oob_init(&a->oob, &a->ctx, comm, &module->saved);
}

/*
 * The module goes on with what its team has agreed. Notices can come from now on, if it is a
 * device: also to a member that has none, but the leader of whose node has. (Without a device
 * nobody pays for a look at messages that never come.) Returns GBA_OK or GBA_ERR_NOMEM.
 */
static gba_status_t agree_follow(gba_coll_module_t *module, gba_team_t *team)
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

gba_status_t gba_coll_agree(ompi_communicator_t *comm, gba_coll_module_t *module)
{
    struct agreement a;
    gba_team_t *team;
    uint32_t rank = 0, speaker = 0;
    gba_status_t status = gba_coll_capability_check(comm, &rank, &speaker);

    if (GBA_OK != status) {
        agree_decline(module, comm, status, rank, speaker);
        return GBA_OK;
    }
    agree_begin(&a, comm, module);
    status = gba_team_create(&a.attr, &a.oob, &team);
    if (GBA_OK != status)
        return status;
    status = agree_follow(module, team);
    gba_coll_report_path(comm, 0, comm_for_set(comm) ? GBA_OK : gba_team_reason(team),
                         gba_team_why(team));
    return status;
}

/* An exchange failed, and so will the saved barrier, loudly. */
static void agree_broken(gba_coll_module_t *module)
{
    opal_mutex_lock(&gba_coll->lock);
    gba_common_tally_note(&module->tally, module->team, module->path);
    module->path = GBA_PATH_CALLER;
    opal_mutex_unlock(&gba_coll->lock);
    gba_coll_module_activate(module);
}

/* The end of another agreement of the same team. told: the user knows of this path. */
static int agree_end(ompi_communicator_t *comm, gba_coll_module_t *module, gba_status_t status,
                     bool told)
{
    if (GBA_OK != status) {
        agree_broken(module);
        return gba_coll_error(status);
    }
    status = agree_follow(module, module->team);
    if (!told)
        gba_coll_report_path(comm, 0, gba_team_reason(module->team), gba_team_why(module->team));
    return gba_coll_error(status);
}

int gba_coll_recover(ompi_communicator_t *comm, gba_coll_module_t *module)
{
    struct agreement a;
    bool again;

    agree_begin(&a, comm, module);
    return agree_end(comm, module, gba_team_recover(module->team, &a.attr, &a.oob, &again), false);
}

int gba_coll_meet(ompi_communicator_t *comm, gba_coll_module_t *module)
{
    gba_status_t before = gba_team_reason(module->team), status;
    struct agreement a;

    agree_begin(&a, comm, module);
    status = gba_team_revisit(module->team, &a.attr, &a.oob);
    return agree_end(comm, module, status, before == gba_team_reason(module->team));
}
