/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of parameters as texts. Knows no table, so that programs have tables of their own. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "gba/base/number.h"
#include "gba/base/param_default.h"

static bool bool_parse(const char *text, int64_t *value)
{
    static const char *const names[] = {"0",   "1",   "false", "true",     "no",
                                        "yes", "off", "on",    "disabled", "enabled"};

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (0 == strcasecmp(text, names[i])) {
            *value = i % 2;
            return true;
        }
    return false;
}

/* The number of a value is accepted, too, because Open MPI accepts it. */
static bool enum_parse(const gba_param_t *param, const char *text, int64_t *value)
{
    uint64_t number = UINT64_MAX;

    (void)gba_count_parse(text, 0, INT32_MAX, &number);
    for (const gba_param_value_t *v = param->values; v->name != NULL; v++)
        if (0 == strcmp(v->name, text) || (uint64_t)v->value == number) {
            *value = v->value;
            return true;
        }
    return false;
}

static bool time_parse(const gba_param_t *param, const char *text, uint64_t *value)
{
    const uint64_t unit = param->unit * GBA_NS;
    uint64_t ps;

    if (!gba_time_parse(text, unit, &ps) || 0 != ps % unit)
        return false;
    *value = ps / unit;
    return true;
}

static bool number_parse(const gba_param_t *param, const char *text, int64_t *value)
{
    uint64_t number;

    if (0 != param->unit ? !time_parse(param, text, &number)
                         : !gba_count_parse(text, 0, INT64_MAX, &number))
        return false;
    *value = (int64_t)number;
    return number <= INT64_MAX && gba_param_in_range(param, *value);
}

bool gba_param_set(const gba_param_t *param, void *fields, const char *text)
{
    void *field = (char *)fields + param->offset;
    int64_t value = 0;

    if (GBA_PARAM_STRING == param->type) {
        *(const char **)field = text;
        return true;
    }
    if (GBA_PARAM_BOOL == param->type   ? !bool_parse(text, &value)
        : GBA_PARAM_ENUM == param->type ? !enum_parse(param, text, &value)
                                        : !number_parse(param, text, &value))
        return false;
    if (GBA_PARAM_UINT == param->type)
        *(unsigned int *)field = (unsigned int)value;
    else
        *(int *)field = (int)value;
    return true;
}

void gba_param_print(const gba_param_t *param, int64_t value, char *text, size_t len)
{
    snprintf(text, len, "%" PRId64, value);
    for (const gba_param_value_t *v = param->values; v != NULL && v->name != NULL; v++)
        if (v->value == value) {
            snprintf(text, len, "%s", v->name);
            return;
        }
}

void gba_param_allowed(const gba_param_t *param, char *text, size_t len)
{
    const struct gba_unit *unit = gba_times;
    size_t used = 0;

    for (const gba_param_value_t *v = param->values; v != NULL && v->name != NULL && used < len;
         v++)
        used += (size_t)snprintf(text + used, len - used, "%s%s", v == param->values ? "" : ", ",
                                 v->name);
    if (param->values != NULL)
        return;
    while (unit->name != NULL && unit->factor != param->unit * GBA_NS)
        unit++;
    snprintf(text, len, "%s%" PRId64 " to %" PRId64 "%s%s%s", param->or_zero ? "0, " : "",
             param->min, param->max, unit->name == NULL ? "" : " ",
             unit->name == NULL ? "" : unit->name,
             unit->name == NULL ? "" : ", or with a unit: " GBA_TIMES_NAMES);
}

void gba_param_refuse(const gba_param_t *param, const char *name, const char *text, char *message,
                      size_t len)
{
    char allowed[128];

    gba_param_allowed(param, allowed, sizeof allowed);
    gba_refuse(message, len, name, text, allowed);
}
