/* SPDX-License-Identifier: BSD-3-Clause */
/* The component: open and close, and which active sets we take part in. */
#include "oshmem/mca/scoll/gba/scoll_gba.h"

#include <string.h>

static int component_open(void)
{
    static const char *const needed[] = {"basic", NULL}; /* it can do everything */

    memset(&gba_scoll->device, 0, sizeof gba_scoll->device);
    gba_scoll->modules = NULL;
    memset(&gba_scoll->retired, 0, sizeof gba_scoll->retired);
    gba_scoll->reasons_told = 0;
    memset(&gba_scoll->pool, 0, sizeof gba_scoll->pool);
    gba_scoll->output = gba_common_log_open(GBA_SCOLL_LABEL, gba_scoll->variables.verbose);
    /* Here and not in register, which oshmem_info runs, too. */
    gba_scoll_params_check();
    gba_scoll_pin_ucx();
    /* Most often all processes have the same bad parameter, so one of a host speaks. */
    if ('\0' != gba_scoll->bad_parameter[0] &&
        (0 == opal_process_info.my_local_rank || gba_scoll->variables.verbose > 0))
        opal_output(gba_scoll->output, GBA_SCOLL_LABEL ": %s; the component takes no part",
                    gba_scoll->bad_parameter);
    /* Disabled or not: the other collectives are wanted in any case. */
    gba_common_companions_load(&oshmem_scoll_base_framework, "gba", needed, gba_scoll->companions);
    return OSHMEM_SUCCESS;
}

/*
 * Open MPI has let go of its modules by now; those that it lost count of are closed here. The log
 * stays libgba's: where the coll component is in use, too, it closes later and resets it.
 */
static int component_close(void)
{
    struct gba_common_counts sum;

    gba_scoll_modules_close();
    gba_common_notices_drain();
    gba_common_notices_stop();
    gba_scoll_pool_close();
    if (gba_scoll->enabled && gba_scoll->params.verbose > 0 && 0 == OMPI_PROC_MY_NAME->vpid) {
        gba_scoll_counts_sum(&sum);
        gba_common_totals(gba_scoll->output, "PE 0", &sum, &gba_scoll->device);
    }
    gba_common_device_put(&gba_scoll->device);
    return OSHMEM_SUCCESS;
}

static int component_init(bool progress_threads, bool threads)
{
    (void)progress_threads;
    (void)threads;
    return OSHMEM_SUCCESS;
}

/* Decline here or never: when a module's enable fails, the framework forgets all others too. */
static mca_scoll_base_module_t *component_query(oshmem_group_t *set, int *priority)
{
    *priority = -1;
    if (!gba_scoll->enabled || set->proc_count < 2 ||
        set->proc_count < gba_scoll->params.min_comm_size || gba_scoll_tag(set, GBA_SCOLL_UP) < 0)
        return NULL;
    *priority = gba_scoll->params.priority;
    return gba_scoll_module_create(set);
}

__attribute__((visibility("default"))) gba_scoll_component_t mca_scoll_gba_component = {
    .super =
        {
            .scoll_version =
                {
                    MCA_SCOLL_BASE_VERSION_2_0_0,
                    .mca_component_name = "gba",
                    MCA_BASE_MAKE_VERSION(component, GBA_VERSION_MAJOR, GBA_VERSION_MINOR,
                                          GBA_VERSION_PATCH),
                    .mca_open_component = component_open,
                    .mca_close_component = component_close,
                    .mca_register_component_params = gba_scoll_params_register,
                },
            .scoll_data = {.param_field = MCA_BASE_METADATA_PARAM_NONE},
            .scoll_init = component_init,
            .scoll_query = component_query,
        },
    /* Not made in open: a tool may read the counters before, a module may go away after close. */
    .lock = OPAL_MUTEX_STATIC_INIT,
    .output = -1,
};
