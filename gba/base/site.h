/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice of a site whether the components of Open MPI are active for all users. */
#ifndef GBA_BASE_SITE_H
#define GBA_BASE_SITE_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The file of the site; Makefile.am has its directory. */
#ifdef GBA_SYSCONFDIR
#define GBA_SITE_FILE GBA_SYSCONFDIR "/gba-barrier.conf"
#else
#define GBA_SITE_FILE ""
#endif

/* Whether a line of the file is "activate = no", with blanks as you like. Without the file the
 * components are active. Thread-safe. */
static inline bool gba_site_disabled(const char *path)
{
    FILE *file = fopen(path, "re");
    char line[160], value[8];
    bool disabled = false;

    if (file == NULL)
        return false;
    while (fgets(line, sizeof line, file) != NULL)
        if (1 == sscanf(line, " activate = %7s", value))
            disabled = 0 == strcmp(value, "no");
    fclose(file);
    return disabled;
}

#endif
