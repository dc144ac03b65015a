/* SPDX-License-Identifier: BSD-3-Clause */
/* The default of a parameter, its range, and its environment variable. */
#ifndef GBA_BASE_PARAM_DEFAULT_H
#define GBA_BASE_PARAM_DEFAULT_H

#include <ctype.h>
#include <stdio.h>

#include "gba/params.h"

/* Set the field of a parameter to its default. fields: the structure of the table. */
static inline void gba_param_default(const gba_param_t *param, void *fields)
{
    void *field = (char *)fields + param->offset;

    if (GBA_PARAM_STRING == param->type)
        *(const char **)field = param->string_default;
    else if (GBA_PARAM_UINT == param->type)
        *(unsigned int *)field = (unsigned int)param->value_default;
    else
        *(int *)field = (int)param->value_default;
}

/* Whether a number is a value of a parameter that has a range. */
static inline bool gba_param_in_range(const gba_param_t *param, int64_t value)
{
    return (value >= param->min && value <= param->max) || (param->or_zero && 0 == value);
}

#define GBA_VARIABLE_NAME 64u

/* The environment variable of a parameter, which programs without MPI read: "sw_radix" has
 * GBA_SW_RADIX. */
static inline void gba_param_variable(const char *param, char name[GBA_VARIABLE_NAME])
{
    snprintf(name, GBA_VARIABLE_NAME, "GBA_%s", param);
    for (char *c = name; '\0' != *c; c++)
        *c = (char)toupper((unsigned char)*c);
}

#endif
