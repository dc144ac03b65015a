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
#define LOOK_NS 100000000u

static struct {
    gba_word_t waiting;              /* threads between gba_common_stall_begin and _end */
    gba_word_t due;                  /* the time of the next look, ns */
    struct gba_common_module *first; /* the list of their modules, under gba_common.lock */
    bool registered;
} stalls;

void gba_common_stall_place(void *module, gba_where_t *place)
{
    const struct gba_common_module *m = module;

    place->id = gba_common_framework.id(m->owner) + 1; /* that of MPI_COMM_WORLD is 0 */
    gba_common_framework.name_team(m->owner, place->name, sizeof place->name);
}

/* Of the members that wait on a host, the one that has waited longest reports. (All of them read
 * the pages for that. A file that the first one makes would cost less, but a later communicator of
 * the same number would find it.) */
static void stall_look(struct gba_common_module *m, uint64_t now)
{
    const gba_stall_view_t view = {.name = m->stall.watch.place.name,
                                   .path = m->stall.what,
                                   .of = "members",
                                   .ctx = m,
                                   .size = m->size,
                                   .rank = m->rank,
                                   .name_member = gba_common_name_member,
                                   .job = gba_common.job,
                                   .process = gba_common_process};

    gba_stall_watch(&m->stall.watch, &view, gba_common_stall_place, now);
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
    for (struct gba_common_module *m = stalls.first; m != NULL; m = m->stall.next) {
        stall_look(m, now);
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

void gba_common_stall_begin(struct gba_common_module *m, const char *what, gba_where_kind_t kind,
                            uint64_t number)
{
    opal_mutex_lock(&gba_common.lock);
    if (!stalls.registered)
        stalls.registered = OPAL_SUCCESS == opal_progress_register_lp(stalls_look);
    gba_stall_begin(&m->stall.watch, number, (uint64_t)gba_common.params.stuck_after * 1000000000u,
                    (uint64_t)gba_common.params.abort_after * 1000000000u, gba_clock_ns());
    m->stall.watch.place.kind = kind;
    m->stall.what = what;
    m->stall.next = stalls.first;
    stalls.first = m;
    if (GBA_WHERE_NONBLOCKING == kind) /* the process may call MPI only much later */
        gba_stall_show(&m->stall.watch, gba_common_stall_place, m);
    opal_mutex_unlock(&gba_common.lock);
    (void)gba_word_add_relaxed(&stalls.waiting, 1);
}

void gba_common_stall_end(struct gba_common_module *m, bool complete)
{
    struct gba_common_module **link = &stalls.first;

    if (m->stall.what == NULL)
        return;
    (void)gba_word_add_relaxed(&stalls.waiting, UINT64_MAX);
    opal_mutex_lock(&gba_common.lock);
    while (*link != m)
        link = &(*link)->stall.next;
    *link = m->stall.next;
    m->stall.what = NULL;
    opal_mutex_unlock(&gba_common.lock);
    if (0 != m->stall.watch.number)
        gba_stall_end(&m->stall.watch, m->stall.watch.place.name, complete, gba_clock_ns());
}

void gba_common_stall_close(void)
{
    if (stalls.registered)
        (void)opal_progress_unregister(stalls_look);
    stalls.registered = false;
}
