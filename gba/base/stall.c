/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one reporter of stalled barriers, of processes, threads and GPUs: when to report, and in
 * which words. Either the caller knows which members have arrived, or the status pages tell it.
 */
#include "gba/stall.h"

#include <stdio.h>
#include <string.h>

#include "gba/base/clock.h"
#include "gba/base/log.h"
#include "gba/base/where.h"

#define NAMED          8u /* missing members, and places, that a report names */
#define NAMED_AT_PLACE 4u /* of them at one place: enough to find one */

/* The job ends so much later if this member has not reported the stall, but another one has, ns. */
#define END_NS UINT64_C(5000000000)

/* If all members have arrived, a report comes so much later, ns: the barrier may just end. */
#define ALL_NS UINT64_C(1000000000)

/* A barrier is shown on the status page from then on: short for a person, long for a barrier. */
#define SEEN_NS 100000000u

void gba_stall_begin(gba_stall_t *stall, uint64_t number, uint64_t after, uint64_t end,
                     uint64_t now)
{
    *stall = (gba_stall_t){.place = {.number = number, .since = now},
                           .looked = now,
                           .due = 0 == after ? UINT64_MAX : now + after,
                           .end = 0 == end ? UINT64_MAX : now + end};
    if (stall->due > stall->end)
        stall->due = stall->end;
}

void gba_stall_show(gba_stall_t *stall, void (*name)(void *ctx, gba_where_t *place), void *ctx)
{
    int number;

    name(ctx, &stall->place);
    number = gba_where_enter(&stall->place);
    stall->number = number < 0 ? -1 : number + 1;
}

/* Do not count the time without a look, in which the process did not wait: a report, or the end of
 * the job, comes so much later. */
static void stall_away(gba_stall_t *stall, uint64_t away)
{
    if (UINT64_MAX != stall->due)
        stall->due += away;
    if (UINT64_MAX != stall->end)
        stall->end += away;
}

bool gba_stall_look(gba_stall_t *stall, uint64_t now, void (*name)(void *ctx, gba_where_t *place),
                    void *ctx)
{
    const uint64_t waited = now - stall->place.since;

    if (now - stall->looked > GBA_WHERE_AWAY_NS)
        stall_away(stall, now - stall->looked);
    if (0 == stall->number && name != NULL && waited >= SEEN_NS)
        gba_stall_show(stall, name, ctx);
    if (now - stall->looked >= SEEN_NS) {
        stall->looked = now;
        if (stall->number > 0)
            gba_where_look();
    }
    if (now < stall->due)
        return false;
    stall->due = now + waited;
    if (now < stall->end && stall->due > stall->end)
        stall->due = stall->end; /* the report precedes the end */
    return true;
}

bool gba_stall_ends(const gba_stall_t *stall, uint64_t now)
{
    return now >= stall->end && (stall->reported || now - stall->end >= END_NS);
}

void gba_stall_end(gba_stall_t *stall, const char *name, bool complete, uint64_t now)
{
    (complete ? gba_where_leave : gba_where_give_up)(stall->number - 1);
    stall->number = 0;
    if (stall->reported)
        gba_log(GBA_LOG_TEAM, "%s: barrier %llu has %s after %llu s", name,
                (unsigned long long)stall->place.number, complete ? "ended" : "failed",
                (unsigned long long)((now - stall->place.since) / 1000000000u));
    stall->reported = false;
}

/* ------------------------------------------------------------------ the missing members --- */

struct sight {
    const gba_stall_t *stall;
    const gba_stall_view_t *view;
    struct gba_where_job job;
    bool left; /* a member has left the barrier, as its page shows: so all have arrived */
};

static const gba_where_process_t *process_of(const struct sight *sight, uint32_t member)
{
    const gba_stall_view_t *view = sight->view;

    if (view->job == NULL)
        return NULL;
    return gba_where_job_find(&sight->job,
                              view->process != NULL ? view->process(view->ctx, member) : member);
}

/* Whether a place shows that its process has reached the stalled barrier, or left it. away: the
 * process does not look; a nonblocking barrier and an agreement need that. */
static bool place_reaches(const struct sight *sight, const gba_where_t *place, bool away)
{
    const gba_where_t *stalled = &sight->stall->place;

    if (GBA_WHERE_NONE == place->kind || 0 == place->id || place->id != stalled->id)
        return false;
    if (place->number != stalled->number || GBA_WHERE_BARRIER == place->kind)
        return place->number >= stalled->number;
    return !away && (GBA_WHERE_NONBLOCKING == place->kind || place->kind == stalled->kind);
}

/* Whether the last place of a process shows that it has left the stalled barrier. Nobody leaves the
 * stalled barrier before this member has arrived. So a place that was left before is of an earlier
 * communicator with the same number. */
static bool last_reaches(const struct sight *sight, const gba_where_process_t *process)
{
    return process->last.since >= sight->stall->place.since &&
           place_reaches(sight, &process->last, false);
}

static gba_arrived_t process_arrived(const struct sight *sight, const gba_where_process_t *process)
{
    const bool away = gba_where_away(process);

    for (uint32_t i = 0; i < process->count; i++)
        if (place_reaches(sight, &process->places[i], away))
            return GBA_ARRIVED_YES;
    if (last_reaches(sight, process))
        return GBA_ARRIVED_YES;
    /* A process of more barriers at once does not show all of them. */
    return GBA_WHERE_MOST == process->count ? GBA_ARRIVED_UNKNOWN : GBA_ARRIVED_NO;
}

static gba_arrived_t member_arrived(const struct sight *sight, uint32_t member)
{
    const gba_where_process_t *process;

    if (sight->view->arrived != NULL)
        return sight->view->arrived(sight->view->ctx, member);
    if (member == sight->view->rank || sight->left)
        return GBA_ARRIVED_YES;
    process = process_of(sight, member);
    if (process == NULL)
        return GBA_ARRIVED_UNKNOWN;
    return process_arrived(sight, process);
}

/* Read the status pages of the job, if there is one. If only they say who has arrived, find out
 * whether a member has left the barrier. A nonblocking barrier of this number that was left may
 * have been the agreement before it. */
static void sight_begin(struct sight *sight)
{
    const gba_where_process_t *process;

    gba_where_job_read(sight->view->job, &sight->job);
    if (sight->view->arrived != NULL)
        return;
    for (uint32_t member = 0; member < sight->view->size && !sight->left; member++) {
        process = process_of(sight, member);
        sight->left = process != NULL && last_reaches(sight, process) &&
                      (GBA_WHERE_NONBLOCKING != process->last.kind ||
                       process->last.number > sight->stall->place.number);
    }
}

/*
 * The order of the members that may report. If the status pages decide who has arrived, it is the
 * time when a member began to wait, else 0. UINT64_MAX: the page of the member shows that it does
 * not wait here. It has left the barrier, it is stopped, or it has begun the barrier and computes.
 */
static uint64_t member_since(const struct sight *sight, uint32_t member)
{
    const bool pages = sight->view->arrived == NULL;
    const gba_where_process_t *process = process_of(sight, member);
    const gba_where_t *mine = &sight->stall->place;
    uint64_t since = UINT64_MAX;

    /* A process may have two places of one barrier: of its team, and of the exchange. */
    for (uint32_t i = 0; process != NULL && i < process->count; i++)
        if (process->places[i].id == mine->id && process->places[i].number == mine->number &&
            process->places[i].since < since)
            since = process->places[i].since;
    if (member == sight->view->rank)
        return !pages ? 0 : since < mine->since ? since : mine->since;
    if (UINT64_MAX != since)
        return gba_where_away(process) ? UINT64_MAX : pages ? since : 0;
    return pages || (process != NULL && process->count < GBA_WHERE_MOST) ? UINT64_MAX : 0;
}

/* Missing members that are at the same place. */
struct crowd {
    const gba_where_process_t *first;
    uint32_t members;
    char names[NAMED_AT_PLACE * 80];
};

static bool same_place(const gba_where_process_t *a, const gba_where_process_t *b)
{
    const gba_where_t *left = a->count > 0 ? a->places : &a->last;
    const gba_where_t *right = b->count > 0 ? b->places : &b->last;

    return a->count == b->count && left->kind == right->kind && left->id == right->id &&
           left->number == right->number && (0 != left->id || 0 == strcmp(left->name, right->name));
}

static void crowd_add(struct crowd crowds[NAMED], const gba_where_process_t *process,
                      const char *name)
{
    struct crowd *crowd = crowds;
    size_t used;

    while (crowd < crowds + NAMED && crowd->members > 0 && !same_place(crowd->first, process))
        crowd++;
    if (crowd == crowds + NAMED)
        return;
    if (0 == crowd->members++)
        crowd->first = process;
    used = strlen(crowd->names);
    if (crowd->members <= NAMED_AT_PLACE)
        snprintf(crowd->names + used, sizeof crowd->names - used, "%s%.60s (pid %u)",
                 1 == crowd->members ? "" : ", ", name, process->pid);
}

void gba_stall_see(const gba_stall_t *stall, const gba_stall_view_t *view, gba_stall_seen_t *seen)
{
    struct sight sight = {.stall = stall, .view = view};
    uint64_t first = UINT64_MAX, local = UINT64_MAX, since;
    size_t used = 0;
    char one[128];

    memset(seen, 0, sizeof *seen);
    seen->first = seen->local = view->size;
    sight_begin(&sight);
    for (uint32_t member = 0; member < view->size; member++) {
        gba_arrived_t state = member_arrived(&sight, member);

        seen->unknown += GBA_ARRIVED_UNKNOWN == state;
        seen->arrived += GBA_ARRIVED_YES == state;
        since = GBA_ARRIVED_YES == state ? member_since(&sight, member) : UINT64_MAX;
        if (since < first) {
            first = since;
            seen->first = member;
        }
        if (since < local && (member == view->rank || process_of(&sight, member) != NULL)) {
            local = since;
            seen->local = member;
        }
        seen->next |= GBA_ARRIVED_NO == state && member == (view->rank + 1) % view->size;
        if (GBA_ARRIVED_NO != state || seen->missing++ >= NAMED || used >= sizeof seen->names)
            continue;
        view->name_member(view->ctx, member, one, sizeof one);
        used += (size_t)snprintf(seen->names + used, sizeof seen->names - used, "%s%s",
                                 0 == used ? "" : ", ", one);
    }
    if (seen->missing > NAMED && used < sizeof seen->names)
        snprintf(seen->names + used, sizeof seen->names - used, " and %u more",
                 seen->missing - NAMED);
    gba_where_job_free(&sight.job);
}

/* Add the missing members whose processes are visible. all: also those that have arrived, and do
 * not look. Returns whether a member is missing. */
static bool crowds_fill(const struct sight *sight, bool all, struct crowd crowds[NAMED])
{
    const gba_stall_view_t *view = sight->view;
    const gba_where_process_t *process;
    bool missing = false, here;
    char name[128];

    for (uint32_t member = 0; member < view->size; member++) {
        here = GBA_ARRIVED_NO != member_arrived(sight, member);
        missing |= !here;
        process = process_of(sight, member);
        if (process == NULL || (here && (!all || !gba_where_away(process))))
            continue;
        view->name_member(view->ctx, member, name, sizeof name);
        crowd_add(crowds, process, name);
    }
    return missing;
}

void gba_stall_places(const gba_stall_t *stall, const gba_stall_view_t *view)
{
    struct sight sight = {.stall = stall, .view = view};
    struct crowd crowds[NAMED] = {{.members = 0}};
    char text[512], more[32];

    sight_begin(&sight);
    if (!crowds_fill(&sight, false, crowds))
        (void)crowds_fill(&sight, true, crowds);
    for (const struct crowd *crowd = crowds; crowd < crowds + NAMED && crowd->members > 0;
         crowd++) {
        gba_where_text(crowd->first, text, sizeof text);
        snprintf(more, sizeof more, " and %u more", crowd->members - NAMED_AT_PLACE);
        gba_log(GBA_LOG_TEAM, "%s: %s%s: %s", view->name, crowd->names,
                crowd->members > NAMED_AT_PLACE ? more : "", text);
    }
    gba_where_job_free(&sight.job);
}

void gba_stall_report(gba_stall_t *stall, const gba_stall_view_t *view,
                      const gba_stall_seen_t *seen, const char *note, uint64_t now)
{
    char unknown[64] = "";

    stall->reported = true;
    if (seen->unknown > 0)
        snprintf(unknown, sizeof unknown, " (%u not visible to this process)", seen->unknown);
    gba_log(
        GBA_LOG_TEAM, "%s: barrier %llu (%s) stalled for %llu s: %u of %u %s have arrived%s%s%s%s",
        view->name, (unsigned long long)stall->place.number, view->path,
        (unsigned long long)((now - stall->place.since) / 1000000000u), seen->arrived, view->size,
        view->of, unknown, '\0' == seen->names[0] ? "" : "; missing: ", seen->names, note);
    gba_stall_places(stall, view);
}

void gba_stall_watch(gba_stall_t *stall, const gba_stall_view_t *view,
                     void (*name)(void *ctx, gba_where_t *place), uint64_t now)
{
    gba_stall_seen_t seen;

    if (!gba_stall_look(stall, now, name, view->ctx))
        return;
    gba_stall_see(stall, view, &seen);
    if (seen.arrived == view->size && !stall->all && !stall->reported) {
        stall->all = true;
        stall->due = now + ALL_NS;
        if (now < stall->end && stall->due > stall->end)
            stall->due = stall->end; /* the report precedes the end */
        return;
    }
    stall->all = false;
    if (seen.first == view->rank)
        gba_stall_report(stall, view, &seen,
                         0 == seen.missing ? "; no member that this process sees is missing" : "",
                         now);
}
