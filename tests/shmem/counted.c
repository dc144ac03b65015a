/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into a test: each PE counts the messages that it sends about the set of all PEs, and
 * prints their number before shmem_finalize.
 */
#define _GNU_SOURCE
#include "oshmem_config.h"

#include <dlfcn.h>
#include <stdio.h>

#include "ompi/mca/pml/pml.h"
#include "oshmem/runtime/runtime.h"

int shmem_init_thread(int requested, int *provided);
void shmem_finalize(void);

static mca_pml_base_module_isend_fn_t pml_isend;
static mca_pml_base_module_send_fn_t pml_send;
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

int shmem_init_thread(int requested, int *provided)
{
    int (*init)(int, int *);
    int rc;

    *(void **)&init = dlsym(RTLD_NEXT, "shmem_init_thread");
    rc = init(requested, provided);
    pml_isend = mca_pml.pml_isend;
    mca_pml.pml_isend = counted_isend;
    pml_send = mca_pml.pml_send;
    mca_pml.pml_send = counted_send;
    return rc;
}

void shmem_finalize(void)
{
    void (*finalize)(void);

    *(void **)&finalize = dlsym(RTLD_NEXT, "shmem_finalize");
    fprintf(stderr, "counted: PE %d: %lu messages\n", oshmem_my_proc_id(), messages);
    finalize();
}
