/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into a test; GBA_TEST_PRELOAD names what it does:
 *
 *   counted      each PE counts the messages that it sends about the set of all PEs, and prints
 *                their number before shmem_finalize
 *   held_reads   the reads of a PE wait until it has started one of each other PE, so a barrier
 *                that reads one PE after the other hangs
 *   late_add     the first atomic add of PE 0 stays in its process until a quiet, as an add does
 *                before its connection exists
 *   late_reader  in the barrier of finalize PE 0 waits before it reads the memory of others, so
 *                that they have left the barrier by then; it still answers them
 */
#define _GNU_SOURCE
#include "oshmem_config.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ompi/mca/pml/pml.h"
#include "opal/runtime/opal_progress.h"
#include "oshmem/mca/atomic/atomic.h"
#include "oshmem/mca/spml/spml.h"
#include "oshmem/runtime/runtime.h"

#define PES_MAX 16

int shmem_init_thread(int requested, int *provided);
void shmem_finalize(void);

static mca_pml_base_module_isend_fn_t pml_isend;
static mca_pml_base_module_send_fn_t pml_send;
static mca_spml_base_module_get_nb_fn_t get_nb;
static mca_spml_base_module_quiet_fn_t quiet;
static int (*atomic_add)(shmem_ctx_t ctx, void *target, uint64_t value, size_t size, int pe);

static unsigned long messages;

/* As in scoll/gba's set.c: the low bits of a tag are the size of the set. */
static void count(int tag, const struct ompi_communicator_t *comm)
{
    if (comm == oshmem_comm_world && tag > 0 && (tag & 0x7fff) == oshmem_num_procs())
        messages++;
}

static int counted_isend(const void *data, size_t items, struct ompi_datatype_t *type, int to,
                         int tag, mca_pml_base_send_mode_t mode, struct ompi_communicator_t *comm,
                         struct ompi_request_t **request)
{
    count(tag, comm);
    return pml_isend(data, items, type, to, tag, mode, comm, request);
}

static int counted_send(const void *data, size_t items, struct ompi_datatype_t *type, int to,
                        int tag, mca_pml_base_send_mode_t mode, struct ompi_communicator_t *comm)
{
    count(tag, comm);
    return pml_send(data, items, type, to, tag, mode, comm);
}

static struct read {
    shmem_ctx_t ctx;
    void *source, *target, **handle;
    size_t bytes;
    int pe;
} reads[PES_MAX];
static int held;

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

static struct add {
    shmem_ctx_t ctx;
    void *target;
    uint64_t value;
    size_t size;
    int pe;
    bool kept;
} add;

static int late_add(shmem_ctx_t ctx, void *target, uint64_t value, size_t size, int pe)
{
    mca_atomic.atomic_add = atomic_add;
    add = (struct add){ctx, target, value, size, pe, true};
    return OSHMEM_SUCCESS;
}

static int sending_quiet(shmem_ctx_t ctx)
{
    if (add.kept)
        (void)atomic_add(add.ctx, add.target, add.value, add.size, add.pe);
    add.kept = false;
    return quiet(ctx);
}

static int late_get_nb(shmem_ctx_t ctx, void *source, size_t bytes, void *target, int pe,
                       void **handle)
{
    for (int i = 0; i < 500; i++) {
        usleep(1000);
        opal_progress();
    }
    return get_nb(ctx, source, bytes, target, pe, handle);
}

static bool is(const char *what)
{
    const char *chosen = getenv("GBA_TEST_PRELOAD");

    return chosen != NULL && 0 == strcmp(chosen, what);
}

int shmem_init_thread(int requested, int *provided)
{
    int (*init)(int, int *);
    int rc;

    *(void **)&init = dlsym(RTLD_NEXT, "shmem_init_thread");
    rc = init(requested, provided);
    pml_isend = mca_pml.pml_isend;
    pml_send = mca_pml.pml_send;
    get_nb = mca_spml.spml_get_nb;
    quiet = mca_spml.spml_quiet;
    atomic_add = mca_atomic.atomic_add;
    if (is("counted")) {
        mca_pml.pml_isend = counted_isend;
        mca_pml.pml_send = counted_send;
    }
    if (is("held_reads") && oshmem_num_procs() <= PES_MAX)
        mca_spml.spml_get_nb = holding_get_nb;
    if (is("late_add") && 0 == oshmem_my_proc_id()) {
        mca_atomic.atomic_add = late_add;
        mca_spml.spml_quiet = sending_quiet;
    }
    return rc;
}

void shmem_finalize(void)
{
    void (*finalize)(void);

    *(void **)&finalize = dlsym(RTLD_NEXT, "shmem_finalize");
    if (is("counted"))
        fprintf(stderr, "counted: PE %d: %lu messages\n", oshmem_my_proc_id(), messages);
    if (is("late_reader") && 0 == oshmem_my_proc_id())
        mca_spml.spml_get_nb = late_get_nb;
    finalize();
}
