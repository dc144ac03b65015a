/* SPDX-License-Identifier: BSD-3-Clause */
/* The component: open and close, and the active sets that it serves. */
#include "oshmem/mca/scoll/gba/scoll_gba.h"

#include <string.h>

static int params_register(void)
{
    gba_common_params_register(&gba_scoll->super.scoll_version, gba_scoll_params,
                               GBA_SCOLL_OFFLOAD_AFTER, 1 != OSHMEM_SPEC_COMPAT);
    return OSHMEM_SUCCESS;
}

static const struct gba_common_class classes[] = {GBA_COMMON_CLASS(oshmem_group_t),
                                                  GBA_COMMON_CLASS(mca_scoll_base_module_t),
                                                  GBA_COMMON_CLASS(ompi_communicator_t),
                                                  GBA_COMMON_CLASS(ompi_request_t),
                                                  GBA_COMMON_CLASS(opal_mutex_t),
                                                  GBA_COMMON_CLASS(ompi_proc_t),
                                                  {.name = NULL}};

static int component_open(void)
{
    static const char *const needed[] = {"basic", NULL}; /* provides all collectives */
    bool reports = 0 == opal_process_info.my_local_rank || gba_common.variables.verbose > 1;

    memset(&gba_scoll->slab_memory, 0, sizeof gba_scoll->slab_memory);
    gba_common_open();
    gba_common_choice_open(false);
    (void)gba_common_abi_check(classes);
    gba_scoll_pin_ucx();
    /* One process of a host reports the parameters, because most often all have the same. */
    if ('\0' != gba_common.bad_parameter[0] && (reports || gba_common.variables.verbose > 0))
        gba_common_alert("%s; the component is disabled", gba_common.bad_parameter);
    else if (gba_common.params.disable && reports)
        gba_common_print(false, "%s (PE %u); the component is disabled", gba_common_disabled(),
                         (unsigned)OMPI_PROC_MY_NAME->vpid);
    gba_common_companions_load(&oshmem_scoll_base_framework, "gba", needed);
    return OSHMEM_SUCCESS;
}

/*
 * Open MPI has released its modules by now; those that it leaked are closed here. The log stays
 * libgba's: if the coll component is in use, it closes later and resets the log.
 */
static int component_close(void)
{
    gba_common_modules_close();
    gba_common_stall_close();
    gba_common_notifications_drain();
    gba_common_notifications_stop();
    gba_scoll_slab_memory_close();
    gba_scoll_contexts_close();
    gba_common_close("PE");
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
    mca_scoll_base_module_t *module;

    *priority = -1;
    if (!gba_common.enabled || set->proc_count < 2 || gba_scoll_tag(set, GBA_SCOLL_UP) < 0)
        return NULL;
    *priority = gba_common.params.priority;
    module = gba_scoll_module_create(set);
    /* The other members use the fallback, too: they never see this one (activation.c). */
    if (module == NULL)
        gba_common_alert(
            "PE %u is out of memory for an active set; its barriers use Open MPI's own",
            (unsigned)OMPI_PROC_MY_NAME->vpid);
    return module;
}

static struct ompi_communicator_t *notifications_world(void)
{
    return oshmem_comm_world;
}

const struct gba_common_framework gba_common_framework = {
    .label = "scoll gba",
    .ids = GBA_COMMON_IDS_SCOLL,
    .name_member = gba_scoll_name_member,
    .name_team = gba_scoll_name,
    .id = gba_scoll_id,
    .world = notifications_world,
    .peer = gba_scoll_peer,
    .prepare = gba_scoll_agree_prepare,
    .fallback = gba_scoll_barrier_again,
    .apply = gba_scoll_agree_apply,
    .report = gba_scoll_report_path,
    .close = gba_scoll_module_close,
};

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
                    .mca_register_component_params = params_register,
                },
            .scoll_data = {.param_field = MCA_BASE_METADATA_PARAM_NONE},
            .scoll_init = component_init,
            .scoll_query = component_query,
        },
};
