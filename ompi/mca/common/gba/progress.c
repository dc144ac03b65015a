/* SPDX-License-Identifier: BSD-3-Clause */
/* Open MPI's progress in a wait, and whether waits yield the core. */
#include "ompi/mca/common/gba/module.h"
#include "ompi/mca/common/gba/open.h"

/*
 * gba_wait yields the core itself wherever opal_progress would (gba_common_oversubscribed), after a
 * test. opal_progress would yield before that test, also if it has just received a message over
 * TCP, because libevent's messages do not count there. The awaited message would then be in this
 * process while all other processes of the core have their turn. With threads the setting stays,
 * since another thread may be about to change it, too.
 */
static bool suspended; /* opal_progress does not yield now, but would */

void gba_common_progress(void *unused)
{
    const bool yields = opal_progress_yield_when_idle && !opal_using_threads();

    (void)unused;
    if (yields) {
        suspended = true;
        (void)opal_progress_set_yield_when_idle(false);
    }
    (void)opal_progress();
    if (yields) {
        (void)opal_progress_set_yield_when_idle(true);
        suspended = false;
    }
}

bool gba_common_oversubscribed(void)
{
    return suspended || opal_progress_yield_when_idle || gba_common_processors_shared(false);
}
