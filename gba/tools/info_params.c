/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parameters of the plugins, with their sources. libgba knows names, ranges and defaults. The
 * values come from where Open MPI reads them: the environment, then the parameter files, the first
 * one that has a value. What a launcher gets on its command line is not known here.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gba/tools/info.h"

#ifndef GBA_OMPI_SYSCONFDIR
#define GBA_OMPI_SYSCONFDIR ""
#endif

#define STRING_MAX 256

static const char coll[] = "coll_gba_barrier", scoll[] = "scoll_gba";

/* The value of a parameter as a user sets it, and its source. */
struct setting {
    char value[STRING_MAX];
    char source[STRING_MAX + 160];
};

/* A line "name = value" of a parameter file. Returns whether it sets `name`. */
static bool line_matches(char *line, const char *name, char *value, size_t len)
{
    char *equals, *end;

    line[strcspn(line, "#\n")] = '\0';
    line += strspn(line, " \t");
    equals = strchr(line, '=');
    if (NULL == equals)
        return false;
    end = equals;
    while (end > line && isspace((unsigned char)end[-1]))
        end--;
    if (strlen(name) != (size_t)(end - line) || 0 != strncmp(line, name, (size_t)(end - line)))
        return false;
    equals += 1 + strspn(equals + 1, " \t");
    end = equals + strlen(equals);
    while (end > equals && isspace((unsigned char)end[-1]))
        end--;
    snprintf(value, len, "%.*s", (int)(end - equals), equals);
    return true;
}

/* In a file the last line about a parameter counts. */
static bool file_find(const char *path, const char *name, struct setting *setting)
{
    char line[STRING_MAX + 128];
    bool found = false;
    FILE *file = fopen(path, "re");

    if (NULL == file)
        return false;
    while (NULL != fgets(line, sizeof line, file))
        found = line_matches(line, name, setting->value, sizeof setting->value) || found;
    fclose(file);
    if (found)
        snprintf(setting->source, sizeof setting->source, "file %s", path);
    return found;
}

/* The parameter files of Open MPI: the user's before that of the installation. */
static bool files_find(const char *name, struct setting *setting)
{
    const char *files = getenv("OMPI_MCA_mca_base_param_files"), *home = getenv("HOME");
    char list[1024], *rest = list, *path;

    if (NULL != files)
        snprintf(list, sizeof list, "%s", files);
    else
        snprintf(list, sizeof list, "%.400s/.openmpi/mca-params.conf,%s/openmpi-mca-params.conf",
                 NULL == home ? "" : home, GBA_OMPI_SYSCONFDIR);
    while (NULL != (path = strsep(&rest, ",:")))
        if ('\0' != *path && file_find(path, name, setting))
            return true;
    return false;
}

/* Whether the user has set a parameter of a component. */
static bool setting_find(const char *component, const char *name, struct setting *setting)
{
    char variable[160];
    const char *value;

    snprintf(variable, sizeof variable, "OMPI_MCA_%s_%s", component, name);
    value = getenv(variable);
    if (NULL == value)
        return files_find(variable + strlen("OMPI_MCA_"), setting);
    snprintf(setting->value, sizeof setting->value, "%s", value);
    snprintf(setting->source, sizeof setting->source, "environment %s", variable);
    return true;
}

/* ---------------------------------------------------------------------------------- values --- */

static bool bool_parse(const char *text, int64_t *value)
{
    static const char *const no[] = {"0", "false", "no", "disabled", "off"};
    static const char *const yes[] = {"1", "true", "yes", "enabled", "on"};

    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
        if (0 == strcasecmp(text, yes[i]) || 0 == strcasecmp(text, no[i])) {
            *value = 0 == strcasecmp(text, yes[i]);
            return true;
        }
    return false;
}

static bool number_parse(const gba_param_t *param, const char *text, int64_t *value)
{
    char *end;

    if (GBA_PARAM_BOOL == param->type && bool_parse(text, value))
        return true;
    for (const gba_param_value_t *v = param->values; NULL != v && NULL != v->name; v++)
        if (0 == strcmp(text, v->name)) {
            *value = v->value;
            return true;
        }
    *value = strtoll(text, &end, 0);
    return end != text && '\0' == *end;
}

/* Set a field. Returns false if the text is no value of the parameter's type. */
static bool field_set(gba_params_t *params, const gba_param_t *param, const char *text)
{
    void *field = (char *)params + param->offset;
    int64_t value;

    if (GBA_PARAM_STRING == param->type) {
        char *copy = strdup(text); /* until info_params_free */

        if (NULL != copy)
            *(char **)field = copy;
        return NULL != copy;
    }
    if (!number_parse(param, text, &value) || value < INT32_MIN || value > UINT32_MAX)
        return false;
    if (GBA_PARAM_UINT == param->type)
        *(unsigned int *)field = (unsigned int)value;
    else
        *(int *)field = (int)value;
    return true;
}

gba_status_t info_params_get(gba_params_t *params)
{
    char message[288];
    struct setting setting;
    gba_status_t status = GBA_OK;

    gba_params_default(params);
    for (const gba_param_t *param = gba_params_table(); NULL != param->name; param++)
        if (setting_find(coll, param->name, &setting) && !field_set(params, param, setting.value)) {
            if (GBA_OK == status) /* JSON has room for one error */
                (void)report_error(INFO_EXIT_USAGE,
                                   "%s=%.200s (%s) is not a value of this parameter", param->name,
                                   setting.value, setting.source);
            status = GBA_ERR_PARAM;
        }
    if (GBA_OK != status || GBA_OK == gba_params_check(params, message, sizeof message))
        return status;
    (void)report_error(INFO_EXIT_USAGE, "%s", message);
    return GBA_ERR_PARAM;
}

void info_params_free(gba_params_t *params)
{
    for (const gba_param_t *param = gba_params_table(); NULL != param->name; param++) {
        char **field = (char **)((char *)params + param->offset);

        if (GBA_PARAM_STRING == param->type && param->string_default != *field)
            free(*field);
    }
    gba_params_default(params);
}

bool info_params_is_set(const char *name)
{
    struct setting setting;

    return setting_find(coll, name, &setting);
}

/* ------------------------------------------------------------------------------------ show --- */

static void default_print(const gba_param_t *param, char *text, size_t len)
{
    snprintf(text, len, "%" PRId64, param->value_default);
    if (GBA_PARAM_STRING == param->type)
        snprintf(text, len, "%s", param->string_default);
    for (const gba_param_value_t *v = param->values; NULL != v && NULL != v->name; v++)
        if (v->value == param->value_default) {
            snprintf(text, len, "%s", v->name);
            break;
        }
}

/* `usual`: the default. */
static void param_show(const char *component, const gba_param_t *param, const char *usual,
                       const struct setting *setting)
{
    char name[64];

    if (!report_is_json()) {
        snprintf(name, sizeof name, "%s", param->name);
        report_text(name, "%-14s %s", setting->value, setting->source);
        return;
    }
    report_begin(NULL, '{');
    report_text("name", "%s", param->name);
    report_text("component", "%s", component);
    report_text("value", "%s", setting->value);
    report_text("source", "%s", setting->source);
    report_text("default", "%s", usual);
    report_number("level", (uint64_t)param->level);
    report_text("help", "%s", param->help);
    report_end();
}

/* The parameters of one component. all: also those that the user has not set. */
static void component_show(const char *component, bool all)
{
    struct setting setting;
    char usual[64];

    for (const gba_param_t *param = gba_params_table(); NULL != param->name; param++) {
        const bool set = setting_find(component, param->name, &setting);

        if (!set && (!all || param->hidden))
            continue;
        default_print(param, usual, sizeof usual);
        if (!set) {
            snprintf(setting.value, sizeof setting.value, "%s", usual);
            snprintf(setting.source, sizeof setting.source, "default");
        }
        param_show(component, param, usual, &setting);
    }
}

int info_params(void)
{
    report_begin(NULL, '{');
    report_begin("parameters", '[');
    component_show(coll, true);
    component_show(scoll, false);
    report_end();
    report_end();
    return INFO_EXIT_OK;
}
