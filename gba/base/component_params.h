/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parameters that only the components of Open MPI have, in the form of gba_params_table: for
 * the components, which register them, and for gba_info.
 */
#ifndef GBA_BASE_COMPONENT_PARAMS_H
#define GBA_BASE_COMPONENT_PARAMS_H

#include "gba/params.h"

/* The form of the totals at the end of a process. */
enum gba_totals { GBA_TOTALS_TEXT, GBA_TOTALS_JSON };

/* Of scoll: the carrier of the signals of software barriers between hosts. */
enum gba_scoll_transport {
    GBA_SCOLL_TRANSPORT_AUTO,
    GBA_SCOLL_TRANSPORT_SPML,
    GBA_SCOLL_TRANSPORT_PML
};

/* The default of offload_after of scoll: the agreement of an active set costs a few barriers. */
#define GBA_SCOLL_OFFLOAD_AFTER 4

#define GBA_AGREE_AFTER_MAX 65535

struct gba_component_params {
    int totals; /* enum gba_totals */
    /* coll */
    int agree_after;
    /* scoll */
    int pin_ucx, quiet;
    unsigned int group_reserve;
    int signals;              /* enum gba_scoll_transport */
    unsigned int signal_rows; /* number of slabs that may be used */
};

#define OWN(field) .name = #field, .offset = offsetof(struct gba_component_params, field)

static const gba_param_value_t gba_totals_forms[] = {
    {GBA_TOTALS_TEXT, "text"}, {GBA_TOTALS_JSON, "json"}, {0, NULL}};

/* Of both. */
static const gba_param_t gba_both_params[] = {
    {OWN(totals), .type = GBA_PARAM_ENUM, .values = gba_totals_forms,
     .value_default = GBA_TOTALS_TEXT, .level = 5,
     .help = "Totals of rank 0, and of each rank with repaired losses, at the end of the job: "
             "\"text\": a line of words if verbose is at least 1; \"json\": a line of JSON at any "
             "verbose, with the job, the path of most barriers, the barriers of each path, "
             "failovers, and why there is no device"},
    {.name = NULL},
};

static const gba_param_t gba_coll_params[] = {
    /* An agreement costs as much as several hundred barriers save. So a communicator with few
     * barriers makes none, and one with many loses what 100 barriers would have saved. */
    {OWN(agree_after), .type = GBA_PARAM_INT, .max = GBA_AGREE_AFTER_MAX, .value_default = 100,
     .level = 5, .all_same = true,
     .help = "Barriers, blocking and nonblocking, that a communicator does on Open MPI's own "
             "barrier before its ranks agree on a path in the next one, 0 to 65535. For "
             "MPI_COMM_WORLD and persistent barriers always 0"},
    {.name = NULL},
};

static const gba_param_value_t gba_signals[] = {{GBA_SCOLL_TRANSPORT_AUTO, "auto"},
                                                {GBA_SCOLL_TRANSPORT_SPML, "spml"},
                                                {GBA_SCOLL_TRANSPORT_PML, "pml"},
                                                {0, NULL}};

static const gba_param_t gba_scoll_params[] = {
    {OWN(pin_ucx), .type = GBA_PARAM_BOOL, .max = 1, .value_default = 1, .level = 5,
     .help = "Keep libmca_common_ucx loaded until the process ends. Open MPI before 4.1.6 crashes "
             "in finalize otherwise, whatever scoll component is in use"},
    {OWN(quiet), .type = GBA_PARAM_BOOL, .max = 1, .value_default = 0, .level = 5,
     .help = "Complete the puts of this PE in every barrier and sync. Needed only where OpenSHMEM "
             "does not do it itself (Open MPI without --enable-oshmem-compat, which is where this "
             "is the default)"},
    /* Half of the 32 groups: for the set of all PEs, other jobs, and communicators. */
    {OWN(group_reserve), .type = GBA_PARAM_UINT, .max = UINT32_MAX, .value_default = 16, .level = 5,
     .help = "Barrier groups of the device that active sets leave free, for the set of all PEs and "
             "for others. A set that gets none takes a software barrier"},
    {OWN(signals), .type = GBA_PARAM_ENUM, .values = gba_signals,
     .value_default = GBA_SCOLL_TRANSPORT_AUTO, .level = 5, .all_same = true,
     .help = "Carrier of the signals of software barriers between hosts: \"spml\": atomics on "
             "symmetric memory (with UCX); \"pml\": messages; \"auto\": spml if all hosts have an "
             "RDMA device"},
    {OWN(signal_rows), .type = GBA_PARAM_UINT, .max = UINT32_MAX, .value_default = 64, .level = 9,
     .hidden = true,
     .help = "Active sets that may have signals in symmetric memory at one time, for tests; at "
             "most 64"},
    {.name = NULL},
};

#undef OWN

#endif
