/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports of stalled barriers that libgba does not see: those on the fallback, before the ranks
 * agree on a path and after it, and the agreement. A callback in the progress of the waiting rank
 * reads the clock. It does not know which ranks are missing.
 */
#include "ompi/mca/coll/gba_barrier/agree.h"
#include "ompi/mca/common/gba/report.h"

#include "gba/base/clock.h"

/* Time between two looks at the waiting threads, ns. */
#define LOOK_NS 100000000u

static struct {
    gba_word_t waiting; /* threads between gba_coll_stall_begin and _end */
    gba_word_t due;     /* the time of the next look, ns */
    bool registered;
} stalls;

static void stall_report(gba_coll_module_t *module, uint64_t now)
{
    const uint64_t waited = now - module->stall.began;
    char topic[128];

    module->stall.reported = true;
    /* Disjoint communicators may have the same id. */
    snprintf(topic, sizeof topic, "stall %u %d %llu", GBA_COMM_ID(module->comm),
             gba_common_framework.peer(module, 0), module->base.fallbacks);
    if (!gba_common_first_on_host(topic))
        return;
    module->stall.reporter = true;
    gba_common_alert("%s (id %u): barrier %llu (%s) stalled for %llu s: rank %u waits in it; which "
                     "of the %u ranks are missing is not known",
                     gba_compat_comm_name(module->comm), GBA_COMM_ID(module->comm),
                     module->base.fallbacks + 1, module->stall.what,
                     (unsigned long long)(waited / 1000000000u), (unsigned)module->base.rank,
                     (unsigned)module->base.size);
}

static int stalls_look(void)
{
    const uint64_t after = (uint64_t)gba_common.params.stuck_after * 1000000000u;
    uint64_t now;

    if (0 == gba_word_load_relaxed(&stalls.waiting))
        return 0;
    now = gba_clock_ns();
    if (now < gba_word_load_relaxed(&stalls.due) || 0 != opal_mutex_trylock(&gba_common.lock))
        return 0;
    now = gba_clock_ns(); /* not before a thread that has begun to wait in the meantime */
    gba_word_store_relaxed(&stalls.due, now + LOOK_NS);
    for (struct gba_common_module *m = gba_common.modules; m != NULL; m = m->next) {
        gba_coll_module_t *module = m->owner;

        if (0 != module->stall.began && !module->stall.reported &&
            now - module->stall.began >= after)
            stall_report(module, now);
    }
    opal_mutex_unlock(&gba_common.lock);
    return 0;
}

void gba_coll_stall_begin(gba_coll_module_t *module, const char *what)
{
    if (0 == gba_common.params.stuck_after)
        return;
    opal_mutex_lock(&gba_common.lock);
    if (!stalls.registered)
        stalls.registered = OPAL_SUCCESS == opal_progress_register_lp(stalls_look);
    module->stall.began = gba_clock_ns();
    module->stall.what = what;
    module->stall.reported = module->stall.reporter = false;
    opal_mutex_unlock(&gba_common.lock);
    (void)gba_word_add_relaxed(&stalls.waiting, 1);
}

void gba_coll_stall_end(gba_coll_module_t *module)
{
    uint64_t began;

    if (0 == gba_common.params.stuck_after)
        return;
    (void)gba_word_add_relaxed(&stalls.waiting, UINT64_MAX);
    opal_mutex_lock(&gba_common.lock);
    began = module->stall.began;
    module->stall.began = 0;
    opal_mutex_unlock(&gba_common.lock);
    if (module->stall.reporter)
        gba_common_alert("%s (id %u): barrier %llu (%s) has ended after %llu s",
                         gba_compat_comm_name(module->comm), GBA_COMM_ID(module->comm),
                         module->base.fallbacks + 1, module->stall.what,
                         (unsigned long long)((gba_clock_ns() - began) / 1000000000u));
}

void gba_coll_stall_close(void)
{
    if (stalls.registered)
        (void)opal_progress_unregister(stalls_look);
    stalls.registered = false;
}
