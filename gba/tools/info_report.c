/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of gba_info: lines of text, or one JSON value. */
#include <stdarg.h>
#include <stdio.h>

#include "gba/base/json.h"
#include "gba/base/printable.h"
#include "gba/tools/info.h"

static bool is_json;
static struct gba_json json = {.lines = GBA_JSON_DEPTH};

void report_json(void)
{
    is_json = true;
    json.out = stdout;
}

bool report_is_json(void)
{
    return is_json;
}

/* In JSON the blanks of a name become underscores. */
static const char *key_of(const char *name, char key[64])
{
    if (name == NULL)
        return NULL;
    snprintf(key, 64, "%s", name);
    for (char *c = key; '\0' != *c; c++)
        if (' ' == *c)
            *c = '_';
    return key;
}

void report_text(const char *name, const char *format, ...)
{
    char text[1024], key[64];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (is_json) {
        gba_json_string(&json, key_of(name, key), text);
        return;
    }
    gba_printable(text);
    printf("%-22s %s\n", name, text);
}

void report_number(const char *name, uint64_t value)
{
    char key[64];

    if (is_json)
        gba_json_value(&json, key_of(name, key), "%" PRIu64, value);
    else
        printf("%-22s %" PRIu64 "\n", name, value);
}

void report_bool(const char *name, bool value)
{
    char key[64];

    if (is_json)
        gba_json_value(&json, key_of(name, key), "%s", value ? "true" : "false");
    else
        printf("%-22s %s\n", name, value ? "yes" : "no");
}

void report_begin(const char *name, char bracket)
{
    char key[64];

    if (is_json)
        gba_json_begin(&json, key_of(name, key), bracket);
    else
        json.depth++;
}

void report_end(void)
{
    if (is_json)
        gba_json_end(&json);
    else if (2 == --json.depth)
        putchar('\n');
}

int report_error(enum info_exit code, const char *format, ...)
{
    const bool closed = 0 == json.depth;
    char text[640];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!is_json) {
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
