/* SPDX-License-Identifier: BSD-3-Clause */
/* This member's part of the candidate's path. None of these functions is collective; each sets
 * a->part_status to GBA_OK, or to the reason why this member has no part. */
#ifndef GBA_AGREE_BUILD_H
#define GBA_AGREE_BUILD_H

#include "gba/agree/agree.h"

/* The device of this member at a switch of rank 0 (gba_candidate.switch_index); NULL: it has none
 * there. May open devices. */
gba_device_t *gba_build_device(const struct gba_agreement *a, uint8_t switch_index);

/* Why this member has no device there. */
gba_status_t gba_build_no_device(const struct gba_agreement *a);

/* What one member makes for others: memory of a node, a group. Fills in a->words, or the record of
 * this member for the allgather. */
void gba_build_make(struct gba_agreement *a, struct gba_node_info *node_info);

/* How the members exchange what was made. GROUP and NODE: by the first words of a->words. */
enum gba_handles { GBA_HANDLES_NONE, GBA_HANDLES_GROUP, GBA_HANDLES_NODE, GBA_HANDLES_NODES };
#define GBA_HANDLES_WORDS (1u + sizeof(gba_group_handle_t) / sizeof(uint64_t))
enum gba_handles gba_build_handles(const struct gba_agreement *a);

/* The exchange is complete: why the path cannot be made, the same on all members, or GBA_OK. */
struct gba_refusal gba_build_refusal(struct gba_agreement *a);

/* Take part in what others have made. */
void gba_build_join(struct gba_agreement *a);

/* A leader arms its group. */
void gba_build_arm(struct gba_agreement *a);

/* All members are ready: complete the path, and describe it. */
void gba_build_finish(struct gba_agreement *a);

/* Free this member's part of a path that is not taken. */
void gba_build_undo(struct gba_agreement *a);

/* The kind of the candidate's path. */
gba_path_t gba_build_kind(const struct gba_agreement *a);

#endif
