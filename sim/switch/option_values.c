/* SPDX-License-Identifier: BSD-3-Clause */
/* Parsers of --latency and --fault. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/switch/command_line.h"

#define NS_MAX 1000000000.0
#define DAY_NS 86400e9

struct unit {
    const char *name;
    double factor;
};

static const struct unit times[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};
/* The unit of the field is one in a million. */
static const struct unit shares[] = {{"%", 1e4}, {"ppm", 1}, {NULL, 0}};
static const struct unit numbers[] = {{"", 1}, {NULL, 0}};

/* Parse a number with one of the units at the beginning of the text. *rest: the text after it. */
static bool parse_quantity(const char *text, const struct unit *unit, double most,
                           const char **rest, double *number)
{
    char *end;

    if (text[0] < '0' || text[0] > '9' || text[1] == 'x' || text[1] == 'X')
        return false; /* strtod also accepts signs, spaces, hexadecimal numbers and names */
    *number = strtod(text, &end);
    while (unit->name != NULL && strncmp(unit->name, end, strlen(unit->name)) != 0)
        unit++;
    if (unit->name == NULL && !(*number == 0.0 && *end == '\0'))
        return false;
    *number *= unit->name == NULL ? 1 : unit->factor;
    *rest = end + (unit->name == NULL ? 0 : strlen(unit->name));
    return *number <= most;
}

/* --- Latency --- */

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
    double number;

    if (!parse_quantity(text, field->units, field->most, &text, &number) || *text != '\0')
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

/* --- Faults --- */

/* A time has a unit, also 0. */
static bool parse_time(const char *text, const char **rest, uint64_t *ns)
{
    double number;

    if (!parse_quantity(text, times, DAY_NS, rest, &number) || (*rest)[-1] != 's')
        return false;
    *ns = (uint64_t)number;
    return true;
}

/* Parse a number without sign at the beginning of the text. *rest: the text after it. */
static bool parse_number(const char *text, const char **rest, uint64_t most, uint64_t *number)
{
    char *end;

    if (text[0] < '0' || text[0] > '9')
        return false;
    *number = strtoull(text, &end, 10);
    *rest = end;
    return *number <= most;
}

/* Parse the text after "KIND=". Returns whether the whole text is valid. */
static bool parse_fault(const char *text, struct gba_switchd_fault *fault)
{
    switch (fault->kind) {
    case GBA_SWITCHD_DROP:
        return parse_number(text, &text, UINT64_MAX - 1, &fault->number) && fault->number != 0 &&
               *text == '\0';
    case GBA_SWITCHD_DIE:
        return parse_time(text, &text, &fault->time) && *text == '\0';
    default:
        break;
    }
    if (!parse_number(text, &text, GBA_PORTS_MAX - 1, &fault->number) || *text++ != '@' ||
        !parse_time(text, &text, &fault->time))
        return false;
    if (fault->kind == GBA_SWITCHD_CUT)
        return *text == '\0';
    return *text++ == '+' && parse_time(text, &text, &fault->duration) && *text == '\0';
}

bool gba_switchd_fault_parse(const char *text, struct gba_switchd_fault *fault)
{
    static const char *const names[] = {[GBA_SWITCHD_DROP] = "drop=",
                                        [GBA_SWITCHD_HOLD] = "hold=",
                                        [GBA_SWITCHD_CUT] = "cut=",
                                        [GBA_SWITCHD_DIE] = "die="};

    for (unsigned kind = 0; kind < sizeof(names) / sizeof(names[0]); kind++) {
        size_t length = strlen(names[kind]);

        if (strncmp(text, names[kind], length) != 0)
            continue;
        *fault = (struct gba_switchd_fault){.kind = (enum gba_switchd_fault_kind)kind};
        return parse_fault(text + length, fault);
    }
    return false;
}
