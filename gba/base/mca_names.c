/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* environ */
#include "gba/base/mca_names.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gba/base/component_params.h"
#include "gba/base/near.h"
#include "gba/base/param_default.h"
#include "gba/base/site.h"

#define NAME 128

/* Whether a name is a parameter of a table, with that prefix. near: set to one that it is near. */
static bool in_table(const gba_param_t *table, const char *prefix, const char *name,
                     char near[NAME])
{
    char known[NAME];

    for (; table->name != NULL; table++) {
        snprintf(known, sizeof known, "%s%s", prefix, table->name);
        if (0 == strcmp(known, name))
            return true;
        if (gba_name_near(name, known))
            memcpy(near, known, sizeof known);
    }
    return false;
}

/* Whether that is a parameter, or not of these components. */
static bool name_valid(const char *name, char near[NAME])
{
    static const struct {
        const char *prefix;
        const gba_param_t *own;
    } components[] = {{"coll_gba_barrier_", gba_coll_params}, {"scoll_gba_", gba_scoll_params}};

    near[0] = '\0';
    for (size_t i = 0; i < sizeof components / sizeof components[0]; i++)
        if (in_table(gba_params_table(), components[i].prefix, name, near) ||
            in_table(gba_both_params, components[i].prefix, name, near) ||
            in_table(components[i].own, components[i].prefix, name, near))
            return true;
    return '\0' == near[0] && strstr(name, "gba") == NULL;
}

static void name_check(const char *prefix, const char *name, const char *where,
                       void (*visit)(void *ctx, const char *line), void *ctx)
{
    char near[NAME], line[1024];

    if (name_valid(name, near))
        return;
    snprintf(line, sizeof line, "%s%.100s in %.500s is not a parameter, and has no effect%s%s%s",
             prefix, name, where, '\0' == near[0] ? "" : "; did you mean ", near,
             '\0' == near[0] ? "" : "?");
    visit(ctx, line);
}

void gba_mca_names_check(const char *files, void (*visit)(void *ctx, const char *line), void *ctx)
{
    static const char prefix[] = "OMPI_MCA_";
    char list[1024], *rest = list, *path, text[512];
    const char *name;

    for (char **variable = environ; *variable != NULL; variable++)
        if (0 == strncmp(*variable, prefix, sizeof prefix - 1)) {
            name = *variable + sizeof prefix - 1;
            snprintf(text, sizeof text, "%.*s", (int)strcspn(name, "="), name);
            name_check(prefix, text, "the environment", visit, ctx);
        }
    snprintf(list, sizeof list, "%s", files);
    while ((path = strsep(&rest, ",:")) != NULL) {
        FILE *file = '\0' == *path ? NULL : fopen(path, "re");

        while (file != NULL && gba_line_read(file, text, sizeof text))
            if (gba_line_split(text, &name) != NULL)
                name_check("", name, path, visit, ctx);
        if (file != NULL)
            fclose(file);
    }
}

void gba_mca_variables_check(void (*visit)(void *ctx, const char *line), void *ctx)
{
    char variable[GBA_VARIABLE_NAME], same[NAME], line[512];

    for (const gba_param_t *param = gba_params_table(); param->name != NULL; param++) {
        gba_param_variable(param->name, variable);
        snprintf(same, sizeof same, "OMPI_MCA_coll_gba_barrier_%s", param->name);
        /* The barriers of MPI read the variable of the key file, too. A user who sets both knows.
         */
        if (getenv(variable) == NULL || getenv(same) != NULL ||
            0 == strcmp(param->name, "switch_key_file"))
            continue;
        snprintf(line, sizeof line,
                 "%s in the environment is for programs without MPI, and has no effect on barriers "
                 "of MPI; their parameter is coll_gba_barrier_%s",
                 variable, param->name);
        visit(ctx, line);
    }
}
