/* SPDX-License-Identifier: BSD-3-Clause */
/* The parameters of this component. */
#include "ompi/mca/coll/gba_barrier/module.h"
#include "ompi/mca/common/gba/params.h"

#include "opal/mca/base/mca_base_var.h"

/*
 * The default of agree_after. An agreement costs as much as several hundred barriers save. So a
 * communicator with few barriers makes none, and one with many barriers loses what 100 barriers
 * would have saved.
 */
#define AGREE_AFTER 100

void gba_coll_params_check(void)
{
    if (gba_coll->agree_after >= 0 && gba_coll->agree_after <= GBA_COMMON_AGREE_AFTER_MAX)
        return;
    if ('\0' == gba_common.bad_parameter[0])
        snprintf(gba_common.bad_parameter, sizeof gba_common.bad_parameter,
                 "agree_after=%d is out of range; allowed: 0 to %d", gba_coll->agree_after,
                 GBA_COMMON_AGREE_AFTER_MAX);
    gba_common.enabled = false;
}

int gba_coll_params_register(void)
{
    const mca_base_component_t *component = &gba_coll->super.collm_version;

    gba_common_params_register(
        component, 0,
        "Other coll components to load when the user selected only this one (--mca coll "
        "gba_barrier): \"all\", \"none\", or a list separated by commas. With \"all\", a list that "
        "names this component but neither basic nor libnbc gets these two as well. With \"none\" "
        "MPI_Init fails unless the selection names components for all other collectives");
    gba_coll->sample = 0;
    (void)mca_base_component_var_register(
        component, "sample",
        "Measure how long every n-th blocking barrier waits, for the performance variables "
        "wait_ns and imbalance_max_ns; 0: none, and no cost",
        MCA_BASE_VAR_TYPE_UNSIGNED_INT, NULL, 0, (mca_base_var_flag_t)0, OPAL_INFO_LVL_5,
        MCA_BASE_VAR_SCOPE_READONLY, &gba_coll->sample);
    gba_coll->agree_after = AGREE_AFTER;
    (void)mca_base_component_var_register(
        component, "agree_after",
        "Barriers, blocking and nonblocking, that a communicator does on Open MPI's own barrier "
        "before its ranks agree on a path in the next one, 0 to 65535. For "
        "MPI_COMM_WORLD and persistent barriers always 0",
        MCA_BASE_VAR_TYPE_INT, NULL, 0, (mca_base_var_flag_t)0, OPAL_INFO_LVL_5,
        MCA_BASE_VAR_SCOPE_ALL_EQ, &gba_coll->agree_after);
    return OMPI_SUCCESS;
}
