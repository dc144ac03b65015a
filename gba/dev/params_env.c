/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters from the environment, for programs whose runtime has no parameters of its own. */
#define _GNU_SOURCE /* secure_getenv */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/base/allowed.h"
#include "gba/params.h"

#define NAME_MAX_LEN 64

/* "sw_radix" to "GBA_SW_RADIX". */
static void name_of(const gba_param_t *param, char name[NAME_MAX_LEN])
{
    size_t used = (size_t)snprintf(name, NAME_MAX_LEN, "GBA_%s", param->name);

    for (size_t i = 0; i < used && i < NAME_MAX_LEN; i++)
        name[i] = (char)toupper((unsigned char)name[i]);
}

static bool parse_number(const char *text, int64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoll(text, &end, 10);
    return 0 == errno && end != text && '\0' == *end && !isspace((unsigned char)*text);
}

static bool parse_enum(const gba_param_t *param, const char *text, int64_t *value)
{
    for (const gba_param_value_t *v = param->values; v->name != NULL; v++)
        if (0 == strcmp(v->name, text)) {
            *value = v->value;
            return true;
        }
    return false;
}

/* Numbers that no field can have are refused here; the range is checked later. */
static bool set_field(gba_params_t *params, const gba_param_t *param, const char *text)
{
    void *field = (char *)params + param->offset;
    int64_t value;

    if (GBA_PARAM_STRING == param->type) {
        *(const char **)field = text;
        return true;
    }
    if (GBA_PARAM_ENUM == param->type ? !parse_enum(param, text, &value)
                                      : !parse_number(text, &value))
        return false;
    if (GBA_PARAM_ENUM != param->type && (value < param->min || value > param->max))
        return false;
    if (GBA_PARAM_UINT == param->type)
        *(unsigned int *)field = (unsigned int)value;
    else
        *(int *)field = (int)value;
    return true;
}

gba_status_t gba_params_environment(gba_params_t *params, char *message, size_t len)
{
    gba_params_t read = *params;

    for (const gba_param_t *param = gba_params_table(); param->name != NULL; param++) {
        char name[NAME_MAX_LEN], allowed[128];
        const char *text;

        name_of(param, name);
        text = secure_getenv(name);
        if (text == NULL || set_field(&read, param, text))
            continue;
        gba_param_allowed(param, allowed, sizeof allowed);
        snprintf(message, len, "%s=%.64s is invalid; allowed: %s", name, text, allowed);
        return GBA_ERR_PARAM;
    }
    if (GBA_OK != gba_params_check(&read, message, len))
        return GBA_ERR_PARAM;
    *params = read;
    return GBA_OK;
}
