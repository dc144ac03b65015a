/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/base/number.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The characters of a value that a message shows. */
#define SHOWN 64

#define TIMES 6u

const struct gba_unit gba_times[TIMES + 1] = {
    {"ns", GBA_NS},    {"us", 1000 * GBA_NS},  {"ms", 1000000 * GBA_NS},
    {"s", GBA_SECOND}, {"m", 60 * GBA_SECOND}, {"h", 3600 * GBA_SECOND},
    {NULL, 0}};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool gba_number_parse(const char **text, const struct gba_unit *units, uint64_t *value)
{
    const char *digit = *text, *unit;
    uint64_t number = 0, part;

    if (!is_digit(*digit))
        return false;
    for (; is_digit(*digit); digit++)
        if (__builtin_mul_overflow(number, 10u, &number) ||
            __builtin_add_overflow(number, (uint64_t)(*digit - '0'), &number))
            return false;
    unit = digit;
    if ('.' == *digit && is_digit(digit[1]))
        unit += 1 + strspn(digit + 1, "0123456789");
    while (units->name != NULL && 0 != strncmp(unit, units->name, strlen(units->name)))
        units++;
    if (units->name == NULL || __builtin_mul_overflow(number, units->factor, &number))
        return false;
    part = units->factor;
    while (++digit < unit) {
        if (0 != part % 10)
            return false;
        part /= 10;
        if (__builtin_add_overflow(number, (uint64_t)(*digit - '0') * part, &number))
            return false;
    }
    *text = unit + strlen(units->name);
    *value = number;
    return true;
}

bool gba_count_parse(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    static const struct gba_unit none[] = {{"", 1}, {NULL, 0}};
    uint64_t number;

    if (!gba_number_parse(&text, none, &number) || '\0' != *text || number < least || number > most)
        return false;
    *value = number;
    return true;
}

bool gba_time_parse(const char *text, uint64_t unit, uint64_t *ps)
{
    struct gba_unit units[TIMES + 2] = {{NULL, 0}};
    uint64_t time;

    memcpy(units, gba_times, TIMES * sizeof units[0]);
    units[TIMES] = (struct gba_unit){"", unit};
    if (!gba_number_parse(&text, units, &time) || '\0' != *text)
        return false;
    *ps = time;
    return true;
}

bool gba_shape_parse(const char *name, const char *text, uint64_t most, uint64_t *hosts,
                     uint64_t *ranks, char *message, size_t len)
{
    static const struct gba_unit none[] = {{"", 1}, {NULL, 0}};
    const char *rest = text;
    uint64_t n, m = *ranks;
    char allowed[80];

    if (gba_number_parse(&rest, none, &n) && n >= 1 && n <= most &&
        ('x' == *rest ? gba_count_parse(rest + 1, 1, most, &m) : '\0' == *rest) && m <= most / n) {
        *hosts = n;
        *ranks = m;
        return true;
    }
    snprintf(allowed, sizeof allowed, "HOSTS or HOSTSxRANKS, such as 900x8, of 1 to %llu ranks",
             (unsigned long long)most);
    gba_refuse(message, len, name, text, allowed);
    return false;
}

void gba_refuse(char *message, size_t len, const char *name, const char *value, const char *allowed)
{
    snprintf(message, len, "%s%c%.*s is invalid; allowed: %s", name, '-' == name[0] ? ' ' : '=',
             SHOWN, value, allowed);
    /* One line for any value, and no character that a terminal executes. */
    for (; len > 0 && '\0' != *message; message++)
        if (iscntrl((unsigned char)*message))
            *message = '?';
}
