/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* pthread_setname_np */
#include "gba/gpu/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gba/base/clock.h"

/* Sequences wrap soon, so that an error in that does not wait for weeks. */
#define FIRST_SEQUENCE (UINT32_MAX - 15)
#define LOOKS          64u        /* tests of a barrier between two calls of progress */
#define WATCH_NS       10000000u  /* between two looks at members that are late */
#define INSPECT_NS     100000000u /* between two looks at the registers of a direct member */

_Thread_local bool gba_gpu_inside;

/* The round is complete: store the flags. */
static void release(struct gba_gpu_group *group)
{
    gba_stall_t stall = group->stall;

    group->stall = (gba_stall_t){.reported = false};
    group->state = GBA_GPU_GATHER;
    group->sequence++;
    group->gathered = 0;
    for (uint32_t i = 0; i < group->members; i++)
        if (0 != (group->made >> i & 1)) /* the flag of another one has the status of its end */
            gba_word_store_release(&group->flags[i].word, group->sequence);
    /* Last: the program may abort the group in its function for log lines. */
    if (stall.reported)
        gba_stall_end(&stall, group->own.name, true, gba_clock_ns());
}

/* No further round ends for a member. */
static void flag_fail(struct gba_gpu_group *group, uint32_t member, gba_status_t status)
{
    gba_word_store_release(&group->flags[member].word,
                           (uint64_t)(uint32_t)-status << 32 |
                               (uint32_t)(group->sequence + 1 + GBA_GPU_AHEAD));
}

/* No further round ends. why: for the message, of a barrier that is interrupted: this rank makes no
 * further one of the team, before a kernel knows; NULL: none is interrupted. */
static void fail(struct gba_gpu_group *group, gba_status_t status, const char *why)
{
    char line[400];

    if (GBA_ERR_TIMEOUT == status) /* a kernel would wait again */
        status = GBA_ERR_STALE;
    if (GBA_GPU_HELPED != group->state) { /* else helper_end does, after the call of the runtime */
        group->state = GBA_GPU_FAILED;
        if (why != NULL)
            gba_team_leave(group->team);
    }
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

void gba_gpu_abort(struct gba_gpu_group *group)
{
    if (0 == gba_word_load_relaxed(&group->fate))
        fail(group, GBA_ERR_TIMEOUT, "gba_gpu_member_abort");
}

static bool arrived(const struct gba_gpu_group *group, uint32_t member)
{
    /* Acquire: pairs with the release of the GPU's store. */
    return (int32_t)(gba_gpu_count(group, member) - (group->sequence + 1)) >= 0;
}

static gba_arrived_t sight_arrived(void *group, uint32_t member)
{
    return arrived(group, member) ? GBA_ARRIVED_YES : GBA_ARRIVED_NO;
}

static void sight_name(void *group, uint32_t member, char *text, size_t len)
{
    (void)group;
    snprintf(text, len, "gpu member %u", member);
}

/* Some members have arrived and others have not: report these. The other ranks name this one by the
 * watchdog of the team. */
static void gather_watch(struct gba_gpu_group *group, uint64_t now)
{
    const gba_stall_view_t view = {.name = group->own.name,
                                   .path = "GPU",
                                   .of = "GPU members",
                                   .ctx = group,
                                   .size = group->members,
                                   .arrived = sight_arrived,
                                   .name_member = sight_name};
    gba_stall_seen_t seen;
    uint32_t first = 0;

    group->watched = now;
    while (first < group->members && !arrived(group, first))
        first++;
    if (first == group->members) {
        group->stall.place.number = 0;
    } else if (0 == group->stall.place.number) {
        gba_stall_begin(&group->stall, gba_gpu_next(group), group->own.stuck_after, 0, now);
    } else if (gba_stall_look(&group->stall, now, NULL, NULL)) {
        gba_stall_see(&group->stall, &view, &seen);
        gba_stall_report(&group->stall, &view, &seen, "", now);
    }
}

bool gba_gpu_watch(struct gba_gpu_group *group, uint64_t now)
{
    gba_status_t status = gba_team_watch(group->team);

    group->watched = now;
    gba_team_own(group->team, &group->own);
    if (group->own.doorbell != NULL) /* else the team has failed, and `own` lacks the sequence */
        group->sequence = group->own.sequence - (group->own.under_way ? 1 : 0);
    if (status < GBA_OK && 0 == gba_word_load_relaxed(&group->fate)) /* it may be aborted */
        fail(group, status, gba_status_text(status));
    return GBA_INPROGRESS != status;
}

void gba_gpu_settle(struct gba_gpu_group *group)
{
    gba_status_t status;

    if (gba_team_has_left(group->team))
        return;
    status = gba_team_watch(group->team);
    gba_team_own(group->team, &group->own);
    if (GBA_OK != status || group->own.under_way)
        gba_team_leave(group->team);
}

static void *help(void *arg)
{
    struct gba_gpu_group *group = arg;

    gba_gpu_inside = true;
    for (;;) {
        while (0 != sem_wait(&group->work))
            ;
        if (group->ends)
            return NULL;
        group->status = gba_barrier_end(group->team, group->status);
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
        fail(group, GBA_ERR_NOMEM, gba_status_text(GBA_ERR_NOMEM));
        return;
    }
    (void)pthread_setname_np(group->helper, "gba-gpu-end");
    group->state = GBA_GPU_HELPED;
    sem_post(&group->work);
}

static void helper_end(struct gba_gpu_group *group)
{
    /* The path may be another one. */
    gba_team_own(group->team, &group->own);
    group->state = GBA_GPU_FAILED;
    if (0 != gba_word_load_relaxed(&group->fate))
        gba_team_leave(group->team);
    else if (GBA_OK == group->status)
        release(group);
    else
        fail(group, group->status, gba_status_text(group->status));
}

/* One look at the team's barrier, which begins when all members of the group have arrived. */
static gba_status_t cross(struct gba_gpu_group *group, bool napped)
{
    const gba_runtime_t *runtime = group->own.runtime;
    gba_status_t status;

    if (GBA_GPU_GATHER == group->state) {
        if (GBA_PATH_FALLBACK == gba_team_path(group->team))
            return GBA_UNFINISHED; /* its barrier blocks */
        group->looks = 0;
        group->state = GBA_GPU_CROSS; /* before a line of the start, whose function may abort */
        status = gba_barrier_start(group->team);
        if (GBA_OK != status || GBA_GPU_FAILED == group->state)
            return status;
    }
    if (0 != ++group->looks % LOOKS && !napped)
        return gba_barrier_test(group->team);
    if (runtime->progress != NULL)
        (void)runtime->progress(runtime->ctx);
    return gba_barrier_progress(group->team);
}

bool gba_gpu_serve(struct gba_gpu_group *group, uint64_t now, bool napped)
{
    const bool gathers = GBA_GPU_GATHER == group->state;
    gba_status_t status;

    switch (group->state) {
    case GBA_GPU_GATHER:
        while (group->gathered < group->members && arrived(group, group->gathered))
            group->gathered++;
        if (group->gathered < group->members) {
            if (now - group->watched >= WATCH_NS)
                gather_watch(group, now);
            return false;
        }
        break;
    case GBA_GPU_CROSS:
        break;
    case GBA_GPU_HELPED:
        if (0 == gba_word_load_acquire(&group->helped))
            return false;
        helper_end(group);
        return true;
    case GBA_GPU_DIRECT:
        if (now - group->watched >= INSPECT_NS)
            (void)gba_gpu_watch(group, now);
        return false;
    default:
        return false;
    }
    status = cross(group, napped);
    /* A step may report a stall, and the program's function for log lines abort the group. */
    if (GBA_INPROGRESS == status || GBA_GPU_FAILED == group->state)
        return gathers; /* if the members have just arrived: no sleep now */
    /* After a failure of the device gba_barrier_end also delivers the notifications that are owed.
     */
    if (GBA_OK == status && 0 == gba_team_failed_id(group->team) &&
        GBA_DUE_NOTHING == gba_team_due(group->team, true))
        release(group);
    else
        helper_start(group, status);
    return true;
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
    fail(group, GBA_ERR_STALE, gave_up ? gba_status_text(GBA_ERR_TIMEOUT) : NULL);
}

/* --------------------------------------------------------------------------- make and free --- */

struct gba_gpu_group *gba_gpu_group_new(gba_team_t *team, uint32_t members)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
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
    group->members = members;
    group->doors = memory;
    group->flags = group->doors + members;
    group->first = group->sequence = FIRST_SEQUENCE;
    for (uint32_t i = 0; i < members; i++)
        gba_word_store_relaxed(&group->doors[i].word, (uint64_t)group->sequence << 32);
    gba_team_own(team, &group->own);
    gba_team_hold(team, 1);
    return group;
}

void gba_gpu_group_free(struct gba_gpu_group *group)
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
