/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/base/cluster.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 1, TIME = 1000 }; /* the unit of a number in the file */

struct number {
    const char *name;
    size_t offset;
    uint64_t unit, least, most, value;
};

#define NUMBER(name, unit, least, most, value) \
    {#name, offsetof(struct gba_cluster, name), unit, least, most, value},
static const struct number numbers[] = {GBA_CLUSTER_NUMBERS(NUMBER)};

#define NUMBERS (sizeof numbers / sizeof numbers[0])

static const char *const shapes[] = {"fixed", "uniform", "exponential", "normal", "pareto"};

/* The keys without a number have bits of their own in `seen`. */
enum { SEEN_SOURCE = NUMBERS, SEEN_TRACE, SEEN_NOISE, SEEN_SKEW, SEEN_NONE };

_Static_assert((int)SEEN_NONE < 64, "a bit for each key");

static uint64_t *field_of(struct gba_cluster *cluster, const struct number *number)
{
    return (uint64_t *)(void *)((char *)cluster + number->offset);
}

void gba_cluster_default(struct gba_cluster *cluster)
{
    memset(cluster, 0, sizeof *cluster);
    for (size_t i = 0; i < NUMBERS; i++)
        *field_of(cluster, &numbers[i]) = numbers[i].value;
    cluster->noise_shape = GBA_TIMES_EXPONENTIAL;
    snprintf(cluster->source, sizeof cluster->source, "built-in defaults");
    snprintf(cluster->noise_trace, sizeof cluster->noise_trace, "none");
}

/* Read a decimal number, in any locale. Returns whether the text is one that fits. */
static bool number_read(const char *text, uint64_t unit, uint64_t *value)
{
    uint64_t number = 0;
    const char *digit = text;

    for (; *digit >= '0' && *digit <= '9'; digit++) {
        if (number > UINT64_MAX / 10000000)
            return false;
        number = number * 10 + (uint64_t)(*digit - '0');
    }
    if (digit == text)
        return false;
    number *= unit;
    if ('.' == *digit && unit > 1)
        for (digit++; *digit >= '0' && *digit <= '9' && unit > 1; digit++) {
            unit /= 10;
            number += (uint64_t)(*digit - '0') * unit;
        }
    *value = number;
    return '\0' == *digit;
}

static gba_status_t number_set(struct gba_cluster *cluster, const struct number *number,
                               const char *value, char *message, size_t len)
{
    uint64_t read;

    if (number_read(value, number->unit, &read) && read >= number->least && read <= number->most) {
        *field_of(cluster, number) = read;
        return GBA_OK;
    }
    snprintf(message, len, "%s = %s is invalid; allowed: %s%g to %g", number->name, value,
             TIME == number->unit ? "nanoseconds, three decimals at most, " : "",
             (double)number->least / (double)number->unit,
             (double)number->most / (double)number->unit);
    return GBA_ERR_PARAM;
}

static gba_status_t shape_set(uint64_t *shape, const char *key, const char *value, char *message,
                              size_t len)
{
    for (uint64_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        if (strcmp(shapes[i], value) == 0) {
            *shape = i;
            return GBA_OK;
        }
    snprintf(message, len,
             "%s = %s is invalid; allowed: fixed, uniform, exponential, normal, pareto", key,
             value);
    return GBA_ERR_PARAM;
}

static gba_status_t text_set(char *text, const char *key, const char *value, char *message,
                             size_t len)
{
    if ('\0' != *value && strlen(value) < GBA_CLUSTER_TEXT) {
        memcpy(text, value, strlen(value) + 1);
        return GBA_OK;
    }
    snprintf(message, len, "%s needs 1 to %u characters", key, GBA_CLUSTER_TEXT - 1);
    return GBA_ERR_PARAM;
}

/* The number of a key; SEEN_NONE: there is no such key. */
static unsigned key_of(const char *key)
{
    static const char *const others[] = {"source", "noise_trace", "noise_shape", "skew_shape"};

    for (unsigned i = 0; i < NUMBERS; i++)
        if (strcmp(numbers[i].name, key) == 0)
            return i;
    for (unsigned i = 0; i < SEEN_NONE - SEEN_SOURCE; i++)
        if (strcmp(others[i], key) == 0)
            return SEEN_SOURCE + i;
    return SEEN_NONE;
}

gba_status_t gba_cluster_set(struct gba_cluster *cluster, const char *key, const char *value,
                             char *message, size_t len)
{
    const unsigned at = key_of(key);

    switch (at) {
    case SEEN_NONE:
        snprintf(message, len, "there is no key %s; see gba_predict(1)", key);
        return GBA_ERR_PARAM;
    case SEEN_SOURCE:
        return text_set(cluster->source, key, value, message, len);
    case SEEN_TRACE:
        return text_set(cluster->noise_trace, key, value, message, len);
    case SEEN_NOISE:
        return shape_set(&cluster->noise_shape, key, value, message, len);
    case SEEN_SKEW:
        return shape_set(&cluster->skew_shape, key, value, message, len);
    default:
        return number_set(cluster, &numbers[at], value, message, len);
    }
}

/* Cut the blanks at both ends. */
static char *trim(char *text)
{
    static const char blanks[] = " \t\r\n";
    char *end;

    text += strspn(text, blanks);
    end = text + strlen(text);
    while (end > text && strchr(blanks, end[-1]) != NULL)
        *--end = '\0';
    return text;
}

/* One line of the file. seen: a bit for each key that the file has had. */
static gba_status_t line_read(char *line, struct gba_cluster *cluster, uint64_t *seen,
                              char *message, size_t len)
{
    char *key, *value;
    unsigned at;

    line[strcspn(line, "#")] = '\0';
    key = trim(line);
    if ('\0' == *key)
        return GBA_OK;
    value = strchr(key, '=');
    if (value == NULL) {
        snprintf(message, len, "\"%.60s\" is not of the form key = value", key);
        return GBA_ERR_PARAM;
    }
    *value++ = '\0';
    key = trim(key);
    at = key_of(key);
    if (at < SEEN_NONE && 0 != (*seen >> at & 1)) {
        snprintf(message, len, "%s is given a second time", key);
        return GBA_ERR_PARAM;
    }
    if (at < SEEN_NONE)
        *seen |= UINT64_C(1) << at;
    return gba_cluster_set(cluster, key, trim(value), message, len);
}

gba_status_t gba_cluster_read(const char *path, struct gba_cluster *cluster, char *message,
                              size_t len)
{
    char line[512], cause[300] = "";
    unsigned number = 0;
    uint64_t seen = 0;
    gba_status_t status = GBA_OK;
    FILE *file = fopen(path, "re");

    if (file == NULL) {
        snprintf(message, len, "cannot open %s: %s", path, strerror(errno));
        return GBA_ERR_IO;
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
