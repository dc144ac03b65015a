/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prevents a hang in finalize that Open MPI has without this component, too, in programs that
 * create contexts. To close the endpoint of a context over TCP, UCX sends a request if the endpoint
 * has sent anything since its last flush, and waits for the answer. The default worker of the other
 * PE answers. A context has an endpoint to its own PE, too, where the default worker of the same PE
 * answers. But the finalize of spml ucx stops the progress of the default worker, and then closes
 * the endpoints of all contexts, beginning with those to the own PE. Here the progress continues
 * until that finalize has returned.
 *
 * Barriers affect the frequency: an endpoint connects, and so sends, in calls of progress while the
 * context exists.
 */
#include "oshmem/mca/scoll/gba/scoll_gba.h"

#include "oshmem/mca/spml/base/base.h"

#include <dlfcn.h>
#include <string.h>

static const char spml_progress[] = "spml_ucx_default_progress";

static int (*default_progress)(void);
static mca_spml_base_component_finalize_fn_t spml_finalize;

/* Registered instead of default_progress, because spml ucx unregisters that function. */
static int progress(void)
{
    return default_progress();
}

static int finalize_with_progress(void)
{
    int rc;

    (void)opal_progress_register(progress);
    rc = spml_finalize();
    (void)opal_progress_unregister(progress);
    return rc;
}

static bool spml_is_ucx(void)
{
    return 0 == strcmp("ucx", mca_spml_base_selected_component.spmlm_version.mca_component_name);
}

const char *gba_scoll_progress_name(void)
{
    return spml_is_ucx() ? spml_progress : NULL;
}

void gba_scoll_contexts_close(void)
{
    mca_spml_base_component_t *spml = &mca_spml_base_selected_component;
    void *symbol;

    /* Later releases have the same code, but there this is not tested. */
    if (OMPI_MAJOR_VERSION > 4 || finalize_with_progress == spml->spmlm_finalize || !spml_is_ucx())
        return;
    symbol = dlsym(RTLD_DEFAULT, spml_progress);
    if (symbol == NULL)
        return;
    memcpy(&default_progress, &symbol, sizeof default_progress);
    spml_finalize = spml->spmlm_finalize;
    /* The component closes before, but is never unloaded (-z nodelete). */
    spml->spmlm_finalize = finalize_with_progress;
}
