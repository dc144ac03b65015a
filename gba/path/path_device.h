/* SPDX-License-Identifier: BSD-3-Clause */
/* The path through a barrier group of all members of the team. */
#ifndef GBA_PATH_PATH_DEVICE_H
#define GBA_PATH_PATH_DEVICE_H

#include "gba/path/path.h"

struct gba_path_device {
    struct gba_path_base base;
    struct gba_local_state
        state; /* base.state; in here, so that an attempt follows no pointer to it */
};

extern const struct gba_path_ops gba_path_device_ops;

/*
 * Take this member's slot in the group, up to the arming of the group.
 * handle: the group. member: this member's slot, 0 for the member that allocated the group.
 * sequence: the first one of the group.
 * Returns GBA_OK, GBA_ERR_NOMEM, or as gba_group_take. On failure nothing is held, and member 0 has
 * freed the group. Not collective.
 */
gba_status_t gba_path_device_create(gba_device_t *device, const gba_group_handle_t *handle,
                                    uint32_t member, uint32_t sequence,
                                    struct gba_path_base **path);

#endif
