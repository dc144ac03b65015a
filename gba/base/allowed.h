/* SPDX-License-Identifier: BSD-3-Clause */
/* The allowed values of a parameter, for messages. */
#ifndef GBA_BASE_ALLOWED_H
#define GBA_BASE_ALLOWED_H

#include "gba/params.h"

/* Print the values of a number or an enumeration: "2 to 64", "auto, flat, node" (len bytes at most,
 * terminated). Thread-safe. Not collective. */
void gba_param_allowed(const gba_param_t *param, char *text, size_t len);

#endif
