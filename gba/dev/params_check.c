/* SPDX-License-Identifier: BSD-3-Clause */
/* The check of the parameters' values. It knows the syntax of device paths, which the table below
 * does not. */
#include <stddef.h>
#include <stdio.h>

#include "gba/base/param_default.h"
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
    char wrong[288];

    if (offsetof(gba_params_t, device_path) == param->offset &&
        GBA_OK != gba_device_path_check(*field, wrong, sizeof wrong)) {
        snprintf(message, len, "%s=%s", param->name, wrong);
        return GBA_ERR_PARAM;
    }
    if (offsetof(gba_params_t, device_list) == param->offset)
        return gba_device_list_check(*field, message, len);
    if (offsetof(gba_params_t, device_map) == param->offset)
        return gba_device_map_check(*field, message, len);
    return GBA_OK;
}

static gba_status_t param_check(const gba_params_t *params, const gba_param_t *param, char *message,
                                size_t len)
{
    char text[24];
    int64_t value;

    if (GBA_PARAM_STRING == param->type)
        return string_check(params, param, message, len);
    value = value_of(params, param);
    if (GBA_PARAM_ENUM == param->type) {
        if (enum_has(param, value))
            return GBA_OK;
    } else if (gba_param_in_range(param, value)) {
        return GBA_OK;
    }
    gba_param_print(param, value, text, sizeof text);
    gba_param_refuse(param, param->name, text, message, len);
    return GBA_ERR_PARAM;
}

gba_status_t gba_params_check(const gba_params_t *params, char *message, size_t len)
{
    for (const gba_param_t *param = gba_params_table(); param->name != NULL; param++)
        if (GBA_OK != param_check(params, param, message, len))
            return GBA_ERR_PARAM;
    return GBA_OK;
}
