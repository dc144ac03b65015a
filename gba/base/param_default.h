/* SPDX-License-Identifier: BSD-3-Clause */
/* The allowed values of a parameter, for help texts, and its default. */
#ifndef GBA_BASE_ALLOWED_H
#define GBA_BASE_ALLOWED_H

#include "gba/params.h"

/* Print the values of a number or an enumeration: "2 to 64", "auto, flat, node" (len bytes at most,
 * terminated). Thread-safe. Not collective. */
void gba_param_allowed(const gba_param_t *param, char *text, size_t len);

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

#endif
