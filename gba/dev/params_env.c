/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters from the environment, for programs whose runtime has no parameters of its own. */
#define _GNU_SOURCE /* secure_getenv, environ */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gba/base/log.h"
#include "gba/base/near.h"
#include "gba/base/param_default.h"
#include "gba/params.h"

/* The variables of libgba_bootstrap. */
static const char *const others[] = {
    "GBA_BOOTSTRAP",      "GBA_BOOTSTRAP_FAMILY",  "GBA_BOOTSTRAP_IFNAME", "GBA_BOOTSTRAP_RANK",
    "GBA_BOOTSTRAP_SIZE", "GBA_BOOTSTRAP_TIMEOUT", "GBA_BOOTSTRAP_UID",    NULL};

/* The name of variable `at`, of the parameters and then of the others; false: there is none. */
static bool known_name(size_t at, char name[GBA_VARIABLE_NAME])
{
    const gba_param_t *param = gba_params_table();

    while (param->name != NULL && at > 0)
        param++, at--;
    if (param->name != NULL)
        gba_param_variable(param->name, name);
    else if (others[at] != NULL)
        snprintf(name, GBA_VARIABLE_NAME, "%s", others[at]);
    return param->name != NULL || others[at] != NULL;
}

/* Report a variable that is none, and near one that is. */
static void name_check(const char *variable)
{
    char name[GBA_VARIABLE_NAME], known[GBA_VARIABLE_NAME], near[GBA_VARIABLE_NAME] = "";

    snprintf(name, sizeof name, "%.*s", (int)strcspn(variable, "="), variable);
    for (size_t at = 0; known_name(at, known); at++) {
        if (0 == strcmp(name, known))
            return;
        if (gba_name_near(name, known))
            memcpy(near, known, sizeof near);
    }
    if ('\0' != near[0])
        gba_log(GBA_LOG_ERROR, "the environment variable %s is not read; did you mean %s?", name,
                near);
}

/* Whether no launcher has set another rank than 0: one process of a job reports for all. */
static bool is_first(void)
{
    static const char *const ranks[] = {"PMIX_RANK", "SLURM_PROCID", "GBA_BOOTSTRAP_RANK"};

    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        const char *rank = secure_getenv(ranks[i]);

        if (rank != NULL && 0 != strcmp(rank, "0"))
            return false;
    }
    return true;
}

static void names_check(void)
{
    for (char **variable = environ; is_first() && *variable != NULL; variable++)
        if (0 == strncmp(*variable, "GBA_", 4))
            name_check(*variable);
}

gba_status_t gba_params_environment(gba_params_t *params, char *message, size_t len)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    gba_params_t read = *params;

    (void)pthread_once(&once, names_check);
    for (const gba_param_t *param = gba_params_table(); param->name != NULL; param++) {
        char name[GBA_VARIABLE_NAME];
        const char *text;

        gba_param_variable(param->name, name);
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
