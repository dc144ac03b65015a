/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <stdio.h>

#include "tests/gpu/members.h"

#define GBA_GPU_ON_CPU
#include "gba/gpu.cuh"

#define MIXED_GPUS 3u /* GPU members of a rank, at most */

/* The kernel of a GPU member. */
struct kernel {
    struct member *me;
    const struct mixed *mixed;
    gba_gpu_member_t gpu;
    uint32_t slot;       /* of all->user, where it stores the round that it enters */
    gba_status_t status; /* as of mixed_run */
};

static uint32_t gpus_of(const struct mixed *mixed, uint32_t rank)
{
    const bool some = MIXED_ALL == mixed->gpus || rank % 2 == mixed->gpus;

    return some ? 1 + rank / 2 % MIXED_GPUS : 0;
}

/* Sometimes a member is late; the others must wait for it. */
static void round_enter(struct member *me, uint32_t slot, uint64_t round)
{
    if (0 == round % 32 && round / 32 % 4 == slot % 4)
        usleep(1000);
    __atomic_store_n(&me->all->user[slot], round, __ATOMIC_RELAXED);
}

/* Whether all members of all ranks have entered the round, after a barrier with that status. */
static gba_status_t round_leave(const struct member *me, const struct mixed *mixed, uint64_t round,
                                gba_status_t status)
{
    for (uint32_t rank = 0; GBA_OK == status && rank < me->all->size; rank++)
        for (uint32_t i = 0; 0 == i || i < gpus_of(mixed, rank); i++)
            if (__atomic_load_n(&me->all->user[rank * MIXED_GPUS + i], __ATOMIC_RELAXED) < round) {
                fprintf(stderr, "PROOF: barrier %u was left before rank %u had entered it\n",
                        (unsigned)round, (unsigned)rank);
                return GBA_ERR_STALE;
            }
    return status;
}

/* The main function of a thread. */
static void *kernel_run(void *arg)
{
    struct kernel *kernel = arg;

    for (uint64_t round = 1; GBA_OK == kernel->status && round <= kernel->mixed->rounds; round++) {
        round_enter(kernel->me, kernel->slot, round);
        kernel->status = gba_gpu_barrier(&kernel->gpu, GBA_GPU_THREAD, GBA_GPU_ACQ_REL, 0);
        kernel->status = round_leave(kernel->me, kernel->mixed, round, kernel->status);
    }
    return NULL;
}

gba_status_t mixed_run(struct member *me, const struct mixed *mixed)
{
    const uint32_t gpus = gpus_of(mixed, me->rank), slot = me->rank * MIXED_GPUS;
    gba_status_t status = GBA_OK;
    struct kernel kernel[MIXED_GPUS];
    pthread_t thread[MIXED_GPUS];

    if (!member_team(me, mixed->device, gpus > 0))
        return GBA_ERR_OOB;
    me->attr.members = gpus;
    for (uint32_t i = me->attr.member = 0; GBA_OK == status && i < gpus; me->attr.member = ++i) {
        kernel[i] = (struct kernel){.me = me, .mixed = mixed, .slot = slot + i};
        status = gba_gpu_member_create(me->team, &me->attr, &kernel[i].gpu);
    }
    if (GBA_OK != status)
        return status;
    for (uint32_t i = 0; i < gpus; i++)
        pthread_create(&thread[i], NULL, kernel_run, &kernel[i]);
    for (uint64_t round = 1; GBA_OK == status && 0 == gpus && round <= mixed->rounds; round++) {
        round_enter(me, slot, round);
        status = round_leave(me, mixed, round, gba_barrier(me->team));
    }
    for (uint32_t i = 0; i < gpus; i++) {
        pthread_join(thread[i], NULL);
        status = GBA_OK == status ? kernel[i].status : status;
    }
    for (uint32_t i = 0; i < gpus; i++)
        if (GBA_OK != gba_gpu_member_destroy(&kernel[i].gpu))
            status = GBA_ERR_BUSY;
    return status;
}
