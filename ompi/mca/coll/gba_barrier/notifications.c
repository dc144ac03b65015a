/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failure notifications between the members of a communicator. They use MPI_COMM_WORLD, which
 * outlives every communicator and has every member, because a team is always within one job
 * (capability.c).
 */
#include "ompi/mca/coll/gba_barrier/coll_gba_barrier.h"

int gba_coll_notifications_start(void)
{
    return gba_common_notifications_start(&gba_coll->lock, &ompi_mpi_comm_world.comm);
}

/* MPI_Finalize ends communicators after its fence, so all members have completed their last round.
 * It ends them before the PML, which learns of the end of this one after this call. */
void gba_coll_notifications_stop(void)
{
    gba_common_notifications_drain();
    gba_common_notifications_stop();
}

static int notification_peer(const void *comm, uint32_t rank)
{
    ompi_group_t *group = ((const ompi_communicator_t *)comm)->c_local_group;

    return (int)ompi_group_get_proc_name(group, (int)rank).vpid;
}

void gba_coll_notifications_tell(gba_coll_module_t *module, ompi_communicator_t *comm)
{
    gba_common_notifications_tell(module->team, &module->round_reported,
                                  (uint32_t)ompi_comm_size(comm), notification_peer, comm);
}
