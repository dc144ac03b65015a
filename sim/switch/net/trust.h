/* SPDX-License-Identifier: BSD-3-Clause */
/* What gba-switchd and its clients, libgba and gba_diag, check of each other before they trust: the
 * key file and the credentials of TCP, and who listens on a Unix socket. */
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
 * Credentials of munge. auth: "munge", or "munge:SOCKET" with the socket of a munged other than the
 * default one. A credential is good for one connection, and for the 5 minutes of munge. Both
 * functions call the munged of this host, and block for some milliseconds; for seconds if it does
 * not answer. reason: on failure set to the cause (len bytes at most, terminated). Thread-safe.
 *
 * make: a credential of the effective user of this process, for a gba-switchd. text: set on
 * success. Returns whether it was made.
 */
bool gba_switch_credential_make(const char *auth, char text[GBA_SWITCH_CREDENTIAL_MAX + 1],
                                char *reason, size_t len);
/* check: whether a credential is valid and was not used before. text: terminated. user: set on
 * success to its user. *down: set to whether munged does not answer. */
bool gba_switch_credential_check(const char *auth, const char *text, uint32_t *user, bool *down,
                                 char *reason, size_t len);

/* Whether that is a valid value of auth, or "key", the default. Without libmunge only "key" is. */
bool gba_switch_auth_valid(const char *auth);

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
