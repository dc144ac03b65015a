/* SPDX-License-Identifier: BSD-3-Clause */
/* The component: open and close, and the communicators that it serves. */
#include "ompi/mca/coll/gba_barrier/module.h"
#include "ompi/mca/coll/gba_barrier/agree.h"
#include "ompi/mca/coll/gba_barrier/queue.h"
#include "ompi/mca/common/gba/notifications.h"
#include "ompi/mca/common/gba/open.h"
#include "ompi/mca/common/gba/report.h"

static int params_register(void)
{
    gba_common_params_register(&gba_coll->super.collm_version, gba_coll_params, 0, false);
    return OMPI_SUCCESS;
}

static const struct gba_common_class classes[] = {
    GBA_COMMON_CLASS(ompi_communicator_t), GBA_COMMON_CLASS(mca_coll_base_module_t),
    GBA_COMMON_CLASS(ompi_group_t),        GBA_COMMON_CLASS(ompi_proc_t),
    GBA_COMMON_CLASS(ompi_request_t),      GBA_COMMON_CLASS(opal_mutex_t),
    GBA_COMMON_CLASS(opal_free_list_t),    {.name = NULL}};

static int component_open(void)
{
    /* These two provide all collectives, blocking and nonblocking, on any communicator. */
    static const char *const needed[] = {"basic", "libnbc", NULL};

    gba_coll->capabilities = NULL;
    gba_coll->busy = gba_coll->busy_at = NULL;
    gba_coll->progress_registered = false;
    gba_common_open();
    gba_coll->abi_differs = !gba_common_abi_check(classes);
    /* Before the other processes learn that this one has the component. */
    if (!gba_coll->abi_differs && OMPI_SUCCESS != gba_coll_requests_open()) {
        gba_common_alert("out of memory (rank %u of the job); the component is disabled there",
                         (unsigned)OMPI_PROC_MY_NAME->vpid);
        gba_common_log_close();
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    gba_coll_capability_publish();
    gba_common_choice_open(true);
    gba_common_processors_publish();
    gba_common_companions_load(&ompi_coll_base_framework, "gba_barrier", needed);
    return OMPI_SUCCESS;
}

/* All communicators are destroyed by now, except those that the program leaked. */
static int component_close(void)
{
    gba_coll_ibarrier_close();
    gba_common_stall_close();
    gba_common_notifications_stop();
    gba_common_modules_close();
    if (!gba_coll->abi_differs)
        OBJ_DESTRUCT(&gba_coll->requests);
    gba_common_close("rank");
    free(gba_coll->capabilities);
    gba_common_log_close();
    return OMPI_SUCCESS;
}

static int component_init_query(bool progress_threads, bool threads)
{
    (void)progress_threads;
    (void)threads;
    return OMPI_SUCCESS;
}

/*
 * Decline only for reasons that all members see: properties of the communicator, and the words that
 * capability.c publishes. Otherwise some members would be in our barrier and some in another one. A
 * communicator below min_comm_size has a module as well, so that the reason is reported and its
 * barriers are counted; and so has an intercommunicator, so that a stalled barrier is reported.
 */
static mca_coll_base_module_t *component_comm_query(ompi_communicator_t *comm, int *priority)
{
    mca_coll_base_module_t *module;

    gba_coll_report_parameter();
    if (!gba_common.enabled || gba_coll_size(comm) < 2)
        return NULL;
    *priority = gba_common.params.priority;
    module = gba_coll_module_create();
    /* The other members have one, and would wait for this one in their first agreement. */
    if (module == NULL)
        gba_common_end_job("is out of memory for the barriers of a communicator");
    return module;
}

static ompi_communicator_t *notifications_world(void)
{
    return &ompi_mpi_comm_world.comm;
}

const struct gba_common_framework gba_common_framework = {
    .label = "coll gba_barrier",
    .ids = GBA_COMMON_IDS_COLL,
    .name_member = gba_coll_name_member,
    .name_team = gba_coll_name,
    .id = gba_coll_id,
    .world = notifications_world,
    .peer = gba_coll_agree_peer,
    .of_job = gba_coll_agree_of_job,
    .prepare = gba_coll_agree_prepare,
    .fallback = gba_coll_fallback,
    .apply = gba_coll_agree_apply,
    .report = gba_coll_report_path,
    .close = gba_coll_module_close,
};

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
                    .mca_register_component_params = params_register,
                },
            .collm_data = {.param_field = MCA_BASE_METADATA_PARAM_NONE},
            .collm_init_query = component_init_query,
            .collm_comm_query = component_comm_query,
        },
    .queue_lock = OPAL_MUTEX_STATIC_INIT, /* as gba_common.lock */
};
