/* SPDX-License-Identifier: BSD-3-Clause */
/* One module per active set, and the fallback. */
#include "oshmem/mca/scoll/gba/scoll_gba.h"

#include <string.h>

/*
 * The very last barrier is that of shmem_finalize, and Open MPI closes the component right after
 * it. If the device failed in it, some members may have left and others need their answers
 * (notifications.c). So no PE continues before all have left. A set of fewer PEs does not need
 * this: a PE that has not completed its last round there does not enter the barrier of all PEs.
 */
static void module_part(gba_scoll_module_t *module)
{
    uint64_t word = 0;

    if (module->set != oshmem_group_all || module->base.team == NULL ||
        module->base.path > GBA_PATH_SIM)
        return;
    /* Fails with the connection to a PE, which then needs no answer. */
    (void)gba_common_min(&module->base, &word, 1);
}

void gba_scoll_module_close(void *owner)
{
    gba_scoll_module_t *module = owner;

    module_part(module);
    gba_scoll_report_missing(module);
    gba_scoll_activation_close(module);
    gba_common_module_close(&module->base);
    gba_scoll_slab_close(module);
}

static void module_construct(gba_scoll_module_t *module)
{
    memset((char *)module + sizeof module->super, 0, sizeof *module - sizeof module->super);
    gba_common_module_init(&module->base, module);
}

static void module_destruct(gba_scoll_module_t *module)
{
    if (module->set == oshmem_group_all)
        gba_scoll_transport_drain(module);
    gba_scoll_module_close(module);
    if (module->previous_barrier_module != NULL)
        OBJ_RELEASE(module->previous_barrier_module);
}

OBJ_CLASS_INSTANCE(gba_scoll_module_t, mca_scoll_base_module_t, module_construct, module_destruct);

/* The communicator that scoll/mpi made for the set, if it did: the coll component reads its name.
 * For the first module of all PEs it is MPI_COMM_WORLD. */
static void set_name_comm(const oshmem_group_t *set)
{
    char name[64], text[96];

    if (set->ompi_comm == NULL || set->ompi_comm == &ompi_mpi_comm_world.comm)
        return;
    gba_scoll_name_set(set, name, sizeof name);
    snprintf(text, sizeof text, GBA_COMMON_SET_NAME "%s", name);
    (void)ompi_comm_set_name(set->ompi_comm, text);
}

/*
 * The framework enables modules from the lowest priority up, so the current functions are below us.
 * For the set of all PEs it does so twice, before and after the symmetric heap exists. The first of
 * the two modules never runs a barrier.
 */
static int module_enable(mca_scoll_base_module_t *super, oshmem_group_t *set)
{
    gba_scoll_module_t *module = (gba_scoll_module_t *)super;

    module->previous_barrier = set->g_scoll.scoll_barrier;
    module->previous_barrier_module = set->g_scoll.scoll_barrier_module;
    if (module->previous_barrier == NULL || module->previous_barrier_module == NULL) {
        module->previous_barrier_module = NULL;
        super->scoll_barrier = NULL; /* provide nothing, but do not fail */
        return OSHMEM_SUCCESS;
    }
    OBJ_RETAIN(module->previous_barrier_module);
    set_name_comm(set);
    gba_common_module_open(&module->base);
    return OSHMEM_SUCCESS;
}

mca_scoll_base_module_t *gba_scoll_module_create(oshmem_group_t *set)
{
    gba_scoll_module_t *module = OBJ_NEW(gba_scoll_module_t);

    if (module == NULL)
        return NULL;
    module->set = set;
    module->base.size = (uint32_t)set->proc_count;
    module->base.rank = (uint32_t)oshmem_proc_group_find_id(set, set->my_pe);
    module->super.scoll_module_enable = module_enable;
    module->super.scoll_barrier = gba_scoll_barrier;
    return &module->super;
}
