/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parameters of the plugins. libgba knows names, ranges and defaults. The values come from
 * where Open MPI reads them: the environment, then the parameter files, the first one that has a
 * value. What a launcher gets on its command line is not known here.
 */
#define _GNU_SOURCE /* environ */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gba/base/component_params.h"
#include "gba/base/site.h"
#include "gba/tools/info.h"

#ifndef GBA_OMPI_SYSCONFDIR
#define GBA_OMPI_SYSCONFDIR ""
#endif

#define STRING_MAX 256
#define LINE       (STRING_MAX + 128)
#define FILES_MAX  1024

static const char prefix[] = "coll_gba_barrier_";

/* In a file the last line about a parameter counts. */
static bool file_find(const char *path, const char *name, char value[STRING_MAX])
{
    const char *found, *of;
    char line[LINE];
    bool is_set = false;
    FILE *file = fopen(path, "re");

    if (file == NULL)
        return false;
    while (fgets(line, sizeof line, file) != NULL) {
        found = gba_line_split(line, &of);
        if (found == NULL || 0 != strcmp(of, name))
            continue;
        snprintf(value, STRING_MAX, "%s", found);
        is_set = true;
    }
    fclose(file);
    return is_set;
}

/* The parameter files of Open MPI: the user's before that of the installation. */
static void files_list(char list[FILES_MAX])
{
    const char *files = getenv("OMPI_MCA_mca_base_param_files"), *home = getenv("HOME");

    if (files != NULL)
        snprintf(list, FILES_MAX, "%s", files);
    else
        snprintf(list, FILES_MAX, "%.400s/.openmpi/mca-params.conf,%s/openmpi-mca-params.conf",
                 home == NULL ? "" : home, GBA_OMPI_SYSCONFDIR);
}

/* Whether the user has set a parameter of the coll component. */
static bool value_find(const char *name, char value[STRING_MAX])
{
    char variable[160], list[FILES_MAX], *rest = list, *path;
    const char *set;

    snprintf(variable, sizeof variable, "OMPI_MCA_%s%s", prefix, name);
    set = getenv(variable);
    if (set == NULL) {
        files_list(list);
        while ((path = strsep(&rest, ",:")) != NULL)
            if ('\0' != *path && file_find(path, variable + strlen("OMPI_MCA_"), value))
                return true;
        return false;
    }
    snprintf(value, STRING_MAX, "%s", set);
    return true;
}

bool info_params_is_set(const char *name)
{
    char value[STRING_MAX];

    return value_find(name, value);
}

/* ------------------------------------------------------------------------------------ names --- */

static bool in_table(const gba_param_t *table, const char *name)
{
    while (table->name != NULL && 0 != strcmp(table->name, name))
        table++;
    return table->name != NULL;
}

/* Whether that is a parameter, or not of these components. */
static bool name_is_valid(const char *name)
{
    static const struct {
        const char *prefix;
        const gba_param_t *own;
    } components[] = {{prefix, gba_coll_params}, {"scoll_gba_", gba_scoll_params}};

    for (size_t i = 0; i < sizeof components / sizeof components[0]; i++) {
        const size_t len = strlen(components[i].prefix);

        if (0 == strncmp(name, components[i].prefix, len))
            return in_table(gba_params_table(), name + len) ||
                   in_table(gba_both_params, name + len) || in_table(components[i].own, name + len);
    }
    return true;
}

/* Find a parameter that does not exist, in the environment or a file, and describe it. */
static bool misspelt(char *message, size_t len)
{
    char list[FILES_MAX], *rest = list, *path, name[160], line[LINE];
    const char environment[] = "OMPI_MCA_", *of = "";

    for (char **variable = environ; *variable != NULL; variable++) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*variable, "="), *variable);
        if (0 == strncmp(name, environment, strlen(environment)) &&
            !name_is_valid(name + strlen(environment))) {
            snprintf(message, len, "%s in the environment is not a parameter, and has no effect",
                     name);
            return true;
        }
    }
    files_list(list);
    while ((path = strsep(&rest, ",:")) != NULL) {
        FILE *file = fopen(path, "re");
        bool found = false;

        while (file != NULL && !found && fgets(line, sizeof line, file) != NULL)
            found = gba_line_split(line, &of) != NULL && !name_is_valid(of);
        if (file != NULL)
            fclose(file);
        if (found) {
            snprintf(message, len, "%.100s in %s is not a parameter, and has no effect", of, path);
            return true;
        }
    }
    return false;
}

/* ----------------------------------------------------------------------------------- values --- */

/* The most parameters in the table of libgba, which has fewer. */
#define PARAMS_MAX 32

gba_status_t info_params_get(gba_params_t *params)
{
    static char values[PARAMS_MAX][STRING_MAX]; /* the strings point to them */
    const gba_param_t *table = gba_params_table();
    char message[FILES_MAX + 160] = "";

    gba_params_default(params);
    for (unsigned i = 0; i < PARAMS_MAX && table[i].name != NULL; i++)
        if (value_find(table[i].name, values[i]) && !gba_param_set(&table[i], params, values[i]) &&
            '\0' == message[0])
            gba_param_refuse(&table[i], table[i].name, values[i], message, sizeof message);
    if ('\0' == message[0] && GBA_OK == gba_params_check(params, message, sizeof message) &&
        !misspelt(message, sizeof message))
        return GBA_OK;
    (void)report_error(INFO_EXIT_USAGE, "%s", message);
    return GBA_ERR_PARAM;
}
