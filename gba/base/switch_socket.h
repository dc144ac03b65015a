/* SPDX-License-Identifier: BSD-3-Clause */
/* The default Unix socket of a gba-switchd, for the daemon and its clients. */
#ifndef GBA_BASE_SWITCH_SOCKET_H
#define GBA_BASE_SWITCH_SOCKET_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* That of root, and of the service. */
#define GBA_SWITCH_SOCKET "/run/gba/switch.sock"

/*
 * Get the default socket of a gba-switchd of this user. A user without XDG_RUNTIME_DIR has it below
 * the home directory, because a directory that is open to all, such as /tmp, could have the socket
 * of somebody else.
 * path: set, len bytes at most, terminated. Thread-safe unless another thread sets the environment.
 */
static inline void gba_switchd_socket(char *path, size_t len)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR"), *home = getenv("HOME");

    if (geteuid() != 0 && runtime != NULL && runtime[0] == '/')
        snprintf(path, len, "%s/gba-switchd.sock", runtime);
    else if (geteuid() != 0 && home != NULL && home[0] == '/')
        snprintf(path, len, "%s/.gba/switch.sock", home);
    else
        snprintf(path, len, "%s", GBA_SWITCH_SOCKET);
}

#endif
