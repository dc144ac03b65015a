/* SPDX-License-Identifier: BSD-3-Clause */
/* Registration of parameters with Open MPI, and their check. */
#include "ompi/mca/common/gba/open.h"
#include "ompi/mca/common/gba/module.h"

#include <stdio.h>
#include <string.h>

#include "gba/base/param_default.h"
#include "opal/mca/base/mca_base_var.h"

/*
 * Open MPI reads a number up to the first letter, and without a word takes the default for what is
 * no number. An enumerator sees the text itself, whatever its source, so that each variable but the
 * strings has one, with libgba's parser.
 */
typedef struct gba_enum {
    mca_base_var_enum_t super;
    const gba_param_t *param;
    void *fields; /* the structure of its table, with the default */
    char allowed[128];
    bool called;
} gba_enum_t;
OBJ_CLASS_DECLARATION(gba_enum_t);
OBJ_CLASS_INSTANCE(gba_enum_t, mca_base_var_enum_t, NULL, NULL);

/* Keep the first wrong value. The component reports it when it opens, and is disabled. */
static void value_refuse(const gba_param_t *param, const char *text)
{
    if ('\0' == gba_common.bad_value[0])
        gba_param_refuse(param, param->name, text, gba_common.bad_value,
                         sizeof gba_common.bad_value);
}

/* A wrong value leaves the default, and is no error for Open MPI, which would print a text of its
 * own on each process. */
static int value_from_string(mca_base_var_enum_t *self, const char *text, int *value)
{
    gba_enum_t *enumerator = (gba_enum_t *)self;

    enumerator->called = true;
    if (!gba_param_set(enumerator->param, enumerator->fields, text))
        value_refuse(enumerator->param, text);
    memcpy(value, (char *)enumerator->fields + enumerator->param->offset, sizeof *value);
    return OPAL_SUCCESS;
}

static int string_from_value(mca_base_var_enum_t *self, const int value, char **text)
{
    const gba_param_t *param = ((gba_enum_t *)self)->param;
    char printed[32];

    gba_param_print(param, GBA_PARAM_UINT == param->type ? (int64_t)(unsigned int)value : value,
                    printed, sizeof printed);
    if (text != NULL)
        *text = strdup(printed);
    return OPAL_SUCCESS;
}

/* For ompi_info. */
static int values_dump(mca_base_var_enum_t *self, char **text GBA_COMPAT_DUMP_TYPE)
{
    *text = strdup(((gba_enum_t *)self)->allowed);
    return OPAL_SUCCESS;
}

/* For MPI_T: the values that have names; of a number one item, its least value, whose name is the
 * range. */
static int value_get(mca_base_var_enum_t *self, int index, int *value, const char **name)
{
    const gba_enum_t *enumerator = (gba_enum_t *)self;
    const gba_param_value_t range = {(int)enumerator->param->min, enumerator->allowed};
    const gba_param_value_t *values =
        enumerator->param->values != NULL ? enumerator->param->values : &range;

    if (index < 0 || index >= self->enum_value_count)
        return OPAL_ERR_VALUE_OUT_OF_BOUNDS;
    *value = values[index].value;
    *name = values[index].name;
    return OPAL_SUCCESS;
}

static int value_count(mca_base_var_enum_t *self, int *count)
{
    *count = self->enum_value_count;
    return OPAL_SUCCESS;
}

static gba_enum_t *enum_create(const gba_param_t *param, void *fields)
{
    gba_enum_t *enumerator = OBJ_NEW(gba_enum_t);

    if (enumerator == NULL)
        return NULL;
    enumerator->super.enum_name = strdup(param->name);
    enumerator->super.get_count = value_count;
    enumerator->super.get_value = value_get;
    enumerator->super.value_from_string = value_from_string;
    enumerator->super.string_from_value = string_from_value;
    enumerator->super.dump = values_dump;
    enumerator->param = param;
    enumerator->fields = fields;
    enumerator->called = false;
    gba_param_allowed(param, enumerator->allowed, sizeof enumerator->allowed);
    enumerator->super.enum_value_count = param->values == NULL;
    for (const gba_param_value_t *v = param->values; v != NULL && v->name != NULL; v++)
        enumerator->super.enum_value_count++;
    return enumerator;
}

/* Whether the user has set a parameter. Its value may equal the default. */
static bool is_set(int index)
{
    mca_base_var_source_t source = MCA_BASE_VAR_SOURCE_DEFAULT;

    return OPAL_SUCCESS == mca_base_var_get_value(index, NULL, &source, NULL) &&
           MCA_BASE_VAR_SOURCE_DEFAULT != source;
}

/* fields: what the offset is from. Returns the index of the variable, negative on error. */
static int param_register(const mca_base_component_t *component, const gba_param_t *param,
                          void *fields)
{
    const bool string = GBA_PARAM_STRING == param->type;
    gba_enum_t *enumerator = string ? NULL : enum_create(param, fields);
    int index;

    if (!string && enumerator == NULL)
        return OPAL_ERR_OUT_OF_RESOURCE;
    index = mca_base_component_var_register(
        component, param->name, param->help,
        string ? MCA_BASE_VAR_TYPE_STRING : MCA_BASE_VAR_TYPE_INT,
        string ? NULL : &enumerator->super, 0,
        param->hidden ? MCA_BASE_VAR_FLAG_INTERNAL : (mca_base_var_flag_t)0,
        (mca_base_var_info_lvl_t)(OPAL_INFO_LVL_1 + param->level - 1),
        param->all_same ? MCA_BASE_VAR_SCOPE_ALL_EQ : MCA_BASE_VAR_SCOPE_READONLY,
        (char *)fields + param->offset);
    if (string)
        return index;
    if (is_set(index) && !enumerator->called) /* an empty text is not passed to an enumerator */
        value_refuse(param, "");
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
    gba_common.bad_value[0] = '\0';
    /* At each registration, because a variable takes its default from its storage. */
    gba_params_default(&gba_common.variables);
    gba_common.variables.offload_after = offload_after;
    gba_common.site = gba_site_read(GBA_SITE_FILE, gba_common.site_why);
    gba_common.variables.disable = GBA_SITE_INACTIVE == gba_common.site;
    for (const gba_param_t *param = gba_params_table(); param->name != NULL; param++) {
        int index = param_register(component, param, &gba_common.variables);

        if (0 == strcmp(param->name, "disable"))
            gba_common.disable_index = index;
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

void gba_common_params_check(void)
{
    static char empty[] = "";
    gba_params_t *params = &gba_common.params;

    *params = gba_common.variables;
    /* Open MPI stores an empty string as NULL. */
    params->device_path = params->device_path == NULL ? empty : params->device_path;
    params->device_list = params->device_list == NULL ? empty : params->device_list;
    params->device_map = params->device_map == NULL ? empty : params->device_map;
    snprintf(gba_common.bad_parameter, sizeof gba_common.bad_parameter, "%s", gba_common.bad_value);
    if (is_set(gba_common.disable_index))
        gba_common.site = GBA_SITE_ACTIVE;
    if ('\0' == gba_common.bad_parameter[0] && GBA_SITE_INVALID == gba_common.site)
        snprintf(gba_common.bad_parameter, sizeof gba_common.bad_parameter, "%s",
                 gba_common.site_why);
    if ('\0' == gba_common.bad_parameter[0])
        (void)gba_params_check(params, gba_common.bad_parameter, sizeof gba_common.bad_parameter);
    gba_common.enabled = '\0' == gba_common.bad_parameter[0] && !params->disable;
    gba_common.device_set = is_set(gba_common.device_path_index);
    gba_common.device_asked = gba_common.device_set ? 0 != strcmp(params->device_path, "none")
                                                    : is_set(gba_common.device_list_index);
}

const char *gba_common_disabled(void)
{
    return GBA_SITE_INACTIVE == gba_common.site ? gba_common.site_why : "disable is 1";
}
