/* SPDX-License-Identifier: BSD-3-Clause */
/* Parser of --fault. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/switch/command_line.h"

#define DAY_NS 86400e9

/* Parse a time with a unit at the beginning of the text. *rest: the text after it. */
static bool parse_time(const char *text, const char **rest, uint64_t *ns)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    double number;
    char *end;

    if (text[0] < '0' || text[0] > '9' || text[1] == 'x' || text[1] == 'X')
        return false; /* strtod also accepts signs, spaces, hexadecimal numbers and names */
    number = strtod(text, &end);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        size_t length = strlen(units[i].name);

        if (strncmp(end, units[i].name, length) != 0)
            continue;
        number *= units[i].factor;
        *ns = (uint64_t)(number <= DAY_NS ? number : 0);
        *rest = end + length;
        return number <= DAY_NS;
    }
    return false;
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
static bool parse_value(const char *text, struct gba_switchd_fault *fault)
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
        return parse_value(text + length, fault);
    }
    return false;
}
