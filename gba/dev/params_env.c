/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters from the environment, for programs whose runtime has no parameters of its own. */
#define _GNU_SOURCE /* secure_getenv */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "gba/params.h"

#define NAME_MAX_LEN 64

/* "sw_radix" to "GBA_SW_RADIX". */
static void name_of(const gba_param_t *param, char name[NAME_MAX_LEN])
{
    size_t used = (size_t)snprintf(name, NAME_MAX_LEN, "GBA_%s", param->name);

    for (size_t i = 0; i < used && i < NAME_MAX_LEN; i++)
        name[i] = (char)toupper((unsigned char)name[i]);
}

gba_status_t gba_params_environment(gba_params_t *params, char *message, size_t len)
{
    gba_params_t read = *params;

    for (const gba_param_t *param = gba_params_table(); param->name != NULL; param++) {
        char name[NAME_MAX_LEN];
        const char *text;

        name_of(param, name);
        text = secure_getenv(name);
        if (text == NULL || gba_param_set(param, &read, text))
            continue;
        gba_param_refuse(param, name, text, message, len);
        return GBA_ERR_PARAM;
    }
    if (GBA_OK != gba_params_check(&read, message, len))
        return GBA_ERR_PARAM;
    *params = read;
    return GBA_OK;
}
