/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proxy: one thread of the process, which makes the team's barriers for all GPU members.
 *
 * The GPU members of this rank in a team are a group. Each has a doorbell and a flag in memory that
 * the GPU and the thread share. The thread polls the doorbells of a group in turn (GATHER), makes
 * the team's barrier in steps (CROSS), so that groups do not wait for each other, and stores the
 * flags. What blocks is done by a thread of its own (HELPED): an agreement, the notifications of a
 * failed device, and the barrier of a runtime.
 */
#ifndef GBA_GPU_PROXY_H
#define GBA_GPU_PROXY_H

#include "gba/gpu/group.h"

/* Find the group of a team, or make it and start the thread, with one member more. group: set on
 * GBA_OK. Returns GBA_OK, GBA_ERR_NOMEM, GBA_ERR_BUSY (it has that member) or GBA_ERR_PARAM
 * (another number of members). The caller has called gba_gpu_pause. */
gba_status_t gba_gpu_join(gba_team_t *team, const gba_gpu_attr_t *attr,
                          struct gba_gpu_group **group);

/* A member leaves. The last one frees the group, whose memory CUDA does not use any more, and the
 * last group ends the thread. The caller has called gba_gpu_pause. */
void gba_gpu_leave(struct gba_gpu_group *group, uint32_t member);

/* Between the two the thread serves nobody, so the caller waits for no kernel. One thread at a
 * time. */
void gba_gpu_pause(void);
void gba_gpu_resume(void);

#endif
