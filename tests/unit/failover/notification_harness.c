/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/failover/notification_harness.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "gba/base/clock.h"
#include "gba/failover/engine.h"

/* The longest delivery time of a notification. */
#define SLOWEST_NS 2000000u

struct message {
    struct message *next;
    uint32_t from, to;
    uint64_t due;
    bool taken; /* not answered yet */
    gba_notification_t notification;
};

static struct {
    pthread_mutex_t lock;
    pthread_t thread;
    struct message *messages;
    uint64_t id; /* of the first team; member r has the r-th id after it */
    uint32_t size;
    unsigned seed, sent;
    bool stop;
} service = {.lock = PTHREAD_MUTEX_INITIALIZER};

void __real_gba_failover_register(struct gba_team *team, uint64_t id);
void __wrap_gba_failover_register(struct gba_team *team, uint64_t id);

void __wrap_gba_failover_register(struct gba_team *team, uint64_t id)
{
    __real_gba_failover_register(team, id + 1 + team->rank);
}

/* Under the lock. */
static void post(uint32_t from, uint32_t to, const gba_notification_t *notification)
{
    struct message *m = calloc(1, sizeof *m);

    *m = (struct message){.next = service.messages,
                          .from = from,
                          .to = to,
                          .due = gba_clock_ns() + (uint64_t)rand_r(&service.seed) % SLOWEST_NS,
                          .notification = *notification};
    m->notification.team += (uint64_t)to - from; /* the receiver's own id */
    service.messages = m;
    service.sent++;
}

unsigned notifications_sent(void)
{
    return service.sent;
}

/* Returns whether the notification is finished. */
static bool deliver(struct message *m)
{
    gba_notification_t answer;
    gba_status_t status;

    if (!m->taken)
        (void)gba_notification_take(&m->notification);
    m->taken = true;
    if (m->notification.completed)
        return true;
    status = gba_notification_answer(&m->notification, &answer);
    if (GBA_OK == status)
        post(m->to, m->from, &answer);
    return GBA_INPROGRESS != status;
}

static void *serve(void *arg)
{
    bool stop = false;

    (void)arg;
    while (!stop) {
        uint64_t now = gba_clock_ns();

        pthread_mutex_lock(&service.lock);
        for (struct message **link = &service.messages, *m; (m = *link) != NULL;) {
            if (m->due > now || !deliver(m)) {
                link = &m->next;
                continue;
            }
            /* The slot holds the answer now. */
            for (link = &service.messages; *link != m; link = &(*link)->next)
                ;
            *link = m->next;
            free(m);
        }
        stop = service.stop;
        pthread_mutex_unlock(&service.lock);
        usleep(100);
    }
    return NULL;
}

void notifications_post(gba_team_t *team, uint32_t rank)
{
    gba_notification_t notification;
    uint32_t to;

    while (GBA_OK == gba_team_notification(team, &notification, &to)) {
        pthread_mutex_lock(&service.lock);
        post(rank, to, &notification);
        pthread_mutex_unlock(&service.lock);
    }
}

void notifications_start(struct harness *w, uint32_t size)
{
    service.id += 100 * HARNESS_IDS; /* no two teams have the same id */
    service.size = size;
    service.stop = false;
    service.seed++;
    service.sent = 0;
    w->id = service.id;
    if (0 != pthread_create(&service.thread, NULL, serve, NULL))
        abort();
}

void notifications_stop(struct harness *w)
{
    struct message *next;

    pthread_mutex_lock(&service.lock);
    service.stop = true;
    pthread_mutex_unlock(&service.lock);
    pthread_join(service.thread, NULL);
    for (; service.messages != NULL; service.messages = next) {
        next = service.messages->next;
        free(service.messages);
    }
    w->id = 0;
}
