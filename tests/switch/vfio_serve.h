/* SPDX-License-Identifier: BSD-3-Clause */
/* The vfio-user server of gba-switchd around the core of the switch, without the rest of the
 * daemon. */
#ifndef GBA_TESTS_VFIO_SERVE_H
#define GBA_TESTS_VFIO_SERVE_H

#include <stdbool.h>

/*
 * Serve until SIGTERM. directory: of the sockets. devices, ports: numbers. ready: a descriptor that
 * is written to and closed when clients can connect; -1: none. Returns the exit status of the
 * process.
 */
int vfio_serve(const char *directory, unsigned devices, unsigned ports, bool msi, int ready);

#endif
