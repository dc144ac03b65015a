/* SPDX-License-Identifier: BSD-3-Clause */
/* The path through shared memory: a counter, or an algorithm, among members on one host. */
#ifndef GBA_PATH_PATH_SHARED_H
#define GBA_PATH_PATH_SHARED_H

#include "gba/path/node.h"

/* Create this member's part, with a node without memory. shape: of kind GBA_SHAPE_COUNTER or
 * GBA_SHAPE_SHARED. rank: this member. Returns GBA_OK or GBA_ERR_NOMEM. Not collective. */
gba_status_t gba_path_shared_create(const struct gba_shape *shape, uint32_t rank,
                                    struct gba_path_base **path);

#endif
