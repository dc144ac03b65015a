/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open MPI's progress for a waiting process, and whether it has served other processes. From 5.0 on
 * opal_progress returns a count. In 4.1 it returns nothing, so functions that it calls are called
 * once more before it, and their counts are added: each time those of the networks (BTL) that ob1
 * and one-sided communication use, now and then that of UCX. Nothing counts what comes over TCP;
 * libgba sees that (gba/base/traffic.h). The windows of UCX serve others and return 0.
 */
#include "ompi/mca/common/gba/module.h"
#include "ompi/mca/common/gba/open.h"

#include <dlfcn.h>

#include "gba/base/clock.h"
#include "ompi/mca/osc/osc.h"
#include "ompi/win/win.h"
#if OMPI_MAJOR_VERSION < 5
#include "ompi/mca/pml/base/base.h"
#include "opal/mca/btl/base/base.h"
#endif

/* Time between two calls of functions that cost much, ns. It is short against a sleep, and a call
 * behind a sleep finds what has come meanwhile. */
#define RARE_NS 1000000u

static bool unknown;    /* messages come by functions that nothing counts */
static gba_word_t last; /* the time of the last rare call, ns */
static ompi_osc_base_module_put_fn_t ucx_put;

#if OMPI_MAJOR_VERSION < 5
/* Of all BTLs of 4.1, and of a PML and an SPML. */
#define COUNTED_MOST 16u

struct counted {
    int (*function[COUNTED_MOST])(void);
    gba_word_t count; /* other threads read it without the lock */
};

static struct counted often, rare;

/* With the lock held. Release: pairs with counted_call, in another thread perhaps. */
static void counted_add(struct counted *list, int (*function)(void))
{
    const uint64_t count = gba_word_load_relaxed(&list->count);

    for (uint64_t i = 0; i < count; i++)
        if (list->function[i] == function)
            return;
    if (function == NULL || count >= COUNTED_MOST)
        return;
    list->function[count] = function;
    gba_word_store_release(&list->count, count + 1);
}

static int counted_call(const struct counted *list)
{
    const uint64_t count = gba_word_load_acquire(&list->count);
    int served = 0;

    for (uint64_t i = 0; i < count; i++)
        served += list->function[i]();
    return served;
}

/* A function of a component, which Open MPI opens with RTLD_GLOBAL. */
static void rare_add(const char *name)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);
    int (*function)(void);

    memcpy(&function, &symbol, sizeof function);
    counted_add(&rare, function);
}

static void counted_open(const char *further)
{
    const char *pml = mca_pml_base_selected_component.pmlm_version.mca_component_name;
    opal_list_t *modules = &mca_btl_base_modules_initialized;

    for (opal_list_item_t *item = opal_list_get_first(modules); item != opal_list_get_end(modules);
         item = (opal_list_item_t *)(uintptr_t)item->opal_list_next) /* without its volatile */
        counted_add(&often, ((mca_btl_base_selected_module_t *)item)->btl_component->btl_progress);
    if (0 == strcmp(pml, "ucx"))
        rare_add("mca_pml_ucx_progress");
    else
        unknown = 0 != strcmp(pml, "ob1");
    if (further != NULL)
        rare_add(further);
}

static bool counts_rarely(void)
{
    return 0 != gba_word_load_relaxed(&rare.count);
}

/* Call opal_progress. Returns the count. rarely: also that of the functions that cost much. */
static int progress_count(bool rarely)
{
    const int served = counted_call(&often) + (rarely ? counted_call(&rare) : 0);

    (void)opal_progress();
    return served;
}
#else
static void counted_open(const char *further)
{
    (void)further;
}

static bool counts_rarely(void)
{
    return false;
}

static int progress_count(bool rarely)
{
    (void)rarely;
    return opal_progress();
}
#endif

void gba_common_progress_open(const char *further)
{
    static bool opened;
    void *symbol;

    opal_mutex_lock(&gba_common.lock);
    if (!opened) {
        symbol = dlsym(RTLD_DEFAULT, "ompi_osc_ucx_put");
        memcpy(&ucx_put, &symbol, sizeof ucx_put);
        counted_open(further);
        opened = true;
    }
    opal_mutex_unlock(&gba_common.lock);
}

/* Whether the process may have a window of UCX. Another thread may free a window meanwhile, so with
 * threads none is looked into. */
static bool windows_of_ucx(void)
{
    for (int i = 1; ucx_put != NULL && i < opal_pointer_array_get_size(&ompi_mpi_windows); i++) {
        const ompi_win_t *window = opal_pointer_array_get_item(&ompi_mpi_windows, i);

        if (window != NULL && (opal_using_threads() || (window->w_osc_module != NULL &&
                                                        window->w_osc_module->osc_put == ucx_put)))
            return true;
    }
    return false;
}

/* Whether a rare call is due. Most processes need none, and do not read the clock: the only window
 * is MPI_WIN_NULL. */
static bool rare_due(void)
{
    const bool none = !counts_rarely() && ompi_mpi_windows.size - ompi_mpi_windows.number_free <= 1;
    const uint64_t now = none ? 0 : gba_clock_ns();

    if (none || now - gba_word_load_relaxed(&last) < RARE_NS)
        return false;
    gba_word_store_relaxed(&last, now);
    return true;
}

static int progress_served(void)
{
    const bool rarely = rare_due();
    const bool may = unknown || (rarely && windows_of_ucx());
    const int served = progress_count(rarely);

    return served <= 0 && may ? -1 : served;
}

/*
 * libgba yields the core itself wherever opal_progress would (gba_common_oversubscribed), after a
 * test. opal_progress would yield before that test, also if it has just received a message over
 * TCP, because libevent's messages do not count there. The awaited message would then be in this
 * process while all other processes of the core have their turn. With threads the setting stays,
 * since another thread may be about to change it, too.
 */
static bool suspended; /* opal_progress does not yield now, but would */

int gba_common_progress(void *unused)
{
    const bool yields = opal_progress_yield_when_idle && !opal_using_threads();
    int served;

    (void)unused;
    if (yields) {
        suspended = true;
        (void)opal_progress_set_yield_when_idle(false);
    }
    served = progress_served();
    if (yields) {
        (void)opal_progress_set_yield_when_idle(true);
        suspended = false;
    }
    return served;
}

bool gba_common_oversubscribed(void)
{
    return suspended || opal_progress_yield_when_idle || gba_common_processors_shared(false);
}
