/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/notice_world.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "gba/base/clock.h"
#include "gba/engine.h"

/* A notice takes up to this long. */
#define SLOWEST_NS 2000000u

struct message {
    struct message *next;
    uint32_t from, to;
    uint64_t due;
    bool taken; /* and not answered yet */
    gba_notice_t notice;
};

static struct {
    pthread_mutex_t lock;
    pthread_t thread;
    struct message *messages;
    uint64_t id; /* of the first team; that of its member r is the r-th after it */
    uint32_t size;
    unsigned seed, sent;
    bool stop;
} service = {.lock = PTHREAD_MUTEX_INITIALIZER};

void __real_gba_recovery_register(struct gba_team *team, uint64_t id);
void __wrap_gba_recovery_register(struct gba_team *team, uint64_t id);

void __wrap_gba_recovery_register(struct gba_team *team, uint64_t id)
{
    __real_gba_recovery_register(team, 0 == id ? 0 : id + 1 + team->rank);
}

/* Under the lock. */
static void post(uint32_t from, uint32_t to, const gba_notice_t *notice)
{
    struct message *m = calloc(1, sizeof *m);

    *m = (struct message){.next = service.messages,
                          .from = from,
                          .to = to,
                          .due = gba_clock_ns() + (uint64_t)rand_r(&service.seed) % SLOWEST_NS,
                          .notice = *notice};
    m->notice.team += (uint64_t)to - from; /* the receiver's own id */
    service.messages = m;
    service.sent++;
}

unsigned notices_sent(void)
{
    return service.sent;
}

/* Returns whether there is nothing more to do for it. */
static bool deliver(struct message *m)
{
    gba_notice_t answer;

    if (!m->taken)
        (void)gba_notice_take(&m->notice);
    m->taken = true;
    if (m->notice.over)
        return true;
    if (GBA_OK != gba_notice_answer(&m->notice, &answer))
        return false;
    post(m->to, m->from, &answer);
    return true;
}

static void *serve(void *arg)
{
    bool stop = false;

    (void)arg;
    while (!stop) {
        uint64_t now = gba_clock_ns();

        pthread_mutex_lock(&service.lock);
        for (struct message **link = &service.messages, *m; NULL != (m = *link);) {
            if (m->due > now || !deliver(m)) {
                link = &m->next;
                continue;
            }
            /* An answer stands before it now. */
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

/* Tell the others, and wait: as a runtime does when a barrier says GBA_ERR_DEAD. */
static gba_status_t outlive(struct world *w, gba_team_t *team, uint32_t rank)
{
    gba_status_t status;
    gba_notice_t notice;
    bool told = false;

    (void)w;
    while (GBA_INPROGRESS == (status = gba_barrier_test(team))) {
        if (!told && GBA_OK == gba_team_notice(team, &notice)) {
            pthread_mutex_lock(&service.lock);
            for (uint32_t r = 0; r < service.size; r++)
                if (r != rank)
                    post(rank, r, &notice);
            pthread_mutex_unlock(&service.lock);
            told = true;
        }
        usleep(20);
    }
    return status;
}

void notices_start(struct world *w, uint32_t size)
{
    service.id += 100 * WORLD_IDS; /* no team has the id of another */
    service.size = size;
    service.stop = false;
    service.seed++;
    service.sent = 0;
    w->id = service.id;
    w->outlive = outlive;
    if (0 != pthread_create(&service.thread, NULL, serve, NULL))
        abort();
}

void notices_stop(struct world *w)
{
    struct message *next;

    pthread_mutex_lock(&service.lock);
    service.stop = true;
    pthread_mutex_unlock(&service.lock);
    pthread_join(service.thread, NULL);
    for (; NULL != service.messages; service.messages = next) {
        next = service.messages->next;
        free(service.messages);
    }
    w->id = 0;
    w->outlive = NULL;
}
