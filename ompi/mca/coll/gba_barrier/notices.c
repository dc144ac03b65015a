/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What members tell each other when the device has died goes over MPI_COMM_WORLD, which outlives
 * every communicator and has every member: a team is always within one job (capability.c).
 */
#include "ompi/mca/coll/gba_barrier/coll_gba_barrier.h"

int gba_coll_notices_start(void)
{
    return gba_common_notices_start(&gba_coll->lock, &ompi_mpi_comm_world.comm);
}

/* MPI_Finalize ends communicators after its fence, so all members are past their last round; and
 * before the PML, which it tells of that end after us. */
void gba_coll_notices_stop(void)
{
    gba_common_notices_drain();
    gba_common_notices_stop();
}

static int notice_peer(const void *comm, uint32_t rank)
{
    ompi_group_t *group = ((const ompi_communicator_t *)comm)->c_local_group;

    return (int)ompi_group_get_proc_name(group, (int)rank).vpid;
}

void gba_coll_notices_tell(gba_coll_module_t *module, ompi_communicator_t *comm)
{
    gba_common_notices_tell(module->team, &module->round_told, (uint32_t)ompi_comm_size(comm),
                            notice_peer, comm);
}
