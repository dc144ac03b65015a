/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parameters of the plugins. libgba knows names, ranges and defaults. The values come from
 * where Open MPI reads them: the environment, then the parameter files, the first one that has a
 * value. What a launcher gets on its command line is not known here. A program without MPI reads
 * other variables, and no files.
 */
#define _GNU_SOURCE /* strsep */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/base/mca_names.h"
#include "gba/base/param_default.h"
#include "gba/base/site.h"
#include "gba/tools/info.h"

#ifndef GBA_OMPI_SYSCONFDIR
#define GBA_OMPI_SYSCONFDIR ""
#endif

#define STRING_MAX 256
#define LINE       (STRING_MAX + 128)
#define FILES_MAX  1024
#define MESSAGE    (FILES_MAX + 160)

static const char prefix[] = "coll_gba_barrier_";
static bool no_mpi;

/* In a file the last line about a parameter counts. */
static bool file_find(const char *path, const char *name, char value[STRING_MAX])
{
    const char *found, *of;
    char line[LINE];
    bool is_set = false;
    FILE *file = fopen(path, "re");

    if (file == NULL)
        return false;
    while (gba_line_read(file, line, sizeof line)) {
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

/* Whether the user has set a parameter of Open MPI. */
static bool mca_find(const char *name, char value[STRING_MAX])
{
    char variable[160], list[FILES_MAX], *rest = list, *path;
    const char *set;

    snprintf(variable, sizeof variable, "OMPI_MCA_%s", name);
    set = getenv(variable);
    if (set == NULL) {
        files_list(list);
        while ((path = strsep(&rest, ",:")) != NULL)
            if ('\0' != *path && file_find(path, name, value))
                return true;
        return false;
    }
    snprintf(value, STRING_MAX, "%s", set);
    return true;
}

/* The same for a program without MPI. */
static bool variable_find(const char *name, char value[STRING_MAX])
{
    char variable[GBA_VARIABLE_NAME];
    const char *set;

    gba_param_variable(name, variable);
    set = getenv(variable);
    if (set != NULL)
        snprintf(value, STRING_MAX, "%s", set);
    return set != NULL;
}

/* Whether the user has set a parameter of the coll component. */
static bool value_find(const char *name, char value[STRING_MAX])
{
    char full[128];

    if (no_mpi)
        return variable_find(name, value);
    snprintf(full, sizeof full, "%s%s", prefix, name);
    return mca_find(full, value);
}

bool info_params_selected(char list[INFO_LIST])
{
    static const char component[] = "gba_barrier";
    char value[STRING_MAX], *rest = value, *name;
    bool excludes, named = false;

    if (!mca_find("coll", value) || '\0' == value[0])
        return true;
    snprintf(list, INFO_LIST, "%s", value);
    excludes = '^' == *rest;
    rest += excludes;
    while ((name = strsep(&rest, ",")) != NULL)
        named = named || 0 == strcmp(name, component);
    return named != excludes;
}

bool info_params_is_set(const char *name)
{
    char value[STRING_MAX];

    return value_find(name, value);
}

void info_params_no_mpi(void)
{
    no_mpi = true;
}

/* Keep the first line about a name that is no parameter. */
static void name_found(void *message, const char *line)
{
    if ('\0' == *(char *)message)
        snprintf(message, MESSAGE, "%s", line);
}

static bool misspelt(char message[MESSAGE])
{
    char list[FILES_MAX];

    files_list(list);
    gba_mca_names_check(list, name_found, message);
    return '\0' != message[0];
}

/* ----------------------------------------------------------------------------------- values --- */

/* The most parameters in the table of libgba, which has fewer. */
#define PARAMS_MAX 32

gba_status_t info_params_get(gba_params_t *params)
{
    static char values[PARAMS_MAX][STRING_MAX]; /* the strings point to them */
    const gba_param_t *table = gba_params_table();
    char message[MESSAGE] = "";

    gba_params_default(params);
    for (unsigned i = 0; i < PARAMS_MAX && table[i].name != NULL; i++)
        if (value_find(table[i].name, values[i]) && !gba_param_set(&table[i], params, values[i]) &&
            '\0' == message[0])
            gba_param_refuse(&table[i], table[i].name, values[i], message, sizeof message);
    if ('\0' == message[0] && GBA_OK == gba_params_check(params, message, sizeof message) &&
        (no_mpi || !misspelt(message)))
        return GBA_OK;
    (void)report_error(INFO_EXIT_USAGE, "%s", message);
    return GBA_ERR_PARAM;
}
