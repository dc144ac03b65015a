/* SPDX-License-Identifier: BSD-3-Clause */
/* The component: open and close, and which communicators we take part in. */
#include "ompi/mca/coll/gba_barrier/coll_gba_barrier.h"

#include <string.h>

static int component_open(void)
{
    /* These two can do everything, blocking and nonblocking, on any communicator. */
    static const char *const needed[] = {"basic", "libnbc", NULL};

    memset(&gba_coll->device, 0, sizeof gba_coll->device);
    gba_coll->modules = NULL;
    gba_coll->capabilities = NULL;
    memset(&gba_coll->retired, 0, sizeof gba_coll->retired);
    memset(&gba_coll->retired_waits, 0, sizeof gba_coll->retired_waits);
    gba_coll->busy = NULL;
    gba_coll->progress_registered = false;
    gba_coll->reasons_told = 0;
    gba_coll->parameter_told = false;
    gba_coll_report_init();
    /* Here and not in register, which ompi_info runs, too. */
    gba_coll_params_check();
    gba_coll_capability_publish();
    /* Disabled or not: the other collectives are wanted in any case. */
    gba_common_companions_load(&ompi_coll_base_framework, "gba_barrier", needed,
                               gba_coll->companions);
    return gba_coll_requests_open();
}

/* The communicators are gone by now, but for those that the program never freed. */
static int component_close(void)
{
    gba_coll_ibarrier_close();
    gba_common_notices_stop();
    gba_coll_modules_close();
    gba_coll_requests_close();
    if (gba_coll->enabled && 0 == OMPI_PROC_MY_NAME->vpid)
        gba_coll_report_totals();
    gba_common_device_put(&gba_coll->device);
    gba_coll_capability_fini();
    gba_coll_report_fini();
    return OMPI_SUCCESS;
}

static int component_init_query(bool progress_threads, bool threads)
{
    (void)progress_threads;
    (void)threads;
    return OMPI_SUCCESS;
}

/*
 * Decline only for reasons that all members can see: those of the communicator, and those that
 * capability.c publishes. Else some would be in our barrier and some in another.
 */
static mca_coll_base_module_t *component_comm_query(ompi_communicator_t *comm, int *priority)
{
    int size = ompi_comm_size(comm);

    gba_coll_report_parameter();
    if (!gba_coll->enabled || OMPI_COMM_IS_INTER(comm) || size < 2 ||
        size < gba_coll->params.min_comm_size || gba_compat_fault_tolerant())
        return NULL;
    *priority = gba_coll->params.priority;
    return gba_coll_module_create();
}

gba_device_t *gba_coll_device(gba_status_t *status)
{
    return gba_common_device_get(&gba_coll->device, &gba_coll->lock, gba_coll->params.device_path,
                                 status);
}

__attribute__((visibility("default"))) gba_coll_component_t mca_coll_gba_barrier_component = {
    .super =
        {
            .collm_version =
                {
                    GBA_COLL_BASE_VERSION,
                    .mca_component_name = "gba_barrier",
                    MCA_BASE_MAKE_VERSION(component, GBA_VERSION_MAJOR, GBA_VERSION_MINOR,
                                          GBA_VERSION_PATCH),
                    .mca_open_component = component_open,
                    .mca_close_component = component_close,
                    .mca_register_component_params = gba_coll_params_register,
                },
            .collm_data = {.param_field = MCA_BASE_METADATA_PARAM_NONE},
            .collm_init_query = component_init_query,
            .collm_comm_query = component_comm_query,
        },
    /* Not made in open: a tool may read the counters before, a module may go away after close. */
    .lock = OPAL_MUTEX_STATIC_INIT,
    .queue_lock = OPAL_MUTEX_STATIC_INIT,
    .output = -1,
};
