/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters and performance variables of this component. */
#include "oshmem/mca/scoll/gba/scoll_gba.h"

/* The default of offload_after here: the agreement of an active set costs a few barriers. */
#define OFFLOAD_AFTER 4

/* Half of the 32 groups: for the set of all PEs, other jobs, and communicators. */
#define GROUP_RESERVE 16

static void bool_register(const char *name, bool *storage, bool value, const char *help)
{
    *storage = value;
    (void)mca_base_component_var_register(&gba_scoll->super.scoll_version, name, help,
                                          MCA_BASE_VAR_TYPE_BOOL, NULL, 0, (mca_base_var_flag_t)0,
                                          OPAL_INFO_LVL_5, MCA_BASE_VAR_SCOPE_READONLY, storage);
}

static void count_register(const char *name, unsigned int *storage, unsigned int value,
                           const char *help)
{
    *storage = value;
    (void)mca_base_component_var_register(
        &gba_scoll->super.scoll_version, name, help, MCA_BASE_VAR_TYPE_UNSIGNED_INT, NULL, 0,
        (mca_base_var_flag_t)0, OPAL_INFO_LVL_5, MCA_BASE_VAR_SCOPE_READONLY, storage);
}

static void transport_register(const mca_base_component_t *component)
{
    static const mca_base_var_enum_value_t values[] = {
        {GBA_SCOLL_TRANSPORT_AUTO, "auto"},
        {GBA_SCOLL_TRANSPORT_SPML, "spml"},
        {GBA_SCOLL_TRANSPORT_PML, "pml"},
        {0, NULL},
    };
    mca_base_var_enum_t *enumerator = NULL;

    gba_scoll->transport = GBA_SCOLL_TRANSPORT_AUTO;
    if (OPAL_SUCCESS != mca_base_var_enum_create("signals", values, &enumerator))
        return;
    (void)mca_base_component_var_register(
        component, "signals",
        "Carrier of the signals of software barriers between hosts: \"spml\": atomics on "
        "symmetric memory (with UCX); \"pml\": messages; \"auto\": spml if all hosts have an "
        "RDMA device",
        MCA_BASE_VAR_TYPE_INT, enumerator, 0, (mca_base_var_flag_t)0, OPAL_INFO_LVL_5,
        MCA_BASE_VAR_SCOPE_ALL_EQ, &gba_scoll->transport);
    OBJ_RELEASE(enumerator); /* the variable holds a reference */
    gba_scoll->signal_rows = GBA_SCOLL_SLABS;
    (void)mca_base_component_var_register(
        component, "signal_rows",
        "Active sets that may have signals in symmetric memory at one time, for tests; at most 64",
        MCA_BASE_VAR_TYPE_UNSIGNED_INT, NULL, 0, MCA_BASE_VAR_FLAG_INTERNAL, OPAL_INFO_LVL_9,
        MCA_BASE_VAR_SCOPE_READONLY, &gba_scoll->signal_rows);
}

int gba_scoll_params_register(void)
{
    const mca_base_component_t *component = &gba_scoll->super.scoll_version;

    gba_common_params_register(
        component, OFFLOAD_AFTER,
        "Other scoll components to load when the user selected only this one (--mca scoll gba): "
        "\"all\", \"none\", or a list separated by commas. With \"all\", a list that names this "
        "component but not basic gets basic as well. With \"none\" shmem_init fails "
        "unless the selection names components for all other collectives");
    bool_register("pin_ucx", &gba_scoll->pin_ucx, true,
                  "Keep libmca_common_ucx loaded until the process ends. Open MPI before 4.1.6 "
                  "crashes in finalize otherwise, whatever scoll component is in use");
    bool_register("quiet", &gba_scoll->quiet, 1 != OSHMEM_SPEC_COMPAT,
                  "Complete the puts of this PE in every barrier and sync. Needed only where "
                  "OpenSHMEM does not do it itself (Open MPI without --enable-oshmem-compat, "
                  "which is where this is the default)");
    count_register("group_reserve", &gba_scoll->group_reserve, GROUP_RESERVE,
                   "Barrier groups of the device that active sets leave free, for the set of all "
                   "PEs and for others. A set that gets none takes a software barrier");
    transport_register(component);
    return OSHMEM_SUCCESS;
}
