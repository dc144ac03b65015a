/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of gba_info: lines of text, or one JSON value. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gba/base/json.h"
#include "gba/tools/info.h"

#define DEPTH 6 /* of nested JSON structures */

static bool json;
static unsigned depth;
static char brackets[DEPTH]; /* that end the open structures */
static bool filled[DEPTH];   /* the structure has an element already */

void report_json(void)
{
    json = true;
}

bool report_is_json(void)
{
    return json;
}

/* What precedes an element: a comma, a new line, and its name. */
static void element_begin(const char *name)
{
    char key[64];

    if (depth > 0) {
        printf("%s\n%*s", filled[depth - 1] ? "," : "", (int)(2 * depth), "");
        filled[depth - 1] = true;
    }
    if (name == NULL)
        return;
    snprintf(key, sizeof key, "%s", name);
    for (char *c = key; '\0' != *c; c++)
        if (' ' == *c)
            *c = '_';
    gba_json_text(stdout, key);
    printf(": ");
}

void report_printable(char *text)
{
    for (; '\0' != *text; text++)
        if ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f)
            *text = '?';
}

void report_text(const char *name, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!json) {
        report_printable(text);
        printf("%-22s %s\n", name, text);
        return;
    }
    element_begin(name);
    gba_json_text(stdout, text);
}

void report_number(const char *name, uint64_t value)
{
    if (!json) {
        printf("%-22s %" PRIu64 "\n", name, value);
        return;
    }
    element_begin(name);
    printf("%" PRIu64, value);
}

void report_bool(const char *name, bool value)
{
    if (!json) {
        printf("%-22s %s\n", name, value ? "yes" : "no");
        return;
    }
    element_begin(name);
    printf("%s", value ? "true" : "false");
}

void report_begin(const char *name, char bracket)
{
    if (!json) {
        depth++;
        return;
    }
    element_begin(name);
    putchar(bracket);
    if (depth < DEPTH) {
        brackets[depth] = '{' == bracket ? '}' : ']';
        filled[depth] = false;
    }
    depth++;
}

void report_end(void)
{
    depth--;
    if (!json) {
        if (2 == depth)
            putchar('\n');
        return;
    }
    if (filled[depth])
        printf("\n%*s", (int)(2 * depth), "");
    putchar(brackets[depth]);
    if (0 == depth)
        putchar('\n');
}

void report_item(const char *text)
{
    if (!json)
        return;
    element_begin(NULL);
    gba_json_text(stdout, text);
}

int report_error(enum info_exit code, const char *format, ...)
{
    const bool closed = 0 == depth;
    char text[640];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!json) {
        fprintf(stderr, "gba_info: %s\n", text);
        return (int)code;
    }
    if (closed)
        report_begin(NULL, '{');
    report_text("error", "%s", text);
    report_number("status", (uint64_t)code);
    if (closed)
        report_end();
    return (int)code;
}
