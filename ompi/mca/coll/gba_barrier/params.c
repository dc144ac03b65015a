/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters and performance variables of this component. */
#include "ompi/mca/coll/gba_barrier/coll_gba_barrier.h"

#include <string.h>

#include "opal/mca/base/mca_base_var.h"

int gba_coll_params_register(void)
{
    const mca_base_component_t *component = &gba_coll->super.collm_version;

    gba_coll->device_path_index = gba_common_params_register(component, &gba_coll->variables, 0);
    gba_common_companions_register(
        component,
        "Other coll components to load when the user selected only this one (--mca coll "
        "gba_barrier): \"all\", \"none\", or a list separated by commas. With \"all\", a list that "
        "names this component but neither basic nor libnbc gets these two as well. With \"none\" "
        "MPI_Init fails unless the selection names components for all other collectives",
        &gba_coll->companions);
    gba_coll->sample = 0;
    (void)mca_base_component_var_register(
        component, "sample",
        "Measure how long every n-th blocking barrier waits, for the performance variables "
        "wait_ns and imbalance_max_ns; 0: none, and no cost",
        MCA_BASE_VAR_TYPE_UNSIGNED_INT, NULL, 0, (mca_base_var_flag_t)0, OPAL_INFO_LVL_5,
        MCA_BASE_VAR_SCOPE_READONLY, &gba_coll->sample);
    gba_common_counts_register(component, gba_coll_counts_sum);
    gba_coll_pvars_register();
    return OMPI_SUCCESS;
}

void gba_coll_params_check(void)
{
    gba_coll->enabled =
        gba_common_params_check(&gba_coll->variables, &gba_coll->params, gba_coll->bad_parameter,
                                sizeof gba_coll->bad_parameter);
    gba_coll->device_asked = gba_common_param_set(gba_coll->device_path_index) &&
                             0 != strcmp(gba_coll->params.device_path, "none");
}
