/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open MPI's progress for a waiting process, and whether it has served other processes. From 5.0 on
 * opal_progress returns a count. In 4.1 it returns nothing, so the functions that it calls are
 * called once more before it, and their counts are added: those of the networks (BTL) that ob1 and
 * one-sided communication use, and of UCX. Neither counts what comes over TCP; libgba sees that
 * (gba/base/traffic.h).
 */
#include "ompi/mca/common/gba/module.h"
#include "ompi/mca/common/gba/open.h"

#if OMPI_MAJOR_VERSION < 5
#include <dlfcn.h>

#include "ompi/mca/pml/base/base.h"
#include "opal/mca/btl/base/base.h"

/* Of all BTLs of 4.1, of a PML, and of an SPML. */
#define COUNTED_MOST 16u

static struct {
    int (*function[COUNTED_MOST])(void);
    gba_word_t count; /* other threads read it without the lock */
    bool unknown;     /* messages come by a function that is not here */
} counted;

/* With the lock held. Release: pairs with progress_served, in another thread perhaps. */
static void counted_add(int (*function)(void))
{
    const uint64_t count = gba_word_load_relaxed(&counted.count);

    for (uint64_t i = 0; i < count; i++)
        if (counted.function[i] == function)
            return;
    if (function == NULL || count >= COUNTED_MOST)
        return;
    counted.function[count] = function;
    gba_word_store_release(&counted.count, count + 1);
}

/* A function of a component, which Open MPI opens with RTLD_GLOBAL. */
static void counted_add_named(const char *name)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);
    int (*function)(void);

    memcpy(&function, &symbol, sizeof function);
    counted_add(function);
}

void gba_common_progress_open(const char *further)
{
    const char *pml = mca_pml_base_selected_component.pmlm_version.mca_component_name;
    mca_btl_base_selected_module_t *module;

    opal_mutex_lock(&gba_common.lock);
    OPAL_LIST_FOREACH(module, &mca_btl_base_modules_initialized, mca_btl_base_selected_module_t)
    counted_add(module->btl_component->btl_progress);
    if (0 == strcmp(pml, "ucx"))
        counted_add_named("mca_pml_ucx_progress");
    else
        counted.unknown = 0 != strcmp(pml, "ob1");
    if (further != NULL)
        counted_add_named(further);
    opal_mutex_unlock(&gba_common.lock);
}

static int progress_served(void)
{
    const uint64_t count = gba_word_load_acquire(&counted.count);
    int served = 0;

    for (uint64_t i = 0; i < count; i++)
        served += counted.function[i]();
    (void)opal_progress();
    return 0 == served && counted.unknown ? -1 : served;
}
#else
void gba_common_progress_open(const char *further)
{
    (void)further;
}

static int progress_served(void)
{
    return opal_progress();
}
#endif

/*
 * gba_wait yields the core itself wherever opal_progress would (gba_common_oversubscribed), after a
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
