/* SPDX-License-Identifier: BSD-3-Clause */
/* Environment variables, and random numbers. */
#ifndef GBA_BOOTSTRAP_SETTINGS_H
#define GBA_BOOTSTRAP_SETTINGS_H

#include "gba/types.h"

/* The value of an environment variable; NULL if it is unset or empty, or if the program runs with
 * the rights of another user. Thread-safe while nobody changes the environment. */
const char *gba_boot_env(const char *name);

/*
 * Read a whole number, or a time, from an environment variable.
 * max: the largest value. unit: as in gba_param_t; 0: not a time.
 * value: set if the variable is set; else unchanged. message: set on error (len bytes at most).
 * Returns GBA_OK or GBA_ERR_PARAM.
 */
gba_status_t gba_boot_env_number(const char *name, uint32_t max, uint64_t unit, uint32_t *value,
                                 char *message, size_t len);

/* GBA_BOOTSTRAP_TIMEOUT in ns; 0: no limit. Returns as gba_boot_env_number. */
gba_status_t gba_boot_env_timeout(uint64_t *ns, char *message, size_t len);

/* Fill a buffer of at most 256 bytes with random numbers for secrets. Returns GBA_OK or
 * GBA_ERR_IO. */
gba_status_t gba_boot_random(void *buffer, size_t bytes);

#endif
