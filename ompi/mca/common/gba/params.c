/* SPDX-License-Identifier: BSD-3-Clause */
/* Registration of parameters with Open MPI, and their check. */
#include "ompi/mca/common/gba/open.h"
#include "ompi/mca/common/gba/module.h"

#include <stdio.h>
#include <string.h>

#include "gba/base/allowed.h"
#include "gba/base/site.h"
#include "opal/mca/base/mca_base_var.h"

/* The most values of one enumerated parameter; libgba's table has fewer. */
#define ENUM_VALUES_MAX 16

static mca_base_var_enum_t *enum_create(const gba_param_t *param)
{
    mca_base_var_enum_value_t values[ENUM_VALUES_MAX + 1];
    mca_base_var_enum_t *enumerator = NULL;
    int n = 0;

    for (; n < ENUM_VALUES_MAX && param->values[n].name != NULL; n++) {
        values[n].value = param->values[n].value;
        values[n].string = param->values[n].name;
    }
    values[n].value = 0;
    values[n].string = NULL;
    return OPAL_SUCCESS == mca_base_var_enum_create(param->name, values, &enumerator) ? enumerator
                                                                                      : NULL;
}

/* fields: what the offset is from. Returns the index of the variable, negative on error. */
static int param_register(const mca_base_component_t *component, const gba_param_t *param,
                          void *fields)
{
    mca_base_var_type_t type = MCA_BASE_VAR_TYPE_INT;
    mca_base_var_enum_t *enumerator = NULL;
    int index;

    if (GBA_PARAM_UINT == param->type)
        type = MCA_BASE_VAR_TYPE_UNSIGNED_INT;
    else if (GBA_PARAM_STRING == param->type)
        type = MCA_BASE_VAR_TYPE_STRING;
    else if (GBA_PARAM_BOOL == param->type)
        enumerator = &mca_base_var_enum_bool;
    else if (GBA_PARAM_ENUM == param->type)
        enumerator = enum_create(param);

    index = mca_base_component_var_register(
        component, param->name, param->help, type, enumerator, 0,
        param->hidden ? MCA_BASE_VAR_FLAG_INTERNAL : (mca_base_var_flag_t)0,
        (mca_base_var_info_lvl_t)(OPAL_INFO_LVL_1 + param->level - 1),
        param->all_same ? MCA_BASE_VAR_SCOPE_ALL_EQ : MCA_BASE_VAR_SCOPE_READONLY,
        (char *)fields + param->offset);
    if (GBA_PARAM_ENUM == param->type && enumerator != NULL)
        OBJ_RELEASE(enumerator); /* the variable holds a reference */
    return index;
}

static void own_register(const mca_base_component_t *component, const gba_param_t *table,
                         bool quiet)
{
    for (const gba_param_t *param = table; param->name != NULL; param++)
        gba_param_default(param, &gba_common.own);
    gba_common.own.quiet |= quiet;
    for (const gba_param_t *param = table; param->name != NULL; param++)
        (void)param_register(component, param, &gba_common.own);
}

void gba_common_params_register(const mca_base_component_t *component, const gba_param_t *own,
                                int offload_after, bool quiet)
{
    /* At each registration, because a variable takes its default from its storage. */
    gba_params_default(&gba_common.variables);
    gba_common.variables.offload_after = offload_after;
    gba_common.variables.disable = gba_site_disabled(GBA_SITE_FILE);
    for (const gba_param_t *param = gba_params_table(); param->name != NULL; param++) {
        int index = param_register(component, param, &gba_common.variables);

        if (0 == strcmp(param->name, "device_path"))
            gba_common.device_path_index = index;
        if (0 == strcmp(param->name, "device_list"))
            gba_common.device_list_index = index;
    }
    own_register(component, gba_both_params, quiet);
    own_register(component, own, quiet);
    gba_common_pvars_register(component);
}

#define SMALLEST_MAX INT32_C(0xffffff)

uint64_t gba_common_capability(uint64_t protocol, uint64_t agree_after)
{
    const gba_params_t *params = &gba_common.params;
    int smallest = params->min_comm_size < SMALLEST_MAX ? params->min_comm_size : SMALLEST_MAX;

    return protocol << GBA_COMMON_PROTOCOL_SHIFT | (uint64_t)(uint8_t)gba_wire_version() << 48 |
           agree_after << 32 | (uint64_t)params->priority << 25 | (uint64_t)smallest;
}

void gba_common_capability_differ(const uint64_t words[2], const char *const members[2], char *text,
                                  size_t len)
{
    static const struct {
        const char *name, *cure;
        unsigned shift;
        uint64_t mask;
    } fields[] = {
        {"version of the component", "; install one version on all hosts", 56, 0xff},
        {"wire version of libgba", "; install one version on all hosts", 48, 0xff},
        {"agree_after", "", 32, GBA_AGREE_AFTER_MAX},
        {"priority", "", 25, 0x7f},
        {"min_comm_size", "", 0, SMALLEST_MAX},
    };
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < sizeof fields / sizeof fields[0] && used < len; i++) {
        unsigned long long first = words[0] >> fields[i].shift & fields[i].mask;
        unsigned long long second = words[1] >> fields[i].shift & fields[i].mask;

        if (first != second)
            used +=
                (size_t)snprintf(text + used, len - used, "%s%s differs: %llu (%s), %llu (%s)%s",
                                 0 == used ? "" : "; ", fields[i].name, first, members[0], second,
                                 members[1], fields[i].cure);
        if (0 == i && first != second)
            break; /* words of another version can have another layout */
    }
}

/* Whether the user has set a parameter. Its value may equal the default. */
static bool is_set(int index)
{
    mca_base_var_source_t source = MCA_BASE_VAR_SOURCE_DEFAULT;

    return OPAL_SUCCESS == mca_base_var_get_value(index, NULL, &source, NULL) &&
           MCA_BASE_VAR_SOURCE_DEFAULT != source;
}

void gba_common_params_check(void)
{
    static char empty[] = "";
    const int agree_after = gba_common.own.agree_after; /* 0 in scoll */
    gba_params_t *params = &gba_common.params;

    *params = gba_common.variables;
    /* Open MPI stores an empty string as NULL. */
    params->device_path = params->device_path == NULL ? empty : params->device_path;
    params->device_list = params->device_list == NULL ? empty : params->device_list;
    params->device_map = params->device_map == NULL ? empty : params->device_map;
    gba_common.bad_parameter[0] = '\0';
    if (GBA_OK ==
            gba_params_check(params, gba_common.bad_parameter, sizeof gba_common.bad_parameter) &&
        (agree_after < 0 || agree_after > GBA_AGREE_AFTER_MAX))
        snprintf(gba_common.bad_parameter, sizeof gba_common.bad_parameter,
                 "agree_after=%d is out of range; allowed: 0 to %d", agree_after,
                 GBA_AGREE_AFTER_MAX);
    gba_common.enabled = '\0' == gba_common.bad_parameter[0] && !params->disable;
    gba_common.device_set = is_set(gba_common.device_path_index);
    gba_common.device_asked = gba_common.device_set ? 0 != strcmp(params->device_path, "none")
                                                    : is_set(gba_common.device_list_index);
}
