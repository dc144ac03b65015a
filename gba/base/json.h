/* SPDX-License-Identifier: BSD-3-Clause */
/* The writer of JSON. Errors of the stream remain in it. Thread-safe on different writers. */
#ifndef GBA_BASE_JSON_H
#define GBA_BASE_JSON_H

#include <stdbool.h>
#include <stdio.h>

#define GBA_JSON_DEPTH 8u

/* A text that is being written: {.out = stdout, .lines = 1} to begin with. */
struct gba_json {
    FILE *out;
    unsigned lines; /* structures of a lower depth have a line for each element */
    unsigned depth; /* open structures, at most GBA_JSON_DEPTH */
    bool filled[GBA_JSON_DEPTH];
    char end[GBA_JSON_DEPTH];
};

/* Begin an object '{' or a list '[', and end the innermost one. A line ends after the last one.
 * name: of the element; NULL in a list, and at the top. */
void gba_json_begin(struct gba_json *json, const char *name, char bracket);
void gba_json_end(struct gba_json *json);

/* A string, in ASCII. Bytes that are no UTF-8 are those of Latin-1. text: NULL: null. */
void gba_json_string(struct gba_json *json, const char *name, const char *text);

/* A number, true, false or null, as printf prints it. */
void gba_json_value(struct gba_json *json, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Print a text as a string of JSON, in ASCII. */
void gba_json_text(FILE *out, const char *text);

#endif
