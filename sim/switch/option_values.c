/* SPDX-License-Identifier: BSD-3-Clause */
/* Parser of --latency. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "gba/base/number.h"
#include "gba/params.h"
#include "sim/switch/command_line.h"

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
