/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread that serves the groups of GPU members of this process, and the list of these. */
#ifndef GBA_GPU_PROXY_H
#define GBA_GPU_PROXY_H

#include "gba/gpu/group.h"

/* Whether this thread of this process may make and destroy members. Returns GBA_OK;
 * GBA_ERR_UNSUPPORTED: the process has been forked from that of the members (logged); GBA_ERR_BUSY,
 * not logged, because a function for log lines may call: the thread has called gba_gpu_pause, or is
 * gba_gpu_inside. */
gba_status_t gba_gpu_may(void);

/* Find the group of a team, or make it and start the thread, with one member more. attr: members is
 * not 0. group: set on GBA_OK; why: set on an error, to NULL if the status says it. Returns GBA_OK;
 * GBA_ERR_NOMEM; GBA_ERR_BUSY: it has that member, or another team of the same exchange has
 * members; GBA_ERR_PARAM: another number of members; GBA_ERR_STALE: the rank has left the team; or
 * the status of a group that has failed. The caller has called gba_gpu_pause. */
gba_status_t gba_gpu_join(gba_team_t *team, const gba_gpu_attr_t *attr,
                          struct gba_gpu_group **group, const char **why);

/* A member has left. The last one frees the group, whose memory CUDA does not use any more, and the
 * last group ends the thread. The caller has not called gba_gpu_pause. */
void gba_gpu_leave(struct gba_gpu_group *group);

/* Between the two the thread serves nobody, so the caller waits for no kernel. A thread that is
 * between them, as the serving thread always is, may call them again. */
void gba_gpu_pause(void);
void gba_gpu_resume(void);

#endif
