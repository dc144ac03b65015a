/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the members of an active set find out that all of them have this component.
 *
 * A PE may lack it, or have it disabled; it then calls the barrier that was there before us, and
 * nothing that we send reaches it. What coll does, to publish it in the exchange of MPI_Init, comes
 * too late here: the framework opens after that exchange. And nobody can tell a PE that will never
 * answer from one that is slow. So nobody has to: a set takes the previous barrier until all have
 * been heard of, for ever if need be.
 *
 * 1. In its first barrier each member sends a note to the leader (rank 0), and posts a receive for
 *    the invitation. Then all take the previous barrier, as in every barrier before the agreement.
 * 2. At the beginning of each of its barriers the leader looks for notes. When it has one of every
 *    member, and is in barrier n, it sends the invitation to agree at n + 1, by a synchronous send:
 *    that ends when the message has met its receive. Only then does it enter the previous barrier.
 * 3. Nobody leaves barrier n before the leader has entered it, so a member that comes out of it has
 *    its invitation, if there is one. All begin n + 1 with the agreement.
 *
 * The leader may wait in step 2, for members that have not entered barrier n: as it would in the
 * barrier itself. The messages of a PE whose leader has no component are never received; they are
 * small, and one for each set.
 */
#include "oshmem/mca/scoll/gba/scoll_gba.h"

#include <string.h>

#include "opal/runtime/opal_progress.h"

/* Raised whenever what members send to each other changes, here or among members of a team
 * in libgba. */
#define PROTOCOL UINT64_C(6)

/* Barriers without all notes, after which the leader says who is missing. In flight, they need one
 * or two. */
#define PATIENCE 100

/* Calls of opal_progress, at most, in which notes that are on their way come in: about a
 * millisecond, once in the life of a set. */
#define DROP_CALLS 1000

/* As in coll: the parameters that decide whether a member takes part. */
static uint64_t capability_mine(void)
{
    const gba_params_t *params = &gba_scoll->params;

    return PROTOCOL << 48 | (uint64_t)(uint16_t)params->priority << 32 |
           (uint32_t)params->min_comm_size;
}

/* Members: the first barrier. */
static gba_status_t note_send(gba_scoll_module_t *module)
{
    struct gba_scoll_note note = {.capability = capability_mine()};
    int rc = MCA_PML_CALL(irecv(&module->invitation, sizeof module->invitation, MPI_BYTE,
                                oshmem_proc_pe_vpid(module->set, 0),
                                gba_scoll_tag(module->set, GBA_SCOLL_DOWN), oshmem_comm_world,
                                &module->invited));

    if (OMPI_SUCCESS != rc) {
        module->invited = NULL;
        return GBA_ERR_OOB;
    }
    return gba_scoll_send(module, 0, GBA_SCOLL_UP, MCA_PML_BASE_SEND_STANDARD, &note, sizeof note);
}

/* Leader: take a member's note, if it has come. GBA_OK, GBA_INPROGRESS: not yet, or GBA_ERR_OOB. */
static gba_status_t note_take(const gba_scoll_module_t *module, uint32_t rank,
                              struct gba_scoll_note *note)
{
    int there = 0;

    if (OMPI_SUCCESS != MCA_PML_CALL(iprobe(oshmem_proc_pe_vpid(module->set, (int)rank),
                                            gba_scoll_tag(module->set, GBA_SCOLL_UP),
                                            oshmem_comm_world, &there, MPI_STATUS_IGNORE)))
        return GBA_ERR_OOB;
    if (!there)
        return GBA_INPROGRESS;
    return gba_scoll_receive(module, rank, GBA_SCOLL_UP, note, sizeof *note);
}

/* Leader: take the notes that have come. Returns GBA_INPROGRESS while some are missing. */
static gba_status_t notes_take(gba_scoll_module_t *module)
{
    struct gba_scoll_note note;
    gba_status_t status;

    while (module->heard + 1 < module->size) {
        status = note_take(module, module->heard + 1, &note);
        if (GBA_OK != status)
            return status;
        module->heard++;
        if (note.capability != capability_mine()) {
            char member[96], why[256];

            /* The leader alone knows, and that is enough: without an invitation nobody agrees. */
            module->agreed = true;
            gba_scoll_name_member(module->set, module->heard, member, sizeof member);
            snprintf(why, sizeof why, "%s: %s (%s)", gba_path_name(GBA_PATH_CALLER),
                     "members differ in priority, min_comm_size or version", member);
            gba_scoll_report_path(module, GBA_ERR_MISMATCH, why);
            return GBA_INPROGRESS;
        }
    }
    return GBA_OK;
}

/*
 * Leader, at the end: take what nobody needs any more, for PML UCX warns of messages that are left.
 * Who has this component has sent its note, since it has been in a barrier; others never will.
 */
static void notes_drop(const gba_scoll_module_t *module)
{
    struct gba_scoll_note note;
    int calls = 0;

    for (uint32_t rank = module->heard + 1; rank < module->size; rank++)
        while (GBA_INPROGRESS == note_take(module, rank, &note) && calls++ < DROP_CALLS)
            (void)opal_progress();
}

static gba_status_t invitations_send(gba_scoll_module_t *module)
{
    struct gba_scoll_note note = {.capability = capability_mine(), .barrier = module->barriers + 1};
    gba_status_t status = GBA_OK;

    for (uint32_t rank = 1; rank < module->size && GBA_OK == status; rank++)
        status = gba_scoll_send(module, rank, GBA_SCOLL_DOWN, MCA_PML_BASE_SEND_SYNCHRONOUS, &note,
                                sizeof note);
    module->agree_at = note.barrier;
    return status;
}

gba_status_t gba_scoll_invite_before(gba_scoll_module_t *module)
{
    gba_status_t status;

    module->barriers++;
    if (0 != module->rank)
        return 1 == module->barriers ? note_send(module) : GBA_OK;
    if (PATIENCE == module->barriers)
        gba_scoll_report_missing(module);
    status = notes_take(module);
    if (GBA_INPROGRESS == status)
        return GBA_OK;
    /* The leader alone counts, so it does not matter whether all have the same parameter. */
    if (GBA_OK != status || (module->set != oshmem_group_all &&
                             module->barriers < (uint64_t)gba_scoll->params.offload_after))
        return status;
    return invitations_send(module);
}

gba_status_t gba_scoll_invite_after(gba_scoll_module_t *module)
{
    int complete = 0;

    if (NULL == module->invited)
        return GBA_OK;
    if (OMPI_SUCCESS != ompi_request_test(&module->invited, &complete, MPI_STATUS_IGNORE))
        return GBA_ERR_OOB;
    if (!complete)
        return GBA_OK;
    module->invited = NULL;
    module->agree_at = module->invitation.barrier;
    /* For the next barrier, or the one after it, if the leader is in the next already. */
    if (module->agree_at > module->barriers)
        return GBA_OK;
    /* Others agree without us by now: an error that all see is better than a barrier that does not
     * end. */
    opal_output(gba_scoll->output,
                GBA_SCOLL_LABEL ": an invitation to barrier %llu came in barrier %llu",
                (unsigned long long)module->agree_at, (unsigned long long)module->barriers);
    return GBA_ERR_OOB;
}

void gba_scoll_invite_close(gba_scoll_module_t *module)
{
    if (0 == module->rank && module->barriers > 0)
        notes_drop(module);
    if (NULL == module->invited)
        return;
    (void)ompi_request_cancel(module->invited);
    (void)ompi_request_wait(&module->invited, MPI_STATUS_IGNORE);
    module->invited = NULL;
}
