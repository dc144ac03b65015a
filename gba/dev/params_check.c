/* SPDX-License-Identifier: BSD-3-Clause */
/* The check of the parameters' values. It knows the syntax of device paths, which the table below
 * does not. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "gba/base/allowed.h"
#include "gba/dev/selection.h"
#include "gba/gba.h"

/* The value of a parameter of any type but string, as one kind of number. */
static int64_t value_of(const gba_params_t *params, const gba_param_t *param)
{
    const void *field = (const char *)params + param->offset;

    return GBA_PARAM_UINT == param->type ? (int64_t) * (const unsigned int *)field
                                         : (int64_t) * (const int *)field;
}

static bool enum_has(const gba_param_t *param, int64_t value)
{
    for (const gba_param_value_t *v = param->values; v->name != NULL; v++)
        if (v->value == value)
            return true;
    return false;
}

static gba_status_t string_check(const gba_params_t *params, const gba_param_t *param,
                                 char *message, size_t len)
{
    const char *const *field = (const void *)((const char *)params + param->offset);

    if (offsetof(gba_params_t, device_path) == param->offset)
        return gba_device_path_check(*field, message, len);
    if (offsetof(gba_params_t, device_list) == param->offset)
        return gba_device_list_check(*field, message, len);
    if (offsetof(gba_params_t, device_map) == param->offset)
        return gba_device_map_check(*field, message, len);
    return GBA_OK;
}

static gba_status_t param_check(const gba_params_t *params, const gba_param_t *param, char *message,
                                size_t len)
{
    char allowed[128];
    int64_t value;

    if (GBA_PARAM_STRING == param->type)
        return string_check(params, param, message, len);
    value = value_of(params, param);
    if (GBA_PARAM_ENUM == param->type) {
        if (enum_has(param, value))
            return GBA_OK;
    } else if (value >= param->min && value <= param->max) {
        return GBA_OK;
    }
    gba_param_allowed(param, allowed, sizeof allowed);
    snprintf(message, len, "%s=%" PRId64 " is out of range; allowed: %s", param->name, value,
             allowed);
    return GBA_ERR_PARAM;
}

gba_status_t gba_params_check(const gba_params_t *params, char *message, size_t len)
{
    for (const gba_param_t *param = gba_params_table(); param->name != NULL; param++)
        if (GBA_OK != param_check(params, param, message, len))
            return GBA_ERR_PARAM;
    return GBA_OK;
}
