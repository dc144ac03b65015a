/* SPDX-License-Identifier: BSD-3-Clause */
/* What the command lines of the tools have in common. */
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

#endif
