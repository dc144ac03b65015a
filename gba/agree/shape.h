/* SPDX-License-Identifier: BSD-3-Clause */
/* The shape of a candidate's path (gba/path/shape.h), and its description. Pure. */
#ifndef GBA_AGREE_SHAPE_H
#define GBA_AGREE_SHAPE_H

#include "gba/agree/plan.h"

/*
 * Derive the shape of a candidate's path. Needs the layout, if there are several hosts. topology:
 * of the team; computed if it is zero. Returns GBA_OK, or GBA_ERR_NOMEM, which a single member may
 * have alone. The caller calls gba_domains_fini in each case.
 */
gba_status_t gba_shape_make(struct gba_shape *shape, struct gba_topology *topology,
                            const struct gba_info *info, const struct gba_candidate *candidate,
                            uint32_t rank);

/* Why the node leaders can have no groups. All members find the same. */
struct gba_refusal gba_shape_refusal(const struct gba_shape *shape, const struct gba_info *info);

/* Whether this member's node needs shared memory. */
bool gba_shape_shares(const struct gba_shape *shape);

/* One line for the user about the path. group: that of all, or of all leaders if there is one
 * switch domain: "group 3 of 32". remote: as in the attributes of the team. */
void gba_shape_describe(const struct gba_shape *shape, const struct gba_candidate *candidate,
                        const char *group, const gba_remote_t *remote, char *why, size_t len);

#endif
