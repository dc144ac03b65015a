/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* secure_getenv */
#include "gba/base/cluster.h"

#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gba/base/log.h"
#include "gba/base/number.h"
#include "gba/base/processors.h"
#include "gba/base/site.h"
#include "gba/base/system_status.h"

#ifndef GBA_PKGDATADIR /* for a reader of this file alone */
#define GBA_PKGDATADIR ""
#endif

/* Of the file of an installed description. */
#define SUFFIX ".cluster"

enum { COUNT = 1, TIME = GBA_NS }; /* the unit of a number in the file */

struct number {
    const char *name;
    size_t offset;
    uint64_t unit, least, most, value;
};

#define NUMBER(name, unit, least, most, value) \
    {#name, offsetof(struct gba_cluster, name), unit, least, most, value},
static const struct number numbers[] = {GBA_CLUSTER_NUMBERS(NUMBER)};

#define NUMBERS (sizeof numbers / sizeof numbers[0])

/* The last key is a text. */
#define KEYS (NUMBERS + 1)

_Static_assert(KEYS < 64, "a bit for each key, and one for no key");

static uint64_t *field_of(struct gba_cluster *cluster, const struct number *number)
{
    return (uint64_t *)(void *)((char *)cluster + number->offset);
}

void gba_cluster_default(struct gba_cluster *cluster)
{
    memset(cluster, 0, sizeof *cluster);
    for (size_t i = 0; i < NUMBERS; i++)
        *field_of(cluster, &numbers[i]) = numbers[i].value;
    snprintf(cluster->source, sizeof cluster->source, "built-in defaults");
}

static gba_status_t number_set(struct gba_cluster *cluster, const struct number *number,
                               const char *value, char *message, size_t len)
{
    char allowed[128];
    uint64_t read;

    if (COUNT == number->unit ? gba_count_parse(value, 0, UINT64_MAX, &read)
                              : gba_time_parse(value, number->unit, &read))
        if (read >= number->least && read <= number->most) {
            *field_of(cluster, number) = read;
            return GBA_OK;
        }
    snprintf(allowed, sizeof allowed, "%g to %g%s", (double)number->least / (double)number->unit,
             (double)number->most / (double)number->unit,
             COUNT == number->unit ? "" : " ns, or with a unit: " GBA_TIMES_NAMES);
    gba_refuse(message, len, number->name, value, allowed);
    return GBA_ERR_PARAM;
}

static const char *key_name(size_t at)
{
    return at < NUMBERS ? numbers[at].name : "source";
}

/* The number of a key; KEYS: there is no such key. */
static size_t key_of(const char *key)
{
    size_t at = 0;

    while (at < KEYS && strcmp(key_name(at), key) != 0)
        at++;
    return at;
}

static gba_status_t key_refuse(const char *key, char *message, size_t len)
{
    size_t used = (size_t)snprintf(message, len, "there is no key %.64s; allowed: ", key);

    for (size_t at = 0; at < KEYS && used < len; at++)
        used +=
            (size_t)snprintf(message + used, len - used, "%s%s", 0 == at ? "" : ", ", key_name(at));
    return GBA_ERR_PARAM;
}

gba_status_t gba_cluster_set(struct gba_cluster *cluster, const char *key, const char *value,
                             char *message, size_t len)
{
    const size_t at = key_of(key);

    if (at < NUMBERS)
        return number_set(cluster, &numbers[at], value, message, len);
    if (KEYS == at)
        return key_refuse(key, message, len);
    if ('\0' != *value && strlen(value) < GBA_CLUSTER_TEXT) {
        memcpy(cluster->source, value, strlen(value) + 1);
        return GBA_OK;
    }
    gba_refuse(message, len, key, value, "1 to 199 characters");
    return GBA_ERR_PARAM;
}

/* One line of the file. seen: a bit for each key that the file has had. */
static gba_status_t line_read(char *line, struct gba_cluster *cluster, uint64_t *seen,
                              char *message, size_t len)
{
    const char *key, *value = gba_line_split(line, &key);
    size_t at;

    if (value == NULL) {
        if ('\0' == *key)
            return GBA_OK;
        snprintf(message, len, "\"%.60s\" is not of the form key = value", key);
        return GBA_ERR_PARAM;
    }
    at = key_of(key);
    if (at < KEYS && 0 != (*seen >> at & 1)) {
        snprintf(message, len, "%s is given a second time", key);
        return GBA_ERR_PARAM;
    }
    *seen |= UINT64_C(1) << at;
    return gba_cluster_set(cluster, key, value, message, len);
}

/* The names of the installed descriptions, sorted. */
static void names_list(char *text, size_t len)
{
    glob_t found;
    size_t used = 0;

    text[0] = '\0';
    if (0 != glob(GBA_PKGDATADIR "/clusters/*" SUFFIX, 0, NULL, &found))
        return;
    for (size_t i = 0; i < found.gl_pathc && used < len; i++) {
        const char *name = strrchr(found.gl_pathv[i], '/') + 1;

        used += (size_t)snprintf(text + used, len - used, ", %.*s",
                                 (int)(strlen(name) - strlen(SUFFIX)), name);
    }
    globfree(&found);
}

gba_status_t gba_cluster_named(const char *name, struct gba_cluster *cluster, char *message,
                               size_t len)
{
    char path[512], allowed[400] = "a file";

    snprintf(path, sizeof path, "%s", name);
    if (strchr(name, '/') == NULL && 0 != access(name, R_OK))
        snprintf(path, sizeof path, GBA_PKGDATADIR "/clusters/%s" SUFFIX, name);
    if (strchr(name, '/') != NULL || 0 == access(path, R_OK))
        return gba_cluster_read(path, cluster, message, len);
    names_list(allowed + strlen(allowed), sizeof allowed - strlen(allowed));
    gba_refuse(message, len, "cluster", name, allowed);
    return GBA_ERR_PARAM;
}

gba_status_t gba_cluster_read(const char *path, struct gba_cluster *cluster, char *message,
                              size_t len)
{
    char line[512], cause[800] = "";
    unsigned number = 0;
    uint64_t seen = 0;
    gba_status_t status = GBA_OK;
    FILE *file = fopen(path, "re");

    if (file == NULL) {
        const int error = errno;

        snprintf(message, len, "cannot open %s: %s", path, strerror(error));
        return gba_system_status(error);
    }
    while (GBA_OK == status && fgets(line, sizeof line, file) != NULL) {
        number++;
        if (strlen(line) + 1 == sizeof line) {
            snprintf(cause, sizeof cause, "the line is longer than %zu characters",
                     sizeof line - 2);
            status = GBA_ERR_PARAM;
        } else
            status = line_read(line, cluster, &seen, cause, sizeof cause);
    }
    if (GBA_OK == status && ferror(file)) {
        snprintf(cause, sizeof cause, "read error");
        status = GBA_ERR_IO;
    }
    fclose(file);
    if (GBA_OK != status)
        snprintf(message, len, "%s:%u: %s", path, number, cause);
    return status;
}

/* Opening a file that is there and cannot be reached shows the user the reason. */
static bool is_missing(const char *path)
{
    return 0 != access(path, F_OK) && (ENOENT == errno || ENOTDIR == errno);
}

/* The file of the parameter `cluster`; "": none. */
static void cluster_file(const char *name, char *path, size_t len)
{
    const char *home = secure_getenv("HOME");

    snprintf(path, len, "%s", 0 == strcmp(name, "none") ? "" : name);
    if (0 != strcmp(name, "auto"))
        return;
    snprintf(path, len, "%s/.config/gba/cluster.conf", home == NULL ? "" : home);
    if (home == NULL || is_missing(path))
        snprintf(path, len, "/etc/gba/cluster.conf");
    if (is_missing(path))
        path[0] = '\0';
}

bool gba_cluster_described(const char *name, struct gba_cluster *cluster, char *message, size_t len)
{
    char path[512];
    struct gba_cluster read = *cluster;

    message[0] = '\0';
    cluster_file(name, path, sizeof path);
    if ('\0' == path[0] || GBA_OK != gba_cluster_named(path, &read, message, len))
        return false;
    *cluster = read;
    return true;
}

void gba_cluster_find(const char *name, struct gba_cluster *cluster)
{
    char message[1400];
    gba_processors_t mine;

    gba_cluster_default(cluster);
    gba_processors_get(&mine);
    cluster->cores = gba_processors_count(&mine);
    if (!gba_cluster_described(name, cluster, message, sizeof message) && '\0' != message[0])
        gba_log(GBA_LOG_TEAM, "%s; built-in times order the barriers. See parameter cluster",
                message);
}
