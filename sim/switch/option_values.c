/* SPDX-License-Identifier: BSD-3-Clause */
/* Parsers of --latency and --fault. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "gba/base/number.h"
#include "gba/params.h"
#include "sim/switch/command_line.h"

/* --- Latency --- */

#define FIELD(field, most)                                                                        \
    .name = #field, .type = GBA_PARAM_UINT, .offset = offsetof(struct gba_switch_latency, field), \
    .max = (most)
#define TIME(field) FIELD(field, 1000000000), .unit = 1

static const gba_param_t fields[] = {{TIME(up)},    {TIME(match)},  {TIME(release)},
                                     {TIME(down)},  {TIME(jitter)}, {FIELD(seed, UINT32_MAX)},
                                     {.name = NULL}};

/* The unit of the field is one in a million. */
static bool parse_loss(const char *text, uint32_t *loss)
{
    static const struct gba_unit shares[] = {{"%", 10000}, {"ppm", 1}, {NULL, 0}};
    uint64_t share = 0;

    if (strcmp(text, "0") != 0 &&
        (!gba_number_parse(&text, shares, &share) || *text != '\0' || share > 1000000))
        return false;
    *loss = (uint32_t)share;
    return true;
}

/* Parse one NAME=VALUE. */
static bool parse_field(char *text, struct gba_switch_latency *latency, char *message, size_t size)
{
    const gba_param_t *field = fields;
    char none[] = "", *value = strchr(text, '=');

    if (value != NULL)
        *value++ = '\0';
    else
        value = none;
    if (strcmp(text, "loss") == 0) {
        gba_refuse(message, size, text, value, "0, or a share with a unit: % or ppm; at most 100%");
        return parse_loss(value, &latency->loss);
    }
    while (field->name != NULL && strcmp(text, field->name) != 0)
        field++;
    if (field->name != NULL) {
        gba_param_refuse(field, text, value, message, size);
        return gba_param_set(field, latency, value);
    }
    snprintf(message, size,
             "unknown name %.40s; allowed: up, match, release, down, jitter, loss, seed", text);
    return false;
}

bool gba_switchd_latency_parse(const char *text, struct gba_switch_latency *latency, char *message,
                               size_t size)
{
    char copy[256], *rest = copy, *part;
    bool good = true;

    snprintf(message, size, "the text is too long");
    if ((size_t)snprintf(copy, sizeof(copy), "%s", text) >= sizeof(copy))
        return false;
    while (good && (part = strsep(&rest, ",")) != NULL)
        good = parse_field(part, latency, message, size);
    return good;
}

/* --- Faults --- */

/* Parse a time with a unit, of at most a day, at the beginning of the text. */
static bool parse_time(const char **text, uint64_t *ns)
{
    if (!gba_number_parse(text, gba_times, ns) || *ns > 86400 * GBA_SECOND)
        return false;
    *ns /= GBA_NS;
    return true;
}

/* Parse a number at the beginning of the text. */
static bool parse_number(const char **text, uint64_t most, uint64_t *number)
{
    static const struct gba_unit none[] = {{"", 1}, {NULL, 0}};

    return gba_number_parse(text, none, number) && *number <= most;
}

/* Parse the text after "KIND=". Returns whether the whole text is valid. */
static bool parse_fault(const char *text, struct gba_switchd_fault *fault)
{
    switch (fault->kind) {
    case GBA_SWITCHD_DROP:
        return parse_number(&text, UINT64_MAX - 1, &fault->number) && fault->number != 0 &&
               *text == '\0';
    case GBA_SWITCHD_DIE:
        return parse_time(&text, &fault->time) && *text == '\0';
    default:
        break;
    }
    if (!parse_number(&text, GBA_PORTS_MAX - 1, &fault->number) || *text++ != '@' ||
        !parse_time(&text, &fault->time))
        return false;
    if (fault->kind == GBA_SWITCHD_CUT)
        return *text == '\0';
    return *text++ == '+' && parse_time(&text, &fault->duration) && *text == '\0';
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
