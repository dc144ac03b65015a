/* SPDX-License-Identifier: BSD-3-Clause */
/* The key file: the secret of TCP clients, for gba-switchd, its client in libgba, and gba_diag. */
#ifndef GBA_SIM_SWITCH_KEY_FILE_H
#define GBA_SIM_SWITCH_KEY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/switch/protocol.h"

/*
 * Read a key file. It must be a regular file of this user or root that only its owner can read, and
 * contain what gba_switch_secret_parse accepts.
 * path: any. secret: set on success. reason: on failure set to the cause, without the path (len
 * bytes at most, terminated). Returns whether the key was read. Leaves no copy of the key in its
 * own memory. Thread-safe. Never waits for the writer of a FIFO.
 */
bool gba_switch_key_read(const char *path, uint8_t secret[GBA_SWITCH_SECRET_BYTES], char *reason,
                         size_t len);

#endif
