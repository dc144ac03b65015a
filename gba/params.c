/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of all parameters: the one place with their names, defaults, ranges and help. */
#include <inttypes.h>
#include <stdio.h>

#include "gba/gba.h"
#include "gba/spec/gba_regs.h"

#define FIELD(field) .name = #field, .offset = offsetof(gba_params_t, field)

static const gba_param_value_t algorithms[] = {{GBA_ALGORITHM_AUTO, "auto"},
                                               {GBA_ALGORITHM_V1, "v1"},
                                               {GBA_ALGORITHM_V2, "v2"},
                                               {GBA_ALGORITHM_V3, "v3"},
                                               {0, NULL}};
static const gba_param_value_t hierarchies[] = {{GBA_HIERARCHY_AUTO, "auto"},
                                                {GBA_HIERARCHY_FLAT, "flat"},
                                                {GBA_HIERARCHY_NODE, "node"},
                                                {0, NULL}};
static const gba_param_value_t waits[] = {{GBA_WAIT_AUTO, "auto"},
                                          {GBA_WAIT_SPIN, "spin"},
                                          {GBA_WAIT_YIELD, "yield"},
                                          {GBA_WAIT_SLEEP, "sleep"},
                                          {0, NULL}};

static const gba_param_t table[] = {
    {FIELD(priority), .type = GBA_PARAM_INT, .min = 0, .max = 100, .value_default = 100, .level = 9,
     .all_same = true,
     /* Open MPI's coll framework takes 0 to 100 and cuts what is above. */
     .help = "Priority among the components that offer a barrier, 0 to 100; the highest one is "
             "used"},
    {FIELD(disable), .type = GBA_PARAM_BOOL, .max = 1, .value_default = 0, .level = 2,
     .all_same = true,
     .help = "1: take no part in anything; all communicators with a rank that says so use the "
             "barrier that they would have without this component"},
    {FIELD(device_path), .type = GBA_PARAM_STRING, .string_default = "/dev/gba0", .level = 1,
     .help = "The device: a file such as /dev/gba0; \"sim\", a simulated device for the processes "
             "of the job on one host; \"sim:NAME\", one for all jobs of the user on the host that "
             "name it; \"none\". A simulated one takes options, sim?OPTION=VALUE&OPTION=VALUE: see "
             "gba_info(1)"},
    {FIELD(min_comm_size), .type = GBA_PARAM_INT, .min = 2, .max = INT32_MAX, .value_default = 2,
     .level = 4, .all_same = true,
     .help = "Communicators with fewer processes use the barrier that they would have without "
             "this component; at least 2"},
    {FIELD(verbose), .type = GBA_PARAM_INT, .min = 0, .max = 3, .value_default = 0, .level = 2,
     .help = "What to print: 0 only what went wrong, 1 also which path each communicator takes "
             "and why, and totals at the end, 2 and 3 also each step"},
    {FIELD(retry_after), .type = GBA_PARAM_INT, .min = 1, .max = 3600000, .value_default = 100,
     .level = 6,
     .help = "Milliseconds that a barrier waits before it asks the device whether an arrival or a "
             "release was lost, 1 to 3600000; then again after twice that time, and so on"},
    {FIELD(offload_after), .type = GBA_PARAM_INT, .min = 0, .max = 1000000, .value_default = 0,
     .level = 4,
     .help =
         "Barriers that a communicator or active set does before it asks for a barrier group, 0 "
         "to 1000000; until then it does without one. That of rank 0 counts"},
    {FIELD(max_groups), .type = GBA_PARAM_INT, .min = 0, .max = GBA_GROUPS, .value_default = 0,
     .level = 4,
     .help =
         "Barrier groups of the device that the job takes at most, 0 to 32; 0: as many as there "
         "are. Who asks for one counts those that the whole job has; that of rank 0 of the "
         "communicator or active set counts"},
    {FIELD(sw_enable), .type = GBA_PARAM_BOOL, .max = 1, .value_default = 1, .level = 3,
     .help = "0: no software barriers of our own: where there is no barrier group, use the barrier "
             "that the communicator would have without this component"},
    {FIELD(sw_algorithm), .type = GBA_PARAM_ENUM, .values = algorithms,
     .value_default = GBA_ALGORITHM_AUTO, .level = 5,
     .help = "Software barrier: v1 dissemination, v2 dissemination with a larger radix, v3 "
             "centralized (each process reads the flags of all others; between hosts v1 instead), "
             "auto by size and cores; that of rank 0 counts"},
    {FIELD(sw_radix), .type = GBA_PARAM_INT, .min = 2, .max = 64, .value_default = 8, .level = 6,
     .help = "Radix of v2, 2 to 64: processes that each one signals at once, plus one; that of "
             "rank 0 counts"},
    {FIELD(hierarchy), .type = GBA_PARAM_ENUM, .values = hierarchies,
     .value_default = GBA_HIERARCHY_AUTO, .level = 5,
     .help = "Barrier on several hosts: node (gather on each host, barrier of one process a host, "
             "release on each host), flat (all processes alike), auto: node in software, and on a "
             "device where a group cannot have so many members, or processes have different "
             "devices; that of rank 0 counts"},
    {FIELD(wait), .type = GBA_PARAM_ENUM, .values = waits, .value_default = GBA_WAIT_AUTO,
     .level = 4,
     .help = "How to wait: spin, yield (let other processes run between two looks), sleep, or "
             "auto: spin while each process has a core, otherwise yield, and sleep in a wait "
             "longer than a second"},
    {FIELD(stuck_after), .type = GBA_PARAM_INT, .min = 0, .max = 2592000, .value_default = 60,
     .level = 3,
     .help =
         "Seconds until a barrier that does not end is told of, with the ranks that are missing, "
         "0 to 2592000 (30 days); 0: never. It goes on waiting all the same"},
    {FIELD(first_sequence), .type = GBA_PARAM_UINT, .max = UINT32_MAX, .value_default = 0,
     .level = 9, .hidden = true,
     .help =
         "Sequence number of barrier groups before their first round, for tests of wrap-around; "
         "the leader's counts"},
    {.name = NULL},
};

const gba_param_t *gba_params_table(void)
{
    return table;
}

static void *field_of(gba_params_t *params, const gba_param_t *param)
{
    return (char *)params + param->offset;
}

/* Every type but strings as one kind of number. */
static int64_t value_of(const gba_params_t *params, const gba_param_t *param)
{
    const void *field = (const char *)params + param->offset;

    return GBA_PARAM_UINT == param->type ? (int64_t) * (const unsigned int *)field
                                         : (int64_t) * (const int *)field;
}

void gba_params_default(gba_params_t *params)
{
    for (const gba_param_t *param = table; NULL != param->name; param++) {
        void *field = field_of(params, param);

        if (GBA_PARAM_STRING == param->type)
            *(const char **)field = param->string_default;
        else if (GBA_PARAM_UINT == param->type)
            *(unsigned int *)field = (unsigned int)param->value_default;
        else
            *(int *)field = (int)param->value_default;
    }
}

static bool enum_has(const gba_param_t *param, int64_t value)
{
    for (const gba_param_value_t *v = param->values; NULL != v->name; v++)
        if (v->value == value)
            return true;
    return false;
}

/* "auto, v1, v2": what an enumeration allows. */
static void enum_list(const gba_param_t *param, char *text, size_t len)
{
    size_t used = 0;

    for (const gba_param_value_t *v = param->values; NULL != v->name && used < len; v++)
        used += (size_t)snprintf(text + used, len - used, "%s%s", v == param->values ? "" : ", ",
                                 v->name);
}

static gba_status_t param_check(const gba_params_t *params, const gba_param_t *param, char *message,
                                size_t len)
{
    char allowed[128];
    int64_t value;

    if (GBA_PARAM_STRING == param->type)
        return gba_device_path_check(params->device_path, message, len);
    value = value_of(params, param);
    if (GBA_PARAM_ENUM == param->type) {
        if (enum_has(param, value))
            return GBA_OK;
        enum_list(param, allowed, sizeof allowed);
    } else {
        if (value >= param->min && value <= param->max)
            return GBA_OK;
        snprintf(allowed, sizeof allowed, "%" PRId64 " to %" PRId64, param->min, param->max);
    }
    snprintf(message, len, "%s=%" PRId64 " is out of range; allowed: %s", param->name, value,
             allowed);
    return GBA_ERR_PARAM;
}

gba_status_t gba_params_check(const gba_params_t *params, char *message, size_t len)
{
    for (const gba_param_t *param = table; NULL != param->name; param++)
        if (GBA_OK != param_check(params, param, message, len))
            return GBA_ERR_PARAM;
    return GBA_OK;
}
