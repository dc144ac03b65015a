/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/base/json.h"

#include <stdarg.h>
#include <stdint.h>

/* Decode the character of UTF-8 at the start of the text; a byte that begins none is of Latin-1.
 * *length: its bytes. */
static unsigned character(const char *text, unsigned *length)
{
    const unsigned char first = (unsigned char)text[0];
    unsigned code, count = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;

    *length = 1;
    if (first < 0xc2 || first > 0xf4)
        return first;
    code = first & (0x7fu >> count);
    for (unsigned i = 1; i < count; i++) {
        if (((unsigned char)text[i] & 0xc0u) != 0x80)
            return first;
        code = code << 6 | ((unsigned char)text[i] & 0x3fu);
    }
    *length = count;
    return code;
}

void gba_json_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (unsigned length; '\0' != *text; text += length) {
        const unsigned code = character(text, &length);

        if ('"' == code || '\\' == code)
            fprintf(out, "\\%c", code);
        else if (code >= 0x20 && code < 0x7f)
            fputc((int)code, out);
        else if (code <= UINT16_MAX)
            fprintf(out, "\\u%04x", code);
        else
            fprintf(out, "\\u%04x\\u%04x", 0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff));
    }
    fputc('"', out);
}

static void line_begin(const struct gba_json *json)
{
    if (json->depth <= json->lines)
        fprintf(json->out, "\n%*s", 2 * (int)json->depth, "");
}

static void element_begin(struct gba_json *json, const char *name)
{
    if (json->depth > 0) {
        bool *filled = &json->filled[json->depth - 1];

        if (*filled)
            fputs(json->depth <= json->lines ? "," : ", ", json->out);
        *filled = true;
        line_begin(json);
    }
    if (name == NULL)
        return;
    gba_json_text(json->out, name);
    fputs(": ", json->out);
}

void gba_json_begin(struct gba_json *json, const char *name, char bracket)
{
    element_begin(json, name);
    fputc(bracket, json->out);
    json->filled[json->depth] = false;
    json->end[json->depth++] = '{' == bracket ? '}' : ']';
}

void gba_json_end(struct gba_json *json)
{
    json->depth--;
    if (json->filled[json->depth] && json->depth < json->lines)
        line_begin(json);
    fputc(json->end[json->depth], json->out);
    if (0 == json->depth)
        fputc('\n', json->out);
}

void gba_json_string(struct gba_json *json, const char *name, const char *text)
{
    if (text == NULL) {
        gba_json_value(json, name, "null");
        return;
    }
    element_begin(json, name);
    gba_json_text(json->out, text);
}

void gba_json_value(struct gba_json *json, const char *name, const char *format, ...)
{
    va_list arguments;

    element_begin(json, name);
    va_start(arguments, format);
    vfprintf(json->out, format, arguments);
    va_end(arguments);
}
