/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A posted failure notification is still owed while the service hands it to the PML. A thread that
 * sees the end of its barrier then must not leave it. For one rank, which sends to itself: the send
 * of the PML makes the query of that thread.
 *
 * The service is linked with this file, which is its libgba: a team of three, of which this process
 * is the last member.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

#include "ompi/communicator/communicator.h"
#include "ompi/mca/common/gba/notifications.h"
#include "ompi/mca/pml/pml.h"
#include "tests/limit.h"

#define TEAM    7u
#define MEMBERS 3u
#define LIMIT   20 /* seconds: a notification does not get out */

static mca_pml_base_module_isend_fn_t isend;
static unsigned sends, early;
static struct gba_common_module module;
struct gba_common gba_common = {.lock = OPAL_MUTEX_STATIC_INIT};

uint64_t gba_team_failed_id(const gba_team_t *team)
{
    (void)team;
    return TEAM;
}

gba_status_t gba_team_notification(gba_team_t *team, gba_notification_t *notification, uint32_t *to)
{
    static uint32_t posted;

    (void)team;
    if (posted == MEMBERS - 1)
        return GBA_ERR_BUSY;
    *to = posted++;
    *notification = (gba_notification_t){.team = TEAM,
                                         .round = 1,
                                         .first_bypassed = UINT64_MAX,
                                         .member = MEMBERS - 1,
                                         .members = 1};
    return GBA_OK;
}

gba_status_t gba_notification_take(const gba_notification_t *notification)
{
    (void)notification;
    return GBA_OK;
}

gba_status_t gba_notification_answer(const gba_notification_t *notification,
                                     gba_notification_t *answer)
{
    *answer = *notification;
    answer->completed = 1;
    return GBA_OK;
}

/* Before the message is with the PML. */
static int isend_and_ask(const void *buffer, size_t count, struct ompi_datatype_t *type, int to,
                         int tag, mca_pml_base_send_mode_t mode, struct ompi_communicator_t *comm,
                         struct ompi_request_t **request)
{
    if (tag == GBA_COMMON_TAG_NOTIFICATIONS) {
        sends++;
        early += gba_common_notifications_out(&module);
    }
    return isend(buffer, count, type, to, tag, mode, comm, request);
}

static struct ompi_communicator_t *world(void)
{
    return &ompi_mpi_comm_world.comm;
}

static int peer(const void *owner, uint32_t member)
{
    (void)owner;
    (void)member;
    return 0;
}

const struct gba_common_framework gba_common_framework = {.world = world, .peer = peer};

int main(int argc, char **argv)
{
    alarm(test_limit(LIMIT));
    MPI_Init(&argc, &argv);
    isend = mca_pml.pml_isend;
    mca_pml.pml_isend = isend_and_ask;
    (void)gba_common_notifications_start();
    (void)gba_common_notifications_post(&module);
    /* By progress and not by gba_common_notify, whose own step would be the only one. */
    while (sends < MEMBERS - 1)
        (void)opal_progress();
    while (GBA_OK != gba_common_notify(&module, true))
        (void)opal_progress();
    gba_common_notifications_drain();
    gba_common_notifications_stop();
    mca_pml.pml_isend = isend;
    MPI_Finalize();
    printf("posted: %u of %u sends while notifications seemed to be out\n", early, sends);
    if (0 == early)
        puts("posted: right");
    return 0 != early;
}
