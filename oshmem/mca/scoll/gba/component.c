/* SPDX-License-Identifier: BSD-3-Clause */
/* The component: open and close, and the active sets that it serves. */
#include "oshmem/mca/scoll/gba/scoll_gba.h"

#include <string.h>

/* Whether the structures are those that the component was compiled with. If not, the component is
 * disabled. */
static void abi_check(bool reports)
{
    const struct gba_common_class classes[] = {
        GBA_COMMON_CLASS(oshmem_group_t),      GBA_COMMON_CLASS(mca_scoll_base_module_t),
        GBA_COMMON_CLASS(ompi_communicator_t), GBA_COMMON_CLASS(ompi_request_t),
        GBA_COMMON_CLASS(opal_mutex_t),        {.name = NULL}};
    char message[256];

    if (gba_common_abi_check(classes, message, sizeof message))
        return;
    gba_scoll->enabled = false;
    if (reports)
        opal_output(gba_scoll->output, GBA_SCOLL_LABEL ": %s", message);
}

static int component_open(void)
{
    static const char *const needed[] = {"basic", NULL}; /* provides all collectives */
    bool reports = 0 == opal_process_info.my_local_rank || gba_scoll->variables.verbose > 1;
    char missing[512];

    memset(&gba_scoll->device, 0, sizeof gba_scoll->device);
    gba_scoll->modules = NULL;
    memset(&gba_scoll->retired, 0, sizeof gba_scoll->retired);
    memset(&gba_scoll->pool, 0, sizeof gba_scoll->pool);
    gba_scoll->output = gba_common_log_open(GBA_SCOLL_LABEL, gba_scoll->variables.verbose);
    /* Not in register, because oshmem_info calls register, too. */
    gba_scoll_params_check();
    abi_check(reports);
    gba_scoll_pin_ucx();
    /* One process of a host reports the parameters, because most often all have the same. */
    if ('\0' != gba_scoll->bad_parameter[0] && (reports || gba_scoll->variables.verbose > 0))
        gba_common_alert("%s; the component is disabled", gba_scoll->bad_parameter);
    else if (gba_scoll->params.disable && reports)
        opal_output_verbose(1, gba_scoll->output,
                            GBA_SCOLL_LABEL ": disable is 1 (PE %u); the component is disabled",
                            (unsigned)OMPI_PROC_MY_NAME->vpid);
    /* Even if disabled, because the user needs the other collectives in any case. */
    gba_common_companions_load(&oshmem_scoll_base_framework, "gba", needed, gba_scoll->companions);
    gba_common_companions_check(&oshmem_scoll_base_framework, "gba", needed, gba_scoll->companions,
                                missing, sizeof missing);
    if ('\0' != missing[0] && reports)
        gba_common_alert("%s", missing);
    return OSHMEM_SUCCESS;
}

/*
 * Open MPI has released its modules by now; those that it leaked are closed here. The log stays
 * libgba's: if the coll component is in use, it closes later and resets the log.
 */
static int component_close(void)
{
    struct gba_common_counts sum;

    gba_scoll_modules_close();
    gba_common_notifications_drain();
    gba_common_notifications_stop();
    gba_scoll_pool_close();
    if (gba_scoll->enabled && gba_scoll->params.verbose > 0 && 0 == OMPI_PROC_MY_NAME->vpid) {
        gba_scoll_counts_sum(&sum);
        gba_common_totals(gba_scoll->output, "PE 0", &sum, &gba_scoll->device);
    }
    gba_common_device_put(&gba_scoll->device);
    gba_common_first_close();
    return OSHMEM_SUCCESS;
}

static int component_init(bool progress_threads, bool threads)
{
    (void)progress_threads;
    (void)threads;
    return OSHMEM_SUCCESS;
}

/* A module must be declined here: if its enable fails, the framework discards all other modules
 * too. */
static mca_scoll_base_module_t *component_query(oshmem_group_t *set, int *priority)
{
    *priority = -1;
    if (!gba_scoll->enabled || set->proc_count < 2 || gba_scoll_tag(set, GBA_SCOLL_UP) < 0)
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
    /* Not initialised in open, because a tool may read the counters before open, and a module may
     * end after close. */
    .lock = OPAL_MUTEX_STATIC_INIT,
    .output = -1,
};
