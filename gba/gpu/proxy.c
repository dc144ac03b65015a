/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* CPU_SET, pthread_setname_np */
#include "gba/gpu/group.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "gba/base/clock.h"

#define IDLE   256u    /* turns between two looks at the clock */
#define NAP_NS 2000000 /* the longest sleep */

static struct {
    pthread_mutex_t lock; /* of the list; the thread holds it while it serves */
    gba_word_t wanted;    /* not 0: the thread lets go of the lock */
    struct gba_gpu_group *first;
    pthread_t thread;
    gba_word_t process; /* that has the thread; 0: there is none */
    bool stop, yields;
    uint64_t sleep_after; /* ns; 0: never */
    /* Of the thread: */
    uint64_t now, idle_since; /* ns */
    bool napped;
    uint32_t turns, idle;
} proxy = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* How often this thread has the lock. */
static _Thread_local uint32_t holds;

/* ------------------------------------------------------------------------------ the thread --- */

/* Nothing has happened in a turn. polls: a group waits for a store. yields: the CPU to others. */
static void rest(bool polls, bool yields)
{
    struct timespec nap = {.tv_nsec = NAP_NS};

    proxy.napped = false;
    if (polls && 0 != ++proxy.idle % IDLE) {
        /* Not in each turn: a hypervisor takes the CPU from a loop of pauses. */
        if (yields)
            sched_yield();
        else if (0 == proxy.idle % 8)
            gba_cpu_pause();
        return;
    }
    proxy.now = gba_clock_ns();
    if (0 == proxy.idle_since)
        proxy.idle_since = proxy.now;
    if (polls && (0 == proxy.sleep_after || proxy.now - proxy.idle_since < proxy.sleep_after))
        return;
    proxy.idle = IDLE - 1; /* the next idle turn sleeps, too */
    if (polls && (proxy.now - proxy.idle_since) / 8 < NAP_NS)
        nap.tv_nsec = (long)(proxy.now - proxy.idle_since) / 8;
    nanosleep(&nap, NULL);
    proxy.napped = true;
}

static void *proxy_main(void *unused)
{
    bool busy, polls, yields;

    (void)unused;
    holds = 1; /* whenever it calls a function */
    proxy.idle = 0;
    proxy.idle_since = 0;
    proxy.napped = false;
    pthread_mutex_lock(&proxy.lock);
    while (!proxy.stop) {
        if (0 != gba_word_load_relaxed(&proxy.wanted)) {
            pthread_mutex_unlock(&proxy.lock);
            while (0 != gba_word_load_relaxed(&proxy.wanted))
                sched_yield();
            pthread_mutex_lock(&proxy.lock);
            continue;
        }
        busy = polls = false;
        yields = proxy.yields;
        /* Also while one group is busy in each turn: the others are watched by this time. */
        if (0 == ++proxy.turns % IDLE)
            proxy.now = gba_clock_ns();
        for (struct gba_gpu_group *group = proxy.first; group != NULL; group = group->next) {
            busy |= gba_gpu_serve(group, proxy.now, proxy.napped);
            yields |= GBA_GPU_HELPED == group->state; /* to a thread that may need this CPU */
            polls |= GBA_GPU_GATHER == group->state || GBA_GPU_CROSS == group->state ||
                     GBA_GPU_HELPED == group->state;
        }
        if (busy) {
            proxy.idle = 0;
            proxy.idle_since = 0;
            proxy.napped = false;
        } else {
            rest(polls, yields);
        }
    }
    pthread_mutex_unlock(&proxy.lock);
    return NULL;
}

void gba_gpu_pause(void)
{
    if (0 != holds++)
        return;
    (void)gba_word_add_relaxed(&proxy.wanted, 1);
    pthread_mutex_lock(&proxy.lock);
}

void gba_gpu_resume(void)
{
    if (0 != --holds)
        return;
    pthread_mutex_unlock(&proxy.lock);
    (void)gba_word_add_relaxed(&proxy.wanted, (uint64_t)-1);
}

gba_status_t gba_gpu_may(void)
{
    const pid_t process = (pid_t)gba_word_load_relaxed(&proxy.process);
    static _Thread_local bool logs; /* the function for log lines may call this one */

    if (0 != process && getpid() != process) {
        if (!logs) {
            logs = true;
            gba_log_text(GBA_LOG_ERROR, "GPU member: only the process that has made members uses "
                                        "them, not its child");
            logs = false;
        }
        return GBA_ERR_UNSUPPORTED;
    }
    return 0 != holds || gba_gpu_inside ? GBA_ERR_BUSY : GBA_OK;
}

/* The CPUs of the thread: the one that the program has chosen; or where the creator is bound to
 * some of those of the process, the others, because it may poll there, too. */
static void thread_place(uint32_t cpu)
{
    cpu_set_t process, creator, other;

    CPU_ZERO(&other);
    if (0 != cpu) {
        CPU_SET(cpu - 1, &other);
        if (0 != pthread_setaffinity_np(proxy.thread, sizeof other, &other))
            gba_log_text(GBA_LOG_WARN, "GPU members: the process may not use the CPU of "
                                       "gba_gpu_attr_t.cpu; their thread uses any");
        return;
    }
    if (0 != sched_getaffinity(getpid(), sizeof process, &process) ||
        0 != sched_getaffinity(0, sizeof creator, &creator))
        return;
    CPU_XOR(&other, &process, &creator);
    CPU_AND(&other, &other, &process);
    if (0 != CPU_COUNT(&other))
        (void)pthread_setaffinity_np(proxy.thread, sizeof other, &other);
    else
        proxy.yields |= 1 == CPU_COUNT(&creator);
}

/* The thread, with the wishes of its first member. Called with the lock. */
static bool thread_start(const gba_team_own_t *own, uint32_t cpu)
{
    sigset_t all, before;
    pthread_attr_t attr;
    int failed;

    proxy.stop = false;
    proxy.yields = own->yields;
    proxy.sleep_after = own->sleep_after;
    /* The priority of a creator in real time would keep a CPU from the system. */
    if (0 != pthread_attr_init(&attr))
        return false;
    (void)pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    (void)pthread_attr_setschedpolicy(&attr, SCHED_OTHER);
    sigfillset(&all); /* the signals are for the program's threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&proxy.thread, &attr, proxy_main, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    if (0 != failed)
        return false;
    gba_word_store_relaxed(&proxy.process, (uint64_t)getpid());
    (void)pthread_setname_np(proxy.thread, "gba-gpu");
    thread_place(cpu);
    return true;
}

/* --------------------------------------------------------------------------- join and leave --- */

/* Whether the group takes the member. */
static gba_status_t admit(const struct gba_gpu_group *group, const gba_gpu_attr_t *attr)
{
    if (0 != gba_word_load_relaxed(&group->fate))
        return (gba_status_t) - (int)gba_word_load_relaxed(&group->fate);
    if (group->members != attr->members)
        return GBA_ERR_PARAM;
    return 0 != (group->made >> attr->member & 1) ? GBA_ERR_BUSY : GBA_OK;
}

/* Make the group of a team, and with the first one the thread. */
static gba_status_t group_add(gba_team_t *team, const gba_gpu_attr_t *attr,
                              struct gba_gpu_group **group, const char **why)
{
    struct gba_gpu_group *made;
    gba_team_own_t own;

    if (gba_team_has_left(team)) {
        *why = "the rank has left the team, as a member gave up in a barrier or was aborted";
        return GBA_ERR_STALE;
    }
    gba_team_own(team, &own);
    for (struct gba_gpu_group *at = proxy.first; at != NULL; at = at->next)
        if (at->own.exchange != NULL && at->own.exchange == own.exchange) {
            *why = "another team of the same bootstrap or exchange has GPU members; their "
                   "barriers would be mixed up";
            return GBA_ERR_BUSY;
        }
    made = gba_gpu_group_new(team, attr->members);
    if (made == NULL)
        return GBA_ERR_NOMEM;
    if (proxy.first == NULL && !thread_start(&made->own, attr->cpu)) {
        gba_gpu_group_free(made);
        return GBA_ERR_NOMEM;
    }
    made->next = proxy.first;
    *group = proxy.first = made;
    return GBA_OK;
}

gba_status_t gba_gpu_join(gba_team_t *team, const gba_gpu_attr_t *attr,
                          struct gba_gpu_group **group, const char **why)
{
    struct gba_gpu_group *found = proxy.first;
    gba_status_t status;

    *why = NULL;
    while (found != NULL && found->team != team)
        found = found->next;
    status = found != NULL ? admit(found, attr) : group_add(team, attr, &found, why);
    if (GBA_OK != status)
        return status;
    found->made |= UINT64_C(1) << attr->member;
    gba_word_store_release(&found->flags[attr->member].word, found->sequence);
    *group = found;
    return GBA_OK;
}

void gba_gpu_leave(struct gba_gpu_group *group)
{
    struct gba_gpu_group **at = &proxy.first;

    if (0 != group->made)
        return;
    gba_gpu_pause();
    while (*at != group)
        at = &(*at)->next;
    *at = group->next;
    gba_gpu_group_free(group);
    proxy.stop = proxy.first == NULL;
    gba_gpu_resume();
    if (!proxy.stop)
        return;
    gba_word_store_relaxed(&proxy.process, 0);
    pthread_join(proxy.thread, NULL);
}
