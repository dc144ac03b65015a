/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of one host that make a team, without a launcher: forks that join by a unique id. For
 * the tests of GPU members, with a GPU and without. */
#ifndef GBA_TESTS_GPU_MEMBERS_H
#define GBA_TESTS_GPU_MEMBERS_H

#include <unistd.h>

#include "gba/bootstrap.h"
#include "gba/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the processes of a run share. */
struct members {
    uint32_t size;
    gba_bootstrap_uid_t uid; /* of rank 0 */
    uint64_t there;          /* 1: the id is */
    /* Of the test, zeros at first; a test registers them with CUDA. */
    uint64_t user[64 * 1024] __attribute__((aligned(4096)));
};

/* One of the processes. */
struct member {
    struct members *all;
    uint32_t rank;
    gba_bootstrap_root_t *root; /* of rank 0 */
    gba_bootstrap_t *bootstrap;
    gba_team_t *team;
    gba_gpu_attr_t attr; /* for a GPU member; the test may change it */
};

/* Make what `size` members share. */
struct members *members_new(uint32_t size);

/* Fork `size` processes, and let each run the body, whose result is its exit status. Returns the
 * number of those that do not end with 0. */
int members_run(uint32_t size, int (*body)(struct member *me, void *arg), void *arg);

/* Join the others, if me->bootstrap is NULL, and make the team, with the parameters of the
 * environment. device: its path; NULL: of the parameters. gpu: of gba_bootstrap_attr_t. Returns
 * whether that works (printed). */
bool member_team(struct member *me, const char *device, bool gpu);

/* Leave the team and the bootstrap. */
void member_end(struct member *me);

/* Words that processes and kernels share. Await: until the word has reached the value, or half a
 * minute. */
static inline uint64_t word_get(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void word_set(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static inline void word_await(const uint64_t *word, uint64_t value)
{
    for (int i = 0; word_get(word) < value && i < 300000; i++)
        usleep(100);
}

/* mixed.c, where threads stand for kernels: barriers of ranks with one or more GPU members, and
 * ranks that take part by the CPU. */
struct mixed {
    const char *device;                             /* as for member_team */
    enum { MIXED_EVEN, MIXED_ODD, MIXED_ALL } gpus; /* the ranks with GPU members */
    uint32_t rounds;
};

/* Make the team and the rank's barriers, and destroy its GPU members. Returns GBA_OK; the status of
 * the first barrier that failed; or GBA_ERR_STALE: a barrier was left early (printed). */
gba_status_t mixed_run(struct member *me, const struct mixed *mixed);

#ifdef __cplusplus
}
#endif

#endif
