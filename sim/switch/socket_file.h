/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of a listening Unix socket. */
#ifndef GBA_SIM_SWITCH_SOCKET_FILE_H
#define GBA_SIM_SWITCH_SOCKET_FILE_H

struct sockaddr_un;

/* Remove the socket file of a process that is gone (logged). Returns 0: no file is there; ENOTSOCK:
 * the file is no socket, and stays; EADDRINUSE: another process listens there; or another errno. */
int gba_socket_file_clear(const struct sockaddr_un *address);

#endif
