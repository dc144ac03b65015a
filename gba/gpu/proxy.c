/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* CPU_SET, pthread_setname_np */
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
#define IDLE           256u       /* turns between two looks at the clock */
#define NAP_NS         2000000    /* the longest sleep */
#define WATCH_NS       10000000u  /* between two looks at members that are late */
#define INSPECT_NS     100000000u /* between two looks at the registers of a direct member */

static struct {
    pthread_mutex_t lock; /* of the list; the thread holds it while it serves */
    gba_word_t wanted;    /* not 0: the thread lets go of the lock */
    struct gba_gpu_group *first;
    pthread_t thread;
    gba_word_t process; /* that has the thread; 0: there is none */
    bool stop, yields;
    uint64_t sleep_after; /* ns; 0: never */
    /* Of the thread: */
    uint64_t now, idle_since;
    uint32_t turns, idle;
    bool napped; /* before this turn */
} proxy = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* How often this thread has the lock, and whether it is in a call of gba_gpu_attr_t.attend: then a
 * call of this library comes from a function of the program, such as that for log lines. */
static _Thread_local uint32_t holds;
static _Thread_local bool attends;

/* --------------------------------------------------------------------------------- a group --- */

/* The round is complete: store the flags. */
static void release(struct gba_gpu_group *group)
{
    const bool reported = group->reported;
    char line[288];

    group->reported = false;
    group->state = GBA_GPU_GATHER;
    group->sequence++;
    group->gathered = 0;
    group->since = 0;
    for (uint32_t i = 0; i < group->members; i++)
        if (0 != (group->made >> i & 1)) /* the flag of another one has the status of its end */
            gba_word_store_release(&group->flags[i].word, group->sequence);
    if (!reported)
        return;
    /* Last: the program may abort the group in its function for log lines. */
    snprintf(line, sizeof line, "%s: barrier %u of its GPU members has ended", group->own.name,
             gba_gpu_next(group) - 1);
    gba_log_text(GBA_LOG_TEAM, line);
}

/* No further round ends for a member. */
static void flag_fail(struct gba_gpu_group *group, uint32_t member, gba_status_t status)
{
    gba_word_store_release(&group->flags[member].word,
                           (uint64_t)(uint32_t)-status << 32 |
                               (uint32_t)(group->sequence + 1 + GBA_GPU_AHEAD));
}

/* No further round ends. why: for the message; NULL: no barrier is interrupted. */
static void fail(struct gba_gpu_group *group, gba_status_t status, const char *why)
{
    char line[400];

    if (GBA_ERR_TIMEOUT == status) /* a kernel would wait again */
        status = GBA_ERR_STALE;
    group->state = GBA_GPU_FAILED;
    /* First: a program whose kernel has seen the flag finds that nobody waits. */
    gba_word_store_release(&group->fate, (uint64_t)(uint32_t)-status);
    for (uint32_t i = 0; i < group->members; i++)
        flag_fail(group, i, status);
    if (why == NULL)
        return;
    snprintf(line, sizeof line, "%s: barrier %u of its GPU members failed: %s", group->own.name,
             gba_gpu_next(group), why);
    gba_log_text(GBA_LOG_ERROR, line);
}

/* This rank makes no further barrier of the team, as the runtime learns, too. */
static void leave(struct gba_gpu_group *group, gba_status_t status)
{
    gba_team_leave(group->team);
    (void)group->attr.attend(group->attr.ctx, GBA_ERR_DEAD == status ? GBA_ERR_STALE : status);
}

/* The same, before a kernel knows. */
static void give_up(struct gba_gpu_group *group, gba_status_t status, const char *why)
{
    leave(group, status);
    fail(group, status, why);
}

void gba_gpu_abort(struct gba_gpu_group *group)
{
    static const char why[] = "gba_gpu_member_abort";

    if (0 != gba_word_load_relaxed(&group->fate))
        return;
    if (GBA_GPU_HELPED != group->state) {
        give_up(group, GBA_ERR_TIMEOUT, why);
        return;
    }
    fail(group, GBA_ERR_TIMEOUT, why);
    group->state = GBA_GPU_HELPED; /* until the call of the runtime has returned */
}

static bool arrived(const struct gba_gpu_group *group, uint32_t member)
{
    /* Acquire: pairs with the release of the GPU's store. */
    return (int32_t)(gba_gpu_count(group, member) - (group->sequence + 1)) >= 0;
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

bool gba_gpu_watch(struct gba_gpu_group *group)
{
    gba_status_t status = gba_team_watch(group->team);

    group->watched = proxy.now;
    if (status >= GBA_OK)
        return GBA_OK == status;
    gba_team_own(group->team, &group->own);
    group->sequence = group->own.sequence - (group->own.under_way ? 1 : 0);
    give_up(group, status, gba_status_text(status));
    return true;
}

static void *help(void *arg)
{
    struct gba_gpu_group *group = arg;

    attends = true;
    for (;;) {
        while (0 != sem_wait(&group->work))
            ;
        if (group->ends)
            return NULL;
        group->status = group->attr.attend(group->attr.ctx, group->status);
        gba_word_store_release(&group->helped, 1);
    }
}

static void helper_start(struct gba_gpu_group *group, gba_status_t status)
{
    group->status = status;
    gba_word_store_relaxed(&group->helped, 0);
    if (!group->has_helper)
        group->has_helper = 0 == pthread_create(&group->helper, NULL, help, group);
    if (!group->has_helper) {
        give_up(group, GBA_ERR_NOMEM, gba_status_text(GBA_ERR_NOMEM));
        return;
    }
    (void)pthread_setname_np(group->helper, "gba-gpu-attend");
    group->state = GBA_GPU_HELPED;
    sem_post(&group->work);
}

static void helper_end(struct gba_gpu_group *group)
{
    /* The path may be another one. */
    gba_team_own(group->team, &group->own);
    if (0 != gba_word_load_relaxed(&group->fate)) {
        leave(group, GBA_ERR_TIMEOUT);
        group->state = GBA_GPU_FAILED;
    } else if (GBA_OK == group->status) {
        release(group);
    } else {
        gba_team_leave(group->team);
        fail(group, group->status, gba_status_text(group->status));
    }
}

/* One look at the team's barrier. */
static gba_status_t cross(struct gba_gpu_group *group)
{
    if (0 != ++group->looks % LOOKS && !proxy.napped)
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
        if (GBA_INPROGRESS == status)
            return true; /* the members have arrived: no sleep now */
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
            (void)gba_gpu_watch(group);
        return false;
    default:
        return false;
    }
    /* A step may report a stall, and the program's function for log lines abort the group. */
    if (GBA_INPROGRESS == status || GBA_GPU_FAILED == group->state)
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
            busy |= serve(group);
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

    if (0 != process && getpid() != process)
        return GBA_ERR_UNSUPPORTED;
    return 0 != holds || attends ? GBA_ERR_BUSY : GBA_OK;
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
    /* Shared: after a fork the stores of this process would reach copies, and not the GPU. */
    memory = mmap(NULL, group->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (MAP_FAILED == memory) {
        free(group);
        return NULL;
    }
    sem_init(&group->work, 0, 0);
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
    gba_team_hold(team, 1);
    return group;
}

static void group_free(struct gba_gpu_group *group)
{
    if (group->has_helper) {
        group->ends = true;
        sem_post(&group->work);
        pthread_join(group->helper, NULL);
    }
    sem_destroy(&group->work);
    gba_team_hold(group->team, -1);
    munmap(group->doors, group->bytes);
    free(group);
}

/* Whether the group takes the member. */
static gba_status_t admit(const struct gba_gpu_group *group, const gba_gpu_attr_t *attr)
{
    if (0 != gba_word_load_relaxed(&group->fate))
        return (gba_status_t) - (int)gba_word_load_relaxed(&group->fate);
    if (group->members != attr->members && group->members + attr->members != 1)
        return GBA_ERR_PARAM;
    return 0 != (group->made >> attr->member & 1) ? GBA_ERR_BUSY : GBA_OK;
}

/* Make the group of a team, and with the first one the thread. */
static gba_status_t group_add(gba_team_t *team, const gba_gpu_attr_t *attr,
                              struct gba_gpu_group **group, const char **why)
{
    struct gba_gpu_group *made = group_new(team, attr);

    if (made != NULL && made->own.left) {
        *why = "the rank has left the team, as a member gave up in a barrier or was aborted";
        group_free(made);
        return GBA_ERR_STALE;
    }
    for (struct gba_gpu_group *at = proxy.first; made != NULL && at != NULL; at = at->next)
        if (at->own.exchange != NULL && at->own.exchange == made->own.exchange) {
            *why = "another team of the same bootstrap or exchange has GPU members; their "
                   "barriers would be mixed up";
            group_free(made);
            return GBA_ERR_BUSY;
        }
    if (made == NULL)
        return GBA_ERR_NOMEM;
    if (proxy.first == NULL && !thread_start(&made->own, attr->cpu)) {
        group_free(made);
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
    if (GBA_OK != status) {
        *why = *why != NULL ? *why : gba_status_text(status);
        return status;
    }
    found->made |= UINT64_C(1) << attr->member;
    gba_word_store_release(&found->flags[attr->member].word, found->sequence);
    *group = found;
    return GBA_OK;
}

void gba_gpu_quit(struct gba_gpu_group *group, uint32_t member)
{
    bool gave_up = GBA_GPU_CROSS == group->state;

    group->made &= ~(UINT64_C(1) << member);
    if (0 != gba_word_load_relaxed(&group->fate))
        return;
    if (0 != group->made) {
        flag_fail(group, member, GBA_ERR_STALE);
        return;
    }
    for (uint32_t i = 0; GBA_GPU_GATHER == group->state && i < group->members; i++)
        gave_up |= arrived(group, i);
    if (gave_up)
        give_up(group, GBA_ERR_TIMEOUT, gba_status_text(GBA_ERR_TIMEOUT));
    else
        fail(group, GBA_ERR_STALE, NULL);
}

void gba_gpu_leave(struct gba_gpu_group *group)
{
    struct gba_gpu_group **at = &proxy.first;

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
    gba_word_store_relaxed(&proxy.process, 0);
    pthread_mutex_unlock(&proxy.lock);
    (void)gba_word_add_relaxed(&proxy.wanted, (uint64_t)-1);
    pthread_join(proxy.thread, NULL);
    (void)gba_word_add_relaxed(&proxy.wanted, 1);
    pthread_mutex_lock(&proxy.lock);
}
