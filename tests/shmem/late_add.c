/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into a test: the first atomic add of PE 0 stays in its process until a quiet, as an add
 * does before its connection exists.
 */
#define _GNU_SOURCE
#include "oshmem_config.h"

#include <dlfcn.h>
#include <stdbool.h>

#include "oshmem/mca/atomic/atomic.h"
#include "oshmem/mca/spml/spml.h"
#include "oshmem/runtime/runtime.h"

int shmem_init_thread(int requested, int *provided);

static struct {
    shmem_ctx_t ctx;
    void *target;
    uint64_t value;
    size_t size;
    int pe;
    bool kept;
} add;
static int (*atomic_add)(shmem_ctx_t ctx, void *target, uint64_t value, size_t size, int pe);
static mca_spml_base_module_quiet_fn_t quiet;

static int late_add(shmem_ctx_t ctx, void *target, uint64_t value, size_t size, int pe)
{
    mca_atomic.atomic_add = atomic_add;
    add.ctx = ctx;
    add.target = target;
    add.value = value;
    add.size = size;
    add.pe = pe;
    add.kept = true;
    return OSHMEM_SUCCESS;
}

static int sending_quiet(shmem_ctx_t ctx)
{
    if (add.kept)
        (void)atomic_add(add.ctx, add.target, add.value, add.size, add.pe);
    add.kept = false;
    return quiet(ctx);
}

int shmem_init_thread(int requested, int *provided)
{
    int (*init)(int, int *);
    int rc;

    *(void **)&init = dlsym(RTLD_NEXT, "shmem_init_thread");
    rc = init(requested, provided);
    if (0 != rc || 0 != oshmem_my_proc_id())
        return rc;
    atomic_add = mca_atomic.atomic_add;
    mca_atomic.atomic_add = late_add;
    quiet = mca_spml.spml_quiet;
    mca_spml.spml_quiet = sending_quiet;
    return 0;
}
