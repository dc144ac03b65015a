/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stalls of barriers that libgba does not see: those on the fallback, before the members agree on a
 * path and after it, and the agreements. A callback in the progress of the waiting process reads
 * the clock. The status pages of the host tell which members on it have arrived.
 */
#include "ompi/mca/common/gba/module.h"
#include "ompi/mca/common/gba/report.h"

#include "gba/base/clock.h"

/* Time between two looks at the waiting threads, ns. */
#define LOOK_NS 50000000u

static struct {
    gba_word_t waiting; /* threads between gba_common_stall_begin and _end */
    gba_word_t due;     /* the time of the next look, ns */
    bool registered;
} stalls;

static void stall_name_member(void *ctx, uint32_t member, char *text, size_t len)
{
    gba_common_framework.name_member(((struct gba_common_module *)ctx)->owner, member, text, len);
}

static uint32_t stall_process(void *ctx, uint32_t member)
{
    return gba_common_process(ctx, member);
}

/* Of the members that wait on a host, the lowest reports. Those of a host on which nobody is
 * missing leave it to others, but for the first members: they say that it is elsewhere. */
static void stall_report(struct gba_common_module *m, uint64_t now)
{
    char name[64];
    const gba_stall_view_t view = {.name = name,
                                   .path = m->stall.what,
                                   .of = "members",
                                   .ctx = m,
                                   .size = m->size,
                                   .rank = m->rank,
                                   .name_member = stall_name_member,
                                   .job = gba_common.job,
                                   .process = stall_process};
    gba_stall_seen_t seen;

    gba_stall_see(&m->stall.watch, &view, &seen);
    if (seen.first != m->rank || (0 == seen.missing && 0 != m->rank))
        return;
    gba_common_framework.name_team(m->owner, name, sizeof name);
    gba_stall_report(&m->stall.watch, &view, &seen,
                     0 == seen.missing ? "; no member on this host is missing" : "", now);
}

/* Name a barrier when it has become long, and not before: most are short. */
static void stall_name(struct gba_common_module *m, uint64_t now)
{
    gba_where_t *place = &m->stall.watch.place;

    if ('\0' != place->name[0] || now - place->since < GBA_STALL_SEEN_NS)
        return;
    place->id = gba_common_framework.id(m->owner);
    gba_common_framework.name_team(m->owner, place->name, sizeof place->name);
}

static int stalls_look(void)
{
    bool ends = false;
    uint64_t now;

    if (0 == gba_word_load_relaxed(&stalls.waiting))
        return 0;
    now = gba_clock_ns();
    if (now < gba_word_load_relaxed(&stalls.due) || 0 != opal_mutex_trylock(&gba_common.lock))
        return 0;
    now = gba_clock_ns(); /* not before a thread that has begun to wait in the meantime */
    gba_word_store_relaxed(&stalls.due, now + LOOK_NS);
    for (struct gba_common_module *m = gba_common.modules; m != NULL; m = m->next) {
        if (m->stall.what == NULL)
            continue;
        stall_name(m, now);
        if (gba_stall_look(&m->stall.watch, now))
            stall_report(m, now);
        ends |= gba_stall_ends(&m->stall.watch, now);
    }
    opal_mutex_unlock(&gba_common.lock);
    if (ends)
        gba_common_stall_abort(NULL);
    return 0;
}

void gba_common_stall_abort(void *unused)
{
    char why[96];

    (void)unused;
    snprintf(why, sizeof why, "waits in a barrier that has stalled for %d s (abort_after)",
             gba_common.params.abort_after);
    gba_common_end_job(why);
}

void gba_common_stall_begin(struct gba_common_module *m, const char *what, uint64_t number)
{
    opal_mutex_lock(&gba_common.lock);
    if (!stalls.registered)
        stalls.registered = OPAL_SUCCESS == opal_progress_register_lp(stalls_look);
    gba_stall_begin(&m->stall.watch, "", 0, number, GBA_WHERE_BARRIER,
                    (uint64_t)gba_common.params.stuck_after * 1000000000u,
                    (uint64_t)gba_common.params.abort_after * 1000000000u, gba_clock_ns());
    m->stall.what = what;
    opal_mutex_unlock(&gba_common.lock);
    (void)gba_word_add_relaxed(&stalls.waiting, 1);
}

void gba_common_stall_end(struct gba_common_module *m)
{
    char name[64] = "";

    if (m->stall.what == NULL)
        return;
    (void)gba_word_add_relaxed(&stalls.waiting, UINT64_MAX);
    opal_mutex_lock(&gba_common.lock);
    m->stall.what = NULL;
    opal_mutex_unlock(&gba_common.lock);
    if (m->stall.watch.reported)
        gba_common_framework.name_team(m->owner, name, sizeof name);
    gba_stall_end(&m->stall.watch, name, gba_clock_ns());
}

void gba_common_stall_close(void)
{
    if (stalls.registered)
        (void)opal_progress_unregister(stalls_look);
    stalls.registered = false;
}
