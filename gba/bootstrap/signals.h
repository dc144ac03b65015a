/* SPDX-License-Identifier: BSD-3-Clause */
/* The transport of signals (gba/transport/transport.h) over the connections of a mesh. */
#ifndef GBA_BOOTSTRAP_SIGNALS_H
#define GBA_BOOTSTRAP_SIGNALS_H

#include "gba/bootstrap/mesh.h"

/* As gba_remote_t.open. ctx: the struct gba_boot_mesh, which lives longer than the transport. */
gba_status_t gba_boot_signals_open(void *ctx, const gba_remote_group_t *group,
                                   struct gba_transport **transport);

#endif
