/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into a test: in the barrier of finalize PE 0 waits before it reads the memory of
 * others, so that they have left the barrier by then. It still answers them.
 */
#define _GNU_SOURCE
#include "oshmem_config.h"

#include <dlfcn.h>
#include <unistd.h>

#include "opal/runtime/opal_progress.h"
#include "oshmem/mca/spml/spml.h"
#include "oshmem/runtime/runtime.h"

void shmem_finalize(void);

static mca_spml_base_module_get_nb_fn_t get_nb;

static int late_get_nb(shmem_ctx_t ctx, void *source, size_t bytes, void *target, int pe,
                       void **handle)
{
    for (int i = 0; i < 500; i++) {
        usleep(1000);
        opal_progress();
    }
    return get_nb(ctx, source, bytes, target, pe, handle);
}

void shmem_finalize(void)
{
    void (*finalize)(void);

    *(void **)&finalize = dlsym(RTLD_NEXT, "shmem_finalize");
    get_nb = mca_spml.spml_get_nb;
    if (0 == oshmem_my_proc_id())
        mca_spml.spml_get_nb = late_get_nb;
    finalize();
}
