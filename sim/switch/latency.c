/* SPDX-License-Identifier: BSD-3-Clause */
/* Parser of --latency. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/switch/command_line.h"

#define NS_MAX 1000000000.0

struct unit {
    const char *name;
    double factor;
};

static const struct unit times[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};
/* The unit of the field is one in a million. */
static const struct unit shares[] = {{"%", 1e4}, {"ppm", 1}, {NULL, 0}};
static const struct unit numbers[] = {{"", 1}, {NULL, 0}};

struct field {
    const char *name;
    size_t offset;
    const struct unit *units;
    double most;
    const char *allowed;
};

#define TIME        "0, or a time with a unit: ns, us, ms or s; at most 1s"
#define FIELD(name) #name, offsetof(struct gba_switch_latency, name)

static const struct field fields[] = {
    {FIELD(up), times, NS_MAX, TIME},
    {FIELD(match), times, NS_MAX, TIME},
    {FIELD(release), times, NS_MAX, TIME},
    {FIELD(down), times, NS_MAX, TIME},
    {FIELD(jitter), times, NS_MAX, TIME},
    {FIELD(loss), shares, 1e6, "0, or a share with a unit: % or ppm; at most 100%"},
    {FIELD(seed), numbers, UINT32_MAX, "a number from 0 to 4294967295"},
};

static bool parse_value(const struct field *field, const char *text, uint32_t *value)
{
    const struct unit *unit = field->units;
    double number;
    char *end;

    if (text[0] < '0' || text[0] > '9' || text[1] == 'x' || text[1] == 'X')
        return false; /* strtod also accepts signs, spaces, hexadecimal numbers and names */
    number = strtod(text, &end);
    while (unit->name != NULL && strcmp(unit->name, end) != 0)
        unit++;
    if (unit->name == NULL && !(number == 0.0 && *end == '\0'))
        return false;
    number *= unit->name == NULL ? 1 : unit->factor;
    if (!(number <= field->most))
        return false;
    *value = (uint32_t)(number + 0.5);
    return true;
}

/* Parse one NAME=VALUE. Returns NULL, or the message. */
static const char *parse_field(char *text, struct gba_switch_latency *latency, char *message,
                               size_t size)
{
    char *value = strchr(text, '=');

    if (value != NULL)
        *value++ = '\0';
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        uint32_t *place = (uint32_t *)(void *)((char *)latency + fields[i].offset);

        if (strcmp(text, fields[i].name) != 0)
            continue;
        if (value != NULL && parse_value(&fields[i], value, place))
            return NULL;
        snprintf(message, size, "%s=%.40s is not valid; allowed: %s", text,
                 value == NULL ? "" : value, fields[i].allowed);
        return message;
    }
    snprintf(message, size,
             "unknown name %.40s; allowed: up, match, release, down, jitter, loss, seed", text);
    return message;
}

const char *gba_switchd_latency_parse(const char *text, struct gba_switch_latency *latency,
                                      char *message, unsigned long size)
{
    char copy[256], *rest = copy, *part;

    if ((size_t)snprintf(copy, sizeof(copy), "%s", text) >= sizeof(copy))
        return "the text is too long";
    while ((part = strsep(&rest, ",")) != NULL) {
        const char *wrong = parse_field(part, latency, message, size);

        if (wrong != NULL)
            return wrong;
    }
    return NULL;
}
