/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into a test: the reads of a PE wait until it has started one of each other PE. So a
 * barrier that reads one PE after the other hangs.
 */
#define _GNU_SOURCE
#include "oshmem_config.h"

#include <dlfcn.h>

#include "oshmem/mca/spml/spml.h"
#include "oshmem/runtime/runtime.h"

#define PES_MAX 16

int shmem_init_thread(int requested, int *provided);

static struct read {
    shmem_ctx_t ctx;
    void *source, *target, **handle;
    size_t bytes;
    int pe;
} reads[PES_MAX];
static int held;
static mca_spml_base_module_get_nb_fn_t get_nb;

static int holding_get_nb(shmem_ctx_t ctx, void *source, size_t bytes, void *target, int pe,
                          void **handle)
{
    int rc = OSHMEM_SUCCESS;

    reads[held++] = (struct read){ctx, source, target, handle, bytes, pe};
    if (held < oshmem_num_procs() - 1)
        return rc;
    mca_spml.spml_get_nb = get_nb;
    for (int i = 0; i < held && OSHMEM_SUCCESS == rc; i++)
        rc = get_nb(reads[i].ctx, reads[i].source, reads[i].bytes, reads[i].target, reads[i].pe,
                    reads[i].handle);
    return rc;
}

int shmem_init_thread(int requested, int *provided)
{
    int (*init)(int, int *);
    int rc;

    *(void **)&init = dlsym(RTLD_NEXT, "shmem_init_thread");
    rc = init(requested, provided);
    if (0 != rc || oshmem_num_procs() > PES_MAX)
        return rc;
    get_nb = mca_spml.spml_get_nb;
    mca_spml.spml_get_nb = holding_get_nb;
    return 0;
}
