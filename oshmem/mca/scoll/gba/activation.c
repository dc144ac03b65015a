/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Activation: how the members of an active set learn that all of them have this component.
 *
 * A PE may lack the component, or have it disabled. It then calls the barrier that was selected
 * before ours, and our messages do not reach it. The exchange of MPI_Init, which coll uses, is not
 * available, because the scoll framework opens after it. No member can distinguish a PE that never
 * answers from a slow one. So no decision depends on that: a set uses the fallback barrier until
 * all members are seen, possibly for ever.
 *
 * 1. In its first barrier each member sends a hello (struct gba_scoll_hello) to the leader (rank
 * 0), and posts a receive for the activation. All members then enter the fallback barrier, as in
 * every barrier before the agreement.
 *
 * 2. At the start of each of its barriers the leader receives the hellos that have arrived. When it
 * has one from every member, and is in barrier n, it sends the activation: agree at n + 1. It uses
 * a synchronous send, which completes when the message has matched its receive. Only then does the
 * leader enter the fallback barrier.
 *
 * 3. No member leaves barrier n before the leader has entered it. So a member that leaves barrier n
 * has received the activation, if there is one. All members begin n + 1 with the agreement.
 *
 * Hellos and activations have the leader at one end, which separates them from those of other sets.
 * The messages of the agreement go along a tree (gba/algo/exchange.h), so they need a channel
 * (GBA_SCOLL_CHANNEL_COMM). A hello has the channels that its member can use, and the activation
 * those that all members can use. If there are none, the leader sends no activation.
 *
 * In step 2 the leader may wait for members that have not entered barrier n, as it would in the
 * barrier itself. The messages of a PE whose leader has no component are never received. They are
 * small, and there is one for each set.
 */
#include "oshmem/mca/scoll/gba/scoll_gba.h"

#include <string.h>

#include "ompi/runtime/mpiruntime.h"
#include "opal/runtime/opal_progress.h"

/* The version of everything that members send to each other outside libgba: struct gba_scoll_hello,
 * and the minima of slabs.c. To be raised with each change of it. */
#define PROTOCOL UINT64_C(9)
_Static_assert(9 == PROTOCOL && 24 == sizeof(struct gba_scoll_hello),
               "messages have changed: raise PROTOCOL, then state the new sizes");

/* Barriers with missing hellos after which the leader reports the missing members. A hello in
 * transit needs one or two barriers. */
#define PATIENCE 100

/* The most calls of opal_progress that wait for hellos in transit: about a millisecond, once in the
 * life of a set. */
#define DROP_CALLS 1000

/* As in coll: the values that decide whether the component serves a set. */
static uint64_t capability_mine(void)
{
    return gba_common_capability(PROTOCOL, 0);
}

static bool set_too_small(const gba_scoll_module_t *module)
{
    return module->set->proc_count < gba_common.params.min_comm_size;
}

/* Send to a member, or receive from it. Block. Return GBA_OK or GBA_ERR_OOB. */

static gba_status_t message_send(const gba_scoll_module_t *module, uint32_t rank,
                                 enum gba_scoll_message kind, mca_pml_base_send_mode_t mode,
                                 const void *data, size_t bytes)
{
    int rc = MCA_PML_CALL(send(data, bytes, MPI_BYTE, oshmem_proc_pe_vpid(module->set, (int)rank),
                               gba_scoll_tag(module->set, kind), mode, oshmem_comm_world));

    return OMPI_SUCCESS == rc ? GBA_OK : GBA_ERR_OOB;
}

static gba_status_t message_receive(const gba_scoll_module_t *module, uint32_t rank,
                                    enum gba_scoll_message kind, void *data, size_t bytes)
{
    int rc =
        MCA_PML_CALL(recv(data, bytes, MPI_BYTE, oshmem_proc_pe_vpid(module->set, (int)rank),
                          gba_scoll_tag(module->set, kind), oshmem_comm_world, MPI_STATUS_IGNORE));

    return OMPI_SUCCESS == rc ? GBA_OK : GBA_ERR_OOB;
}

/*
 * The channels of this PE. The set of all PEs has a tag of its own. Its communicator may be the
 * user's own world.
 */
static uint32_t channels_mine(const oshmem_group_t *set)
{
    uint32_t channels = 0;

    if (set == oshmem_group_all)
        return GBA_SCOLL_CHANNEL_TAG;
    if (set->ompi_comm != NULL)
        channels |= GBA_SCOLL_CHANNEL_COMM;
    if (!ompi_mpi_thread_multiple)
        channels |= GBA_SCOLL_CHANNEL_TAG;
    return channels;
}

/* Members, in the first barrier: send the hello. If the set is below min_comm_size there is no
 * activation; the hello then only shows the leader whether all members have the same parameters. */
static gba_status_t hello_send(gba_scoll_module_t *module)
{
    struct gba_scoll_hello hello = {.capability = capability_mine(), .channels = module->channels};

    if (set_too_small(module)) {
        module->base.agreed = true;
    } else if (OMPI_SUCCESS != MCA_PML_CALL(irecv(&module->activation, sizeof module->activation,
                                                  MPI_BYTE, oshmem_proc_pe_vpid(module->set, 0),
                                                  gba_scoll_tag(module->set, GBA_SCOLL_DOWN),
                                                  oshmem_comm_world, &module->activated))) {
        module->activated = NULL;
        return GBA_ERR_OOB;
    }
    return message_send(module, 0, GBA_SCOLL_UP, MCA_PML_BASE_SEND_STANDARD, &hello, sizeof hello);
}

/* Leader: receive a member's hello if it has arrived. Returns GBA_OK; GBA_INPROGRESS: it has not
 * arrived; or GBA_ERR_OOB. */
static gba_status_t hello_receive(const gba_scoll_module_t *module, uint32_t rank,
                                  struct gba_scoll_hello *hello)
{
    int there = 0;

    if (OMPI_SUCCESS != MCA_PML_CALL(iprobe(oshmem_proc_pe_vpid(module->set, (int)rank),
                                            gba_scoll_tag(module->set, GBA_SCOLL_UP),
                                            oshmem_comm_world, &there, MPI_STATUS_IGNORE)))
        return GBA_ERR_OOB;
    if (!there)
        return GBA_INPROGRESS;
    return message_receive(module, rank, GBA_SCOLL_UP, hello, sizeof *hello);
}

/* Leader: decline. It sends no activation, so no member agrees. The other members do not need the
 * reason. */
static void decline(gba_scoll_module_t *module, gba_status_t reason, const char *text)
{
    gba_common_decline(&module->base, reason, 0, text);
}

/* The word of the member seen last differs from the leader's. */
static void mismatch_decline(gba_scoll_module_t *module, uint64_t theirs)
{
    char leader[96], member[96], text[448];
    const char *const names[] = {leader, member};
    const uint64_t words[] = {capability_mine(), theirs};

    gba_scoll_name_member(module, 0, leader, sizeof leader);
    gba_scoll_name_member(module, module->members_seen, member, sizeof member);
    gba_common_capability_differ(words, names, text, sizeof text);
    decline(module, GBA_ERR_MISMATCH, text);
}

/* Leader: receive the hellos that have arrived. Returns GBA_OK when there is one from every member;
 * GBA_INPROGRESS while some are missing; or GBA_ERR_OOB. */
static gba_status_t hellos_receive(gba_scoll_module_t *module)
{
    struct gba_scoll_hello hello;
    gba_status_t status;

    while (module->members_seen + 1 < module->base.size) {
        status = hello_receive(module, module->members_seen + 1, &hello);
        if (GBA_OK != status)
            return status;
        module->members_seen++;
        if (hello.capability != capability_mine()) {
            mismatch_decline(module, hello.capability);
            return GBA_INPROGRESS;
        }
        module->channels &= hello.channels;
    }
    return GBA_OK;
}

/*
 * Leader, at the end: receive the hellos that it no longer needs, because PML UCX warns of messages
 * that are left. Each member with this component has sent its hello, because it has been in a
 * barrier. The other members never send one.
 */
static void hellos_drop(const gba_scoll_module_t *module)
{
    struct gba_scoll_hello hello;
    int calls = 0;

    for (uint32_t rank = module->members_seen + 1; rank < module->base.size; rank++)
        while (GBA_INPROGRESS == hello_receive(module, rank, &hello) && calls++ < DROP_CALLS)
            (void)opal_progress();
}

/* The set is too small, or nothing separates its messages from those of other sets. */
static void set_decline(gba_scoll_module_t *module)
{
    char text[96];

    if (!set_too_small(module)) {
        decline(module, GBA_ERR_UNSUPPORTED,
                "SHMEM_THREAD_MULTIPLE without Open MPI's component scoll mpi");
        return;
    }
    snprintf(text, sizeof text, "fewer PEs than min_comm_size, which is %d",
             gba_common.params.min_comm_size);
    decline(module, GBA_ERR_TOO_FEW, text);
}

static gba_status_t activations_send(gba_scoll_module_t *module)
{
    struct gba_scoll_hello activation = {.capability = capability_mine(),
                                         .barrier = module->barriers + 1,
                                         .channels = module->channels};
    gba_status_t status = GBA_OK;

    for (uint32_t rank = 1; rank < module->base.size && GBA_OK == status; rank++)
        status = message_send(module, rank, GBA_SCOLL_DOWN, MCA_PML_BASE_SEND_SYNCHRONOUS,
                              &activation, sizeof activation);
    module->agree_at = activation.barrier;
    return status;
}

gba_status_t gba_scoll_activation_before(gba_scoll_module_t *module)
{
    gba_status_t status;

    if (1 == ++module->barriers)
        module->channels = channels_mine(module->set);
    if (0 != module->base.rank)
        return 1 == module->barriers ? hello_send(module) : GBA_OK;
    if (PATIENCE == module->barriers)
        gba_scoll_report_missing(module);
    status = hellos_receive(module);
    if (GBA_INPROGRESS == status)
        return GBA_OK;
    if (GBA_OK == status && (set_too_small(module) || 0 == module->channels)) {
        set_decline(module);
        return GBA_OK;
    }
    /* Only the leader counts, so the members' values of this parameter may differ. */
    if (GBA_OK != status || (module->set != oshmem_group_all &&
                             module->barriers < (uint64_t)gba_common.params.offload_after))
        return status;
    return activations_send(module);
}

gba_status_t gba_scoll_activation_after(gba_scoll_module_t *module)
{
    int complete = 0;

    if (module->activated == NULL)
        return GBA_OK;
    if (OMPI_SUCCESS != ompi_request_test(&module->activated, &complete, MPI_STATUS_IGNORE))
        return GBA_ERR_OOB;
    if (!complete)
        return GBA_OK;
    module->activated = NULL;
    module->agree_at = module->activation.barrier;
    module->channels = module->activation.channels;
    /* The agreement is due in the next barrier; or in the one after it, if the leader is in the
     * next barrier already. */
    if (module->agree_at > module->barriers)
        return GBA_OK;
    /* Other members have begun to agree without this one. Report an error, because the barrier
     * would not end. */
    gba_common_alert(
        "the activation for barrier %llu arrived in barrier %llu, too late to agree on a path",
        (unsigned long long)module->agree_at, (unsigned long long)module->barriers);
    return GBA_ERR_OOB;
}

void gba_scoll_activation_close(gba_scoll_module_t *module)
{
    if (0 == module->base.rank && module->barriers > 0)
        hellos_drop(module);
    if (module->activated == NULL)
        return;
    (void)ompi_request_cancel(module->activated);
    (void)ompi_request_wait(&module->activated, MPI_STATUS_IGNORE);
    module->activated = NULL;
}
