/* SPDX-License-Identifier: BSD-3-Clause */
/* What gba-switchd and its clients, libgba and gba_diag, check of each other before they trust: the
 * key file of TCP, and who listens on a Unix socket. */
#ifndef GBA_SIM_SWITCH_NET_TRUST_H
#define GBA_SIM_SWITCH_NET_TRUST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/switch/core/protocol.h"

/* The user of the installed service (gba-switchd.service). */
#define GBA_SWITCH_USER "gba-switchd"

/* The variable of the environment with the key file of clients. */
#define GBA_SWITCH_KEY_VARIABLE "GBA_SWITCH_KEY_FILE"

/* The key file of a client: `name`, or if that is NULL, "" or "none" that of the environment. NULL:
 * none. Thread-safe unless another thread sets the environment. */
const char *gba_switch_key_file(const char *name);

/*
 * Read a key file. It must be a regular file of this user or root that only its owner can read, or
 * a credential of systemd, and contain what gba_switch_secret_parse accepts.
 * path: any. secret: set on success. reason: on failure set to the cause, without the path (len
 * bytes at most, terminated), and errno to that of open, or to 0. Returns whether the key was read.
 * Leaves no copy of the key in its own memory. Thread-safe. Never waits for the writer of a FIFO.
 */
bool gba_switch_key_read(const char *path, uint8_t secret[GBA_SWITCH_SECRET_BYTES], char *reason,
                         size_t len);

/*
 * Check who listens at the other end of a connected Unix socket: anybody can listen at a path whose
 * directory is open to all, and release barriers early. Accepts root, the user of this process, and
 * `owner`.
 * owner: name or number of a user; "": GBA_SWITCH_USER. reason: on failure set to the cause (len
 * bytes at most, terminated). A user who is not in this user namespace has the number 65534.
 * Returns whether the listener may be trusted. Thread-safe. Reads the data base of users if the
 * listener is neither root nor this user.
 */
bool gba_switch_listener_trusted(int fd, const char *owner, char *reason, size_t len);

#endif
