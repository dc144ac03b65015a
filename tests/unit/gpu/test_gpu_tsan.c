/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gba/gpu.cuh on threads, for ThreadSanitizer, with the functions by which the threads of a GPU
 * cooperate: of four GPU members one is a warp, one a block, one a grid and one a group that meets
 * by itself, of three threads each, and a thread is the device. Each thread writes a plain word
 * before a barrier and reads those of all members after it. Sequences wrap. Exit status 0: no
 * error; 66: the sanitizer found a data race, which the argument "relaxed" makes: the program runs
 * itself with it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "gba/base/order.h"

#define MEMBERS 4
#define THREADS 3
#define ROUNDS  400u
#define FIRST   (UINT32_MAX - ROUNDS / 2) /* sequences wrap */
#define SLOW(r) (0 == (r) % 4)            /* a round that ends when the members have given up */

/* ---------------------------------------------------------------------- the names of CUDA --- */

struct index {
    uint32_t x, y, z;
};
static _Thread_local struct index threadIdx, blockIdx;
static const struct index blockDim = {THREADS, 1, 1};

static struct team { /* a warp, block, grid, or a part of a block */
    pthread_barrier_t together;
    int word;
} teams[MEMBERS];
static _Thread_local struct team *team; /* of this thread */

static void together(void)
{
    pthread_barrier_wait(&team->together);
}

static int any(int set)
{
    int found;

    if (0 != set)
        __atomic_store_n(&team->word, 1, __ATOMIC_RELAXED);
    together();
    found = __atomic_load_n(&team->word, __ATOMIC_RELAXED);
    together();
    __atomic_store_n(&team->word, 0, __ATOMIC_RELAXED);
    together();
    return found;
}

static int shuffle(int value)
{
    if (0 == threadIdx.x)
        team->word = value;
    together();
    value = team->word;
    together();
    return value;
}

#define __syncwarp()                   together()
#define __syncthreads()                together()
#define __syncthreads_or(set)          any(set)
#define __shfl_sync(mask, value, from) shuffle(value)
#define GBA_GPU_GRID_SYNC()            together()
#define GBA_GPU_ON_CPU
#include "gba/gpu.cuh"

/* ------------------------------------------------------------------------------- barriers --- */

static gba_word_t door[MEMBERS], flag[MEMBERS];
static uint64_t count[MEMBERS][2];
static uint32_t data[2][MEMBERS][THREADS];
static gba_word_t wrong;
static bool relaxed;

static bool there(uint32_t i, uint32_t round)
{
    const uint64_t word = gba_word_load_acquire(&door[i]);

    return SLOW(round) ? word == ((uint64_t)round << 32 | GBA_GPU_GAVE_UP)
                       : (int32_t)((uint32_t)(word >> 32) - round) >= 0;
}

/* Release the rounds up to `last`. */
static void *device(void *unused)
{
    (void)unused;
    for (uint32_t round = FIRST + 1; round != FIRST + ROUNDS + 1; round++) {
        for (uint32_t i = 0; i < MEMBERS; i++)
            while (!there(i, round))
                sched_yield();
        for (uint32_t i = 0; i < MEMBERS; i++)
            gba_word_store_release(&flag[i], round);
    }
    return NULL;
}

static void check(uint32_t round)
{
    for (uint32_t i = 0; i < MEMBERS; i++)
        for (uint32_t t = 0; t < THREADS; t++)
            if (data[round % 2][i][t] != round)
                (void)gba_word_add_relaxed(&wrong, 1);
}

/* Barriers, and arrive and wait apart, with waits that end by their limit and are repeated. */
static int cross(const gba_gpu_member_t *member, gba_gpu_coop_t coop, uint32_t round)
{
    int status;

    if (!SLOW(round))
        return gba_gpu_barrier(member, coop, relaxed ? GBA_GPU_RELAXED : GBA_GPU_ACQ_REL, 0);
    gba_gpu_arrive(member, coop, relaxed ? GBA_GPU_RELAXED : GBA_GPU_RELEASE);
    do
        status = gba_gpu_wait(member, coop, relaxed ? GBA_GPU_RELAXED : GBA_GPU_ACQUIRE, 1);
    while (GBA_ERR_TIMEOUT == status);
    return status;
}

static void *thread(void *arg)
{
    const uint32_t number = (uint32_t)(uintptr_t)arg, i = number / THREADS, lane = number % THREADS;
    const gba_gpu_coop_t coop = (gba_gpu_coop_t)i;
    const gba_gpu_member_t member = {.doorbell = (uint64_t *)(uintptr_t)&door[i],
                                     .flag = (const uint64_t *)(uintptr_t)&flag[i],
                                     .count = count[i],
                                     .member = i};
    int status = GBA_OK;

    team = &teams[i];
    threadIdx.x = GBA_GPU_GRID == coop ? 0 : lane;
    blockIdx.x = GBA_GPU_GRID == coop ? lane : 0;
    for (uint32_t round = FIRST + 1; round != FIRST + ROUNDS + 1; round++) {
        data[round % 2][i][lane] = round;
        if (GBA_GPU_THREAD == coop)
            together();
        if (GBA_GPU_THREAD != coop || 0 == lane)
            status = cross(&member, coop, round);
        if (GBA_GPU_THREAD == coop)
            status = shuffle(status);
        if (GBA_OK != status)
            (void)gba_word_add_relaxed(&wrong, 1);
        check(round);
    }
    return NULL;
}

/* Whether the sanitizer finds the race of barriers that order nothing. */
static bool race_is_found(const char *program)
{
    char command[1024];
    int status;

    snprintf(command, sizeof command, "exec '%s' relaxed 2>/dev/null", program);
    status = system(command);
    return WIFEXITED(status) && 66 == WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    pthread_t threads[MEMBERS * THREADS + 1];

    relaxed = argc > 1;
    for (uint32_t i = 0; i < MEMBERS; i++) {
        pthread_barrier_init(&teams[i].together, NULL, THREADS);
        count[i][0] = FIRST;
        gba_word_store_relaxed(&door[i], (uint64_t)FIRST << 32);
        gba_word_store_relaxed(&flag[i], FIRST);
    }
    pthread_create(&threads[0], NULL, device, NULL);
    for (uintptr_t n = 0; n < MEMBERS * THREADS; n++)
        pthread_create(&threads[n + 1], NULL, thread, (void *)n);
    for (size_t n = 0; n <= MEMBERS * THREADS; n++)
        pthread_join(threads[n], NULL);
    if (relaxed)
        return 0;
    if (0 != gba_word_load_relaxed(&wrong) || (uint32_t)count[0][0] != FIRST + ROUNDS)
        return puts("FAIL: a barrier was left early, or failed") < 0 ? 2 : 1;
    if (!race_is_found(argv[0]))
        return puts("FAIL: the sanitizer does not find the race of relaxed barriers") < 0 ? 2 : 1;
    return 0;
}
