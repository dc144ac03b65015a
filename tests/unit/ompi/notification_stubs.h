/* SPDX-License-Identifier: BSD-3-Clause */
/* What the failure notifications of the components (ompi/mca/common/gba/notifications.c) need of
 * Open MPI and of a component, but for the PML and the team. */
#ifndef GBA_TESTS_NOTIFICATION_STUBS_H
#define GBA_TESTS_NOTIFICATION_STUBS_H

#include "ompi/mca/common/gba/notifications.h"

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/mca/pml/pml.h"

struct gba_common gba_common = {.lock = OPAL_MUTEX_STATIC_INIT};
static struct ompi_communicator_t communicator;
static opal_progress_callback_t registered; /* by the service */

int opal_progress_register(opal_progress_callback_t callback)
{
    registered = callback;
    return OMPI_SUCCESS;
}

int opal_progress_unregister(opal_progress_callback_t callback)
{
    return callback == registered ? OMPI_SUCCESS : OMPI_ERROR;
}

static struct ompi_communicator_t *world(void)
{
    return &communicator;
}

static int peer_of(const void *owner, uint32_t member)
{
    (void)owner;
    return (int)member;
}

const struct gba_common_framework gba_common_framework = {.world = world, .peer = peer_of};
static struct gba_common_module module;

#define TEAM 77u

uint64_t gba_team_failed_id(const gba_team_t *team)
{
    (void)team;
    return TEAM;
}

#endif
