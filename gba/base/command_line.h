/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tools have in common: their command lines and the end of their output. */
#ifndef GBA_BASE_COMMAND_LINE_H
#define GBA_BASE_COMMAND_LINE_H

#include <getopt.h>
#include <stddef.h>

/*
 * Call getopt_long without its messages. Returns its result; '?' for each wrong option, with one
 * line in `message` that names it and what is allowed (len bytes at most, terminated).
 */
int gba_option_next(int argc, char *const *argv, const struct option *known, char *message,
                    size_t len);

/* Occupy each standard descriptor that is closed, so that no file that the program opens becomes
 * its output. Writing to standard output or error fails as before. Call it first. */
void gba_output_begin(void);

/* Write what is left of standard output, and close it. Returns code; lost, with a line on standard
 * error, if any output of the program was lost. Call it last. */
int gba_output_end(const char *program, int code, int lost);

#endif
