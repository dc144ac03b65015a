/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* CPU_SET */
#include "gba/gpu/proxy.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "gba/base/clock.h"

/* Sequences wrap soon, so that an error in that does not wait for weeks. */
#define FIRST_SEQUENCE (UINT32_MAX - 15)
#define LOOKS          64u        /* tests of a barrier between two calls of progress */
#define IDLE           256u       /* idle turns between two looks at the clock */
#define NAP_NS         2000000    /* the longest sleep */
#define WATCH_NS       10000000u  /* between two looks at members that are late */
#define INSPECT_NS     100000000u /* between two looks at the registers of a direct member */

static struct {
    pthread_mutex_t lock; /* of the list; the thread holds it while it serves */
    gba_word_t wanted;    /* not 0: the thread lets go of the lock */
    struct gba_gpu_group *first;
    pthread_t thread;
    bool stop, yields;
    uint64_t sleep_after; /* ns; 0: never */
    /* Of the thread: */
    uint64_t now, idle_since;
    uint32_t idle;
} proxy = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --------------------------------------------------------------------------------- a group --- */

/* The round is complete: store the flags. */
static void release(struct gba_gpu_group *group)
{
    char line[288];

    if (group->reported) {
        group->reported = false;
        snprintf(line, sizeof line, "%s: barrier %u of its GPU members has ended", group->own.name,
                 gba_gpu_next(group));
        gba_log_text(GBA_LOG_TEAM, line);
    }
    group->state = GBA_GPU_GATHER;
    group->sequence++;
    group->gathered = 0;
    group->since = 0;
    for (uint32_t i = 0; i < group->members; i++)
        gba_word_store_release(&group->flags[i].word, group->sequence);
}

/* No further round ends. */
static void fail(struct gba_gpu_group *group, gba_status_t status)
{
    const uint64_t word =
        (uint64_t)(uint32_t)-status << 32 | (uint32_t)(group->sequence + 1 + GBA_GPU_AHEAD);
    char line[400];

    group->state = GBA_GPU_FAILED;
    /* First: a program whose kernel has seen the flag finds that nobody waits. */
    gba_word_store_release(&group->fate, (uint64_t)(uint32_t)-status);
    for (uint32_t i = 0; i < group->members; i++)
        gba_word_store_release(&group->flags[i].word, word);
    snprintf(line, sizeof line, "%s: barrier %u of its GPU members failed: %s", group->own.name,
             gba_gpu_next(group), gba_status_text(status));
    gba_log_text(GBA_LOG_ERROR, line);
}

/* This rank makes no further barrier of the team, which is said before a kernel knows. */
static void give_up(struct gba_gpu_group *group, gba_status_t status)
{
    (void)group->attr.attend(group->attr.ctx, GBA_ERR_DEAD == status ? GBA_ERR_STALE : status);
    fail(group, status);
}

static bool arrived(const struct gba_gpu_group *group, uint32_t member)
{
    /* Acquire: pairs with the release of the GPU's store. */
    const uint64_t door = gba_word_load_acquire(&group->doors[member].word);

    return (int32_t)((uint32_t)(door >> 32) - (group->sequence + 1)) >= 0;
}

/* Some members have arrived and others have not: report these, once. The other ranks name this one
 * by the watchdog of the team. */
static void gather_watch(struct gba_gpu_group *group)
{
    char line[480], names[160] = "";
    uint32_t late = 0;
    size_t used = 0;

    group->watched = proxy.now;
    for (uint32_t i = 0; i < group->members; i++)
        if (!arrived(group, i) && late++ < 8)
            used += (size_t)snprintf(names + used, sizeof names - used, "%sgpu member %u",
                                     0 == used ? "" : ", ", i);
    if (late == group->members || 0 == group->own.stuck_after)
        group->since = 0;
    else if (0 == group->since)
        group->since = proxy.now;
    else if (!group->reported && proxy.now - group->since >= group->own.stuck_after) {
        group->reported = true;
        snprintf(line, sizeof line,
                 "%s: barrier %u stalled for %llu s: %u of %u GPU members have arrived; "
                 "missing: %s",
                 group->own.name, gba_gpu_next(group),
                 (unsigned long long)((proxy.now - group->since) / 1000000000u),
                 group->members - late, group->members, names);
        gba_log_text(GBA_LOG_TEAM, line);
    }
}

static void direct_watch(struct gba_gpu_group *group)
{
    gba_status_t status = gba_team_watch(group->team);

    group->watched = proxy.now;
    if (GBA_OK == status)
        return;
    gba_team_own(group->team, &group->own);
    group->sequence = group->own.sequence - (group->own.under_way ? 1 : 0);
    give_up(group, status);
}

static void *help(void *arg)
{
    struct gba_gpu_group *group = arg;

    group->status = group->attr.attend(group->attr.ctx, group->status);
    gba_word_store_release(&group->helped, 1);
    return NULL;
}

static void helper_start(struct gba_gpu_group *group, gba_status_t status)
{
    group->status = status;
    group->state = GBA_GPU_HELPED;
    gba_word_store_relaxed(&group->helped, 0);
    if (0 != pthread_create(&group->helper, NULL, help, group))
        give_up(group, GBA_ERR_NOMEM);
}

static void helper_end(struct gba_gpu_group *group)
{
    pthread_join(group->helper, NULL);
    /* The path may be another one. */
    gba_team_own(group->team, &group->own);
    if (GBA_OK == group->status)
        release(group);
    else
        fail(group, group->status);
}

/* One look at the team's barrier. */
static gba_status_t cross(struct gba_gpu_group *group)
{
    if (0 != ++group->looks % LOOKS)
        return gba_barrier_test(group->team);
    (void)group->attr.attend(group->attr.ctx, GBA_INPROGRESS);
    return gba_barrier_progress(group->team);
}

/* All members of the group have arrived: begin the barrier of the team. */
static gba_status_t cross_begin(struct gba_gpu_group *group)
{
    gba_status_t status;

    if (GBA_PATH_FALLBACK == gba_team_path(group->team))
        return GBA_ERR_UNSUPPORTED; /* its barrier blocks */
    group->looks = 0;
    status = gba_barrier_start(group->team);
    if (GBA_OK == status)
        group->state = GBA_GPU_CROSS;
    return GBA_OK == status ? cross(group) : status;
}

/* A turn for a group. Returns whether something has happened. */
static bool serve(struct gba_gpu_group *group)
{
    gba_status_t status;

    switch (group->state) {
    case GBA_GPU_GATHER:
        while (group->gathered < group->members && arrived(group, group->gathered))
            group->gathered++;
        if (group->gathered < group->members) {
            if (proxy.now - group->watched >= WATCH_NS)
                gather_watch(group);
            return false;
        }
        status = cross_begin(group);
        break;
    case GBA_GPU_CROSS:
        status = cross(group);
        break;
    case GBA_GPU_HELPED:
        if (0 == gba_word_load_acquire(&group->helped))
            return false;
        helper_end(group);
        return true;
    case GBA_GPU_DIRECT:
        if (proxy.now - group->watched >= INSPECT_NS)
            direct_watch(group);
        return false;
    default:
        return false;
    }
    if (GBA_INPROGRESS == status)
        return false;
    if (GBA_OK == status && GBA_DUE_NOTHING == gba_team_due(group->team, true))
        release(group);
    else
        helper_start(group, status);
    return true;
}

/* -------------------------------------------------------------------------------- the thread ---
 */

/* Nothing has happened in a turn. polls: a group waits for a store. yields: the CPU to others. */
static void rest(bool polls, bool yields)
{
    struct timespec nap = {.tv_nsec = NAP_NS};

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
}

static void *proxy_main(void *unused)
{
    bool busy, polls, yields;

    (void)unused;
    proxy.idle = 0;
    proxy.idle_since = 0;
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
        for (struct gba_gpu_group *group = proxy.first; group != NULL; group = group->next) {
            busy |= serve(group);
            yields |= GBA_GPU_HELPED == group->state; /* to a thread that may need this CPU */
            polls |= GBA_GPU_GATHER == group->state || GBA_GPU_CROSS == group->state ||
                     GBA_GPU_HELPED == group->state;
        }
        if (busy) {
            proxy.idle = 0;
            proxy.idle_since = 0;
        } else {
            rest(polls, yields);
        }
    }
    pthread_mutex_unlock(&proxy.lock);
    return NULL;
}

void gba_gpu_pause(void)
{
    (void)gba_word_add_relaxed(&proxy.wanted, 1);
    pthread_mutex_lock(&proxy.lock);
}

void gba_gpu_resume(void)
{
    pthread_mutex_unlock(&proxy.lock);
    (void)gba_word_add_relaxed(&proxy.wanted, (uint64_t)-1);
}

/* The thread, with the wishes of its first member. */
static bool thread_start(const gba_team_own_t *own, uint32_t cpu)
{
    sigset_t all, before;
    cpu_set_t cpus;
    int failed;

    proxy.stop = false;
    proxy.yields = own->yields;
    proxy.sleep_after = own->sleep_after;
    sigfillset(&all); /* the signals are for the program's threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&proxy.thread, NULL, proxy_main, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (0 != failed)
        return false;
    if (0 != cpu) {
        CPU_ZERO(&cpus);
        CPU_SET(cpu - 1, &cpus);
        if (0 != pthread_setaffinity_np(proxy.thread, sizeof cpus, &cpus))
            gba_log_text(GBA_LOG_WARN, "GPU members: the process may not use the CPU of "
                                       "gba_gpu_attr_t.cpu; their thread uses any");
    }
    return true;
}

/* --------------------------------------------------------------------------- join and leave --- */

/* A group without members. */
static struct gba_gpu_group *group_new(gba_team_t *team, const gba_gpu_attr_t *attr)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const uint32_t members = 0 == attr->members ? 1 : attr->members;
    struct gba_gpu_group *group = calloc(1, sizeof *group);
    void *memory;

    if (group == NULL)
        return NULL;
    group->bytes = (2 * members * sizeof *group->doors + page - 1) / page * page;
    memory = mmap(NULL, group->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (MAP_FAILED == memory) {
        free(group);
        return NULL;
    }
    group->team = team;
    group->attr = *attr;
    group->members = members;
    group->doors = memory;
    group->flags = group->doors + members;
    group->first = group->sequence = FIRST_SEQUENCE;
    for (uint32_t i = 0; i < members; i++) {
        gba_word_store_relaxed(&group->doors[i].word, (uint64_t)group->sequence << 32);
        gba_word_store_relaxed(&group->flags[i].word, group->sequence);
    }
    gba_team_own(team, &group->own);
    return group;
}

static void group_free(struct gba_gpu_group *group)
{
    munmap(group->doors, group->bytes);
    free(group);
}

gba_status_t gba_gpu_join(gba_team_t *team, const gba_gpu_attr_t *attr,
                          struct gba_gpu_group **group)
{
    const bool idle = proxy.first == NULL;
    struct gba_gpu_group *found = proxy.first;

    while (found != NULL && found->team != team)
        found = found->next;
    if (found != NULL) {
        if (found->members != attr->members && found->members + attr->members != 1)
            return GBA_ERR_PARAM;
        if (0 != (found->made >> attr->member & 1))
            return GBA_ERR_BUSY;
    } else {
        found = group_new(team, attr);
        if (found == NULL)
            return GBA_ERR_NOMEM;
        if (idle && !thread_start(&found->own, attr->cpu)) {
            group_free(found);
            return GBA_ERR_NOMEM;
        }
        found->next = proxy.first;
        proxy.first = found;
    }
    found->made |= UINT64_C(1) << attr->member;
    *group = found;
    return GBA_OK;
}

void gba_gpu_quit(struct gba_gpu_group *group)
{
    bool gave_up = GBA_GPU_CROSS == group->state;

    for (uint32_t i = 0; GBA_GPU_GATHER == group->state && i < group->members; i++)
        gave_up |= arrived(group, i);
    if (gave_up)
        give_up(group, GBA_ERR_TIMEOUT);
    group->state = GBA_GPU_FAILED;
}

void gba_gpu_leave(struct gba_gpu_group *group, uint32_t member)
{
    struct gba_gpu_group **at = &proxy.first;

    group->made &= ~(UINT64_C(1) << member);
    if (0 != group->made)
        return;
    while (*at != group)
        at = &(*at)->next;
    *at = group->next;
    group_free(group);
    if (proxy.first != NULL)
        return;
    /* The thread waits until nobody wants the lock. It sees `stop` when it has the lock again. */
    proxy.stop = true;
    pthread_mutex_unlock(&proxy.lock);
    (void)gba_word_add_relaxed(&proxy.wanted, (uint64_t)-1);
    pthread_join(proxy.thread, NULL);
    (void)gba_word_add_relaxed(&proxy.wanted, 1);
    pthread_mutex_lock(&proxy.lock);
}
