/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The software path without node leaders: all members take part alike. On one host they use shared
 * memory (a counter, or an algorithm), else an algorithm over the runtime's messages.
 */
#ifndef GBA_PATH_PATH_SOFTWARE_H
#define GBA_PATH_PATH_SOFTWARE_H

#include "gba/path/node.h"

/*
 * Create this member's part, without its node.
 * plan: of kind GBA_SOFTWARE_NODE or GBA_SOFTWARE_FLAT. rank: this member.
 * Returns GBA_OK, GBA_ERR_NOMEM, or as gba_message_barrier_open. Not collective; sends nothing.
 */
gba_status_t gba_path_software_create(const struct gba_shape *plan, const gba_remote_t *remote,
                                      uint32_t rank, struct gba_path_base **path);

/* All members are ready: take over the node, which has memory if the plan requires it. */
void gba_path_software_finish(struct gba_path_base *path, struct gba_node *node);

#endif
