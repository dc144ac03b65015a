/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice of a site whether the components of Open MPI are active for all users. */
#ifndef GBA_BASE_SITE_H
#define GBA_BASE_SITE_H

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "gba/params.h"

/* The file of the site; Makefile.am has its directory. */
#ifdef GBA_SYSCONFDIR
#define GBA_SITE_FILE GBA_SYSCONFDIR "/gba-barrier.conf"
#else
#define GBA_SITE_FILE ""
#endif

/* The bytes of a reason. */
#define GBA_SITE_WHY 400u

enum gba_site { GBA_SITE_ACTIVE, GBA_SITE_INACTIVE, GBA_SITE_INVALID };

/* Read a line of a file, without what does not fit. Returns false at the end. */
static inline bool gba_line_read(FILE *file, char *line, size_t bytes)
{
    int c = 0;

    if (fgets(line, (int)bytes, file) == NULL)
        return false;
    while (strchr(line, '\n') == NULL && c != '\n' && c != EOF)
        c = getc(file);
    return true;
}

/* Split a line "name = value" of a file of settings, in which # starts a comment. Returns the
 * value, or NULL if the line has none. *name: set; "": the line is empty. Pure. */
static inline char *gba_line_split(char *line, const char **name)
{
    char *end = line + strcspn(line, "#\n"), *equals;

    *end = '\0';
    while (isspace((unsigned char)*line))
        line++;
    while (end > line && isspace((unsigned char)end[-1]))
        *--end = '\0';
    *name = line;
    equals = strchr(line, '=');
    if (equals == NULL)
        return NULL;
    for (end = equals; end > line && isspace((unsigned char)end[-1]);)
        end--;
    *end = '\0';
    for (equals++; isspace((unsigned char)*equals);)
        equals++;
    return equals;
}

/* One line of the file. what: the file and the line. */
static inline enum gba_site gba_site_line(char *line, const char *what, enum gba_site before,
                                          char why[GBA_SITE_WHY])
{
    static const gba_param_value_t words[] = {{1, "yes"}, {0, "no"}, {0, NULL}};
    static const gba_param_t activate = {
        .name = "activate", .type = GBA_PARAM_BOOL, .max = 1, .values = words};
    const char *name, *value = gba_line_split(line, &name);
    int active = 1, used;

    if ('\0' == *name && value == NULL)
        return before;
    used = snprintf(why, GBA_SITE_WHY, "%.220s: ", what);
    if (value == NULL || 0 != strcmp(name, activate.name)) {
        snprintf(why + used, GBA_SITE_WHY - (size_t)used,
                 "\"%.60s\" is no setting; \"activate = yes\" and \"activate = no\" are", name);
        return GBA_SITE_INVALID;
    }
    if (!gba_param_set(&activate, &active, value)) {
        gba_param_refuse(&activate, activate.name, value, why + used, GBA_SITE_WHY - (size_t)used);
        return GBA_SITE_INVALID;
    }
    snprintf(why + used, GBA_SITE_WHY - (size_t)used, "activate is \"%.20s\"", value);
    return active ? GBA_SITE_ACTIVE : GBA_SITE_INACTIVE;
}

/*
 * Read the file. Its last line counts, and without the file the components are active. why: set
 * unless they are: the file, and the line that deactivates them or that is invalid, or why the file
 * cannot be read. Thread-safe.
 */
static inline enum gba_site gba_site_read(const char *path, char why[GBA_SITE_WHY])
{
    enum gba_site site = GBA_SITE_ACTIVE;
    char line[512], what[256];
    unsigned number = 0;
    FILE *file;

    errno = 0;
    file = fopen(path, "re");
    while (file != NULL && GBA_SITE_INVALID != site && gba_line_read(file, line, sizeof line)) {
        snprintf(what, sizeof what, "%.200s, line %u", path, ++number);
        site = gba_site_line(line, what, site, why);
    }
    if (GBA_SITE_INVALID != site &&
        (file == NULL ? ENOENT != errno && ENOTDIR != errno : ferror(file))) {
        snprintf(why, GBA_SITE_WHY, "cannot read %.200s: %s", path, strerror(errno));
        site = GBA_SITE_INVALID;
    }
    if (file != NULL)
        fclose(file);
    return site;
}

#endif
