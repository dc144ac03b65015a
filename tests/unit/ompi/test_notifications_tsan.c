/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The failure notifications of the components (ompi/mca/common/gba/notifications.c) start in one
 * thread, and stop in one, while another thread uses them: for ThreadSanitizer. The PML here sends
 * and receives nothing.
 *
 * Exit status 0: no error; 66: the sanitizer found an error.
 */
#include "tests/unit/ompi/notification_stubs.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

/* Steps of the other thread before the service stops. */
#define STEPS 2000u

static struct {
    atomic_uint steps;
    atomic_bool stopped;
} harness;

static int none_arrived(int source, int tag, struct ompi_communicator_t *comm, int *matched,
                        ompi_status_public_t *status)
{
    (void)source, (void)tag, (void)comm, (void)status;
    *matched = 0;
    return OMPI_SUCCESS;
}

static int none_sent(const void *data, size_t count, struct ompi_datatype_t *type, int peer,
                     int tag, mca_pml_base_send_mode_t mode, struct ompi_communicator_t *comm,
                     ompi_request_t **request)
{
    (void)data, (void)count, (void)type, (void)peer, (void)tag, (void)mode, (void)comm;
    (void)request;
    return OMPI_ERROR;
}

gba_status_t gba_team_notification(gba_team_t *team, gba_notification_t *notification, uint32_t *to)
{
    static bool posted;

    (void)team;
    if (posted)
        return GBA_ERR_BUSY;
    posted = true;
    *to = 1;
    *notification = (gba_notification_t){.team = TEAM, .round = 1, .first_bypassed = UINT64_MAX};
    return GBA_OK;
}

gba_status_t gba_notification_take(const gba_notification_t *notification)
{
    (void)notification;
    return GBA_OK;
}

gba_status_t gba_notification_answer(const gba_notification_t *question, gba_notification_t *answer)
{
    *answer = *question;
    return GBA_OK;
}

/* Another thread of the process, in a barrier of a failed team. */
static void *other_thread(void *arg)
{
    (void)arg;
    while (!atomic_load_explicit(&harness.stopped, memory_order_relaxed)) {
        (void)gba_common_notifications_out(&module);
        atomic_fetch_add_explicit(&harness.steps, 1, memory_order_relaxed);
        sched_yield();
    }
    return NULL;
}

static void await_steps(unsigned steps)
{
    while (atomic_load_explicit(&harness.steps, memory_order_relaxed) < steps)
        sched_yield();
}

int main(void)
{
    pthread_t thread;

    mca_pml.pml_iprobe = none_arrived;
    mca_pml.pml_isend = none_sent;
    if (0 != pthread_create(&thread, NULL, other_thread, NULL))
        return 1;
    if (OMPI_SUCCESS != gba_common_notifications_start())
        return 1;
    (void)gba_common_notifications_post(&module);
    await_steps(STEPS);
    gba_common_notifications_stop();
    await_steps(atomic_load_explicit(&harness.steps, memory_order_relaxed) + 2);
    atomic_store_explicit(&harness.stopped, true, memory_order_relaxed);
    pthread_join(thread, NULL);
    puts("the notifications start and stop beside another thread");
    return 0;
}
