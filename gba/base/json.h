/* SPDX-License-Identifier: BSD-3-Clause */
/* Strings of JSON. */
#ifndef GBA_BASE_JSON_H
#define GBA_BASE_JSON_H

#include <stdio.h>

/* Print a text as a string of JSON. The bytes of an unknown encoding are those of Latin-1. Errors
 * of the stream remain in it. */
static inline void gba_json_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; '\0' != *text; text++) {
        const unsigned char c = (unsigned char)*text;

        if ('"' == c || '\\' == c)
            fprintf(out, "\\%c", c);
        else if (c < 0x20 || c >= 0x7f)
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

#endif
