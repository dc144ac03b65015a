/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parameters of the plugins, with their sources. libgba knows names, ranges and defaults. The
 * values come from where Open MPI reads them: the environment, then the parameter files, the first
 * one that has a value. What a launcher gets on its command line is not known here.
 */
#define _GNU_SOURCE /* environ */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gba/base/component_params.h"
#include "gba/base/site.h"
#include "gba/tools/info.h"

#ifndef GBA_OMPI_SYSCONFDIR
#define GBA_OMPI_SYSCONFDIR ""
#define GBA_OMPI_PKGLIBDIR  ""
#endif

#define STRING_MAX 256
#define FILES_MAX  1024

static const char coll[] = "coll_gba_barrier", scoll[] = "scoll_gba";

/* The tables of a component: that of libgba, that of both components, and its own. */
#define TABLES 3

static const gba_param_t *table_of(const char *component, unsigned number)
{
    if (0 == number)
        return gba_params_table();
    return 1 == number ? gba_both_params : component == coll ? gba_coll_params : gba_scoll_params;
}

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
    if (equals == NULL)
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

    if (file == NULL)
        return false;
    while (fgets(line, sizeof line, file) != NULL)
        found = line_matches(line, name, setting->value, sizeof setting->value) || found;
    fclose(file);
    if (found)
        snprintf(setting->source, sizeof setting->source, "file %s", path);
    return found;
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

static bool files_find(const char *name, struct setting *setting)
{
    char list[FILES_MAX], *rest = list, *path;

    files_list(list);
    while ((path = strsep(&rest, ",:")) != NULL)
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
    if (value == NULL) {
        if (files_find(variable + strlen("OMPI_MCA_"), setting))
            return true;
        if (0 != strcmp(name, "disable") || !gba_site_disabled(GBA_SITE_FILE))
            return false;
        snprintf(setting->value, sizeof setting->value, "1");
        snprintf(setting->source, sizeof setting->source, "file %s", GBA_SITE_FILE);
        return true;
    }
    snprintf(setting->value, sizeof setting->value, "%s", value);
    snprintf(setting->source, sizeof setting->source, "environment %s", variable);
    return true;
}

/* The most parameters in the table of libgba, which has fewer. */
#define PARAMS_MAX 32

gba_status_t info_params_get(gba_params_t *params)
{
    static struct setting settings[PARAMS_MAX]; /* the strings point to them */
    const gba_param_t *table = gba_params_table();
    char message[288] = "";

    gba_params_default(params);
    for (unsigned i = 0; i < PARAMS_MAX && table[i].name != NULL; i++)
        if (setting_find(coll, table[i].name, &settings[i]) &&
            !gba_param_set(&table[i], params, settings[i].value) && '\0' == message[0])
            gba_param_refuse(&table[i], table[i].name, settings[i].value, message, sizeof message);
    if ('\0' == message[0] && GBA_OK == gba_params_check(params, message, sizeof message))
        return GBA_OK;
    (void)report_error(INFO_EXIT_USAGE, "%s", message);
    return GBA_ERR_PARAM;
}

bool info_params_is_set(const char *name)
{
    struct setting setting;

    return setting_find(coll, name, &setting);
}

/* ---------------------------------------------------------------------------------- checks --- */

static bool is_param(const char *component, const char *name)
{
    for (unsigned i = 0; i < TABLES; i++)
        for (const gba_param_t *param = table_of(component, i); param->name != NULL; param++)
            if (0 == strcmp(param->name, name))
                return true;
    return false;
}

/* What is found wrong: lines on stderr; in JSON the values of the list "problems". */
static unsigned problem_count;

__attribute__((format(printf, 1, 2))) static void problem(const char *format, ...)
{
    char text[640];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    problem_count++;
    report_printable(text);
    if (report_is_json())
        report_item(text);
    else
        fprintf(stderr, "gba_info: %s\n", text);
}

static void value_check(const char *component, const gba_param_t *param, bool own,
                        const struct setting *setting)
{
    struct gba_component_params owned;
    char message[288] = "";
    gba_params_t params;

    gba_params_default(&params);
    if (!gba_param_set(param, own ? (void *)&owned : &params, setting->value))
        gba_param_refuse(param, param->name, setting->value, message, sizeof message);
    else
        (void)gba_params_check(&params, message, sizeof message);
    if ('\0' != message[0])
        problem("%s (%s, of %s)", message, setting->source, component);
}

/* A name that a user has set. It is one of a component if it begins with that component's. */
static void name_check(const char *name, const char *source)
{
    static const char *const components[] = {coll, scoll};

    for (unsigned i = 0; i < 2; i++) {
        const size_t len = strlen(components[i]);

        if (0 == strncmp(name, components[i], len) && '_' == name[len] &&
            !is_param(components[i], name + len + 1))
            problem("%s (%s) is not a parameter, and has no effect", name, source);
    }
}

static void file_names_check(const char *path)
{
    char line[STRING_MAX + 128];
    FILE *file = fopen(path, "re");

    if (file == NULL)
        return;
    while (fgets(line, sizeof line, file) != NULL) {
        char source[STRING_MAX + 160], *name = line + strspn(line, " \t");

        name[strcspn(name, "#\n")] = '\0';
        if (strchr(name, '=') == NULL)
            continue;
        name[strcspn(name, " \t=")] = '\0';
        snprintf(source, sizeof source, "file %s", path);
        name_check(name, source);
    }
    fclose(file);
}

static void all_check(void)
{
    static const char *const components[] = {coll, scoll};
    const char prefix[] = "OMPI_MCA_";
    char list[FILES_MAX], *rest = list, *path;
    struct setting setting;

    for (char **variable = environ; *variable != NULL; variable++) {
        char name[160];

        if (0 != strncmp(*variable, prefix, strlen(prefix)))
            continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*variable, "="), *variable);
        name_check(name + strlen(prefix), "environment");
    }
    files_list(list);
    while ((path = strsep(&rest, ",:")) != NULL)
        if ('\0' != *path)
            file_names_check(path);
    for (unsigned i = 0; i < 2; i++)
        for (unsigned t = 0; t < TABLES; t++)
            for (const gba_param_t *p = table_of(components[i], t); p->name != NULL; p++)
                if (setting_find(components[i], p->name, &setting))
                    value_check(components[i], p, 0 != t, &setting);
}

/* ------------------------------------------------------------------------------- component --- */

/* The version in the file of a component, which has it after a mark; "?" if it has none. */
static void version_read(const char *path, char *version, size_t len)
{
    static const char mark[] = GBA_COMPONENT_MARK;
    FILE *file = fopen(path, "re");
    size_t matched = 0, used = 0;
    int c;

    snprintf(version, len, "?");
    if (file == NULL)
        return;
    while (matched < strlen(mark) && EOF != (c = getc(file)))
        matched = c == mark[matched] ? matched + 1 : c == mark[0];
    if (matched == strlen(mark))
        while (used + 1 < len && EOF != (c = getc(file)) && '\0' != c)
            version[used++] = (char)c;
    version[0 == used ? 1 : used] = '\0';
    fclose(file);
}

/*
 * Which file of the component Open MPI loads: it reads the directories of mca_base_component_path
 * in order, and takes the first file of a name. It stops at a directory that does not exist.
 */
static void component_files_show(void)
{
    const char *home = getenv("HOME");
    struct setting setting;
    char *rest = setting.value, *directory;
    unsigned found = 0;

    if (!setting_find("mca_base", "component_path", &setting))
        snprintf(setting.value, sizeof setting.value, "SYS_DEFAULT:USER_DEFAULT");
    while ((directory = strsep(&rest, ":")) != NULL) {
        char name[STRING_MAX + 64], path[STRING_MAX + 128], version[32];

        if (0 == strcmp(directory, "SYS_DEFAULT"))
            snprintf(name, sizeof name, "%s", GBA_OMPI_PKGLIBDIR);
        else if (0 == strcmp(directory, "USER_DEFAULT"))
            snprintf(name, sizeof name, "%.200s/.openmpi/components", home == NULL ? "" : home);
        else
            snprintf(name, sizeof name, "%s", directory);
        if (0 != access(name, F_OK))
            break;
        snprintf(path, sizeof path, "%s/mca_coll_gba_barrier.so", name);
        if (0 != access(path, F_OK))
            continue;
        version_read(path, version, sizeof version);
        report_text(0 == found++ ? "component" : "not loaded", "%s (%s)", path, version);
    }
    if (0 == found)
        report_text("component", "none: Open MPI finds no mca_coll_gba_barrier.so");
}

/* ------------------------------------------------------------------------------------ show --- */

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

static void table_show(const char *component, const gba_param_t *table, bool all)
{
    struct setting setting;
    char usual[64];

    for (const gba_param_t *param = table; param->name != NULL; param++) {
        const bool set = setting_find(component, param->name, &setting);

        if (!set && (!all || param->hidden))
            continue;
        if (GBA_PARAM_STRING == param->type)
            snprintf(usual, sizeof usual, "%s", param->string_default);
        else
            gba_param_print(param, param->value_default, usual, sizeof usual);
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
    component_files_show();
    report_begin("parameters", '[');
    for (unsigned i = 0; i < TABLES; i++)
        table_show(coll, table_of(coll, i), true);
    /* Those of OpenSHMEM that the user has set. */
    for (unsigned i = 0; i < TABLES; i++)
        table_show(scoll, table_of(scoll, i), false);
    report_end();
    report_begin("problems", '[');
    all_check();
    report_end();
    report_end();
    return 0 == problem_count ? INFO_EXIT_OK : INFO_EXIT_USAGE;
}
