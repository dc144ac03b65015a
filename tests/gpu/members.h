/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of one host that make a team, without a launcher: forks with an exchange in shared
 * memory. For the tests of GPU members, with a GPU and without. */
#ifndef GBA_TESTS_GPU_MEMBERS_H
#define GBA_TESTS_GPU_MEMBERS_H

#include <pthread.h>
#include <sys/types.h>

#include "gba/gba.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MEMBERS_MAX 16

/* What the processes of a run share. */
struct members {
    pthread_barrier_t barrier;
    uint32_t size;
    unsigned char board[MEMBERS_MAX][8192];
    /* Of the test, zeros at first; a test registers them with CUDA. */
    uint64_t user[64 * 1024] __attribute__((aligned(4096)));
};

/* One of the processes. */
struct member {
    struct members *all;
    uint32_t rank;
    gba_oob_t oob;
    gba_params_t params;
    gba_team_attr_t attr;
    gba_device_t *device;
    gba_team_t *team;
    gba_notification_t notification;
};

/* Fork `size` processes, and let each run the body, whose result is its exit status. Returns the
 * number of those that do not end with 0. parent: NULL, or called meanwhile, with their ids. */
int members_run(uint32_t size, int (*body)(struct member *me, void *arg), void *arg,
                void (*parent)(struct members *all, const pid_t *pids, void *arg));

/* Make the team, with the parameters of the environment, on the device of that path or "none".
 * gpu: of gba_team_attr_t. */
gba_status_t member_team(struct member *me, const char *path, bool gpu);
void member_end(struct member *me);

/* A whole barrier by the CPU, with all that a runtime does. */
gba_status_t member_barrier(struct member *me);

#ifdef __cplusplus
}
#endif

#endif
