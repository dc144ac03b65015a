/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of a listening Unix socket. */
#ifndef GBA_SIM_SWITCH_NET_SOCKET_FILE_H
#define GBA_SIM_SWITCH_NET_SOCKET_FILE_H

struct sockaddr_un;

/* Serialise daemons that start or stop with a socket in the same directory. A lock on the directory
 * leaves no file behind. Every process that can read the directory can hold the lock, so the caller
 * waits for it for half a second only, and then continues without it (logged). Returns a
 * descriptor, and close ends the lock; or -1 with errno. */
int gba_socket_directory_lock(const char *directory);

/* Remove the socket file of a process that is gone (logged). Under the lock of the directory, until
 * the caller listens: between bind and listen, a socket looks like that of a process that is gone.
 * Returns 0: no file is there; ENOTSOCK: the file is no socket, and stays; EADDRINUSE: another
 * process listens there; or another errno. */
int gba_socket_file_clear(const struct sockaddr_un *address);

#endif
