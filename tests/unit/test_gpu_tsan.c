/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gba/gpu.cuh on threads, for ThreadSanitizer: each of some GPU members is a block of two threads,
 * and a thread is the device. Each thread writes a plain word before a barrier and reads those of
 * all members after it. Sequences wrap. Exit status 0: no error; 66: the sanitizer found a data
 * race, which the argument "relaxed" makes: the program runs itself with it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gba/base/order.h"

#define MEMBERS 3
#define THREADS 2
#define ROUNDS  400u
#define FIRST   (UINT32_MAX - ROUNDS / 2) /* sequences wrap */

static struct block {
    pthread_barrier_t together;
    int status;
} blocks[MEMBERS];
static _Thread_local struct block *block; /* of this thread */
static _Thread_local int lane;

static int share(int status)
{
    if (0 == lane)
        block->status = status;
    pthread_barrier_wait(&block->together);
    return block->status;
}

#define GBA_GPU_ON_CPU
#define GBA_GPU_LANE(coop) (GBA_GPU_BLOCK == (coop) ? lane : 0)
#define GBA_GPU_TOGETHER(coop)                      \
    do {                                            \
        if (GBA_GPU_BLOCK == (coop))                \
            pthread_barrier_wait(&block->together); \
    } while (0)
#define GBA_GPU_SHARE(coop, member, status) (GBA_GPU_BLOCK == (coop) ? share(status) : (status))
#include "gba/gpu.cuh"

static gba_word_t door[MEMBERS], flag[MEMBERS];
static uint64_t count[MEMBERS][2];
static uint32_t data[2][MEMBERS][THREADS];
static gba_word_t wrong;
static bool relaxed;

static gba_gpu_member_t member_of(uint32_t i)
{
    return (gba_gpu_member_t){.doorbell = (uint64_t *)(uintptr_t)&door[i],
                              .flag = (const uint64_t *)(uintptr_t)&flag[i],
                              .fate = (const uint64_t *)(uintptr_t)&flag[i],
                              .count = count[i],
                              .member = i};
}

/* Release the rounds up to `last`. */
static void *device(void *unused)
{
    (void)unused;
    for (uint32_t round = FIRST + 1; round != FIRST + ROUNDS + 1; round++) {
        for (uint32_t i = 0; i < MEMBERS; i++)
            while ((int32_t)((uint32_t)(gba_word_load_acquire(&door[i]) >> 32) - round) < 0)
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

/* A thread of a block, in three "kernels": a session, single calls, and arrive and wait apart. */
static void *thread(void *arg)
{
    const uint32_t number = (uint32_t)(uintptr_t)arg, i = number / THREADS;
    const gba_gpu_order_t order = relaxed ? GBA_GPU_RELAXED : GBA_GPU_ACQ_REL;
    const gba_gpu_member_t member = member_of(i);
    gba_gpu_session_t session;
    int status;

    block = &blocks[i];
    lane = (int)(number % THREADS);
    for (uint32_t round = FIRST + 1; round != FIRST + ROUNDS + 1; round++) {
        data[round % 2][i][lane] = round;
        switch (round % 3) {
        case 0:
            session = gba_gpu_open(&member, GBA_GPU_BLOCK);
            status = gba_gpu_session_barrier(&session, order, 0);
            gba_gpu_close(&session);
            break;
        case 1:
            status = gba_gpu_barrier(&member, GBA_GPU_BLOCK, order, 0);
            break;
        default:
            gba_gpu_arrive(&member, GBA_GPU_BLOCK, relaxed ? order : GBA_GPU_RELEASE);
            status = gba_gpu_wait(&member, GBA_GPU_BLOCK, relaxed ? order : GBA_GPU_ACQUIRE, 0);
        }
        if (GBA_OK != status)
            (void)gba_word_add_relaxed(&wrong, 1);
        check(round);
    }
    return NULL;
}

/* A barrier that does not end: the time limit, later the release, and a failure. */
static bool limits(void)
{
    const gba_gpu_member_t member = member_of(0);
    const uint32_t next = FIRST + ROUNDS + 1;
    uint64_t failed = (uint64_t)-GBA_ERR_DEAD << 32 | (uint32_t)(next + 1 + GBA_GPU_AHEAD);
    bool good =
        GBA_ERR_TIMEOUT == gba_gpu_barrier(&member, GBA_GPU_THREAD, GBA_GPU_ACQ_REL, 1000000);

    good &= ((uint64_t)next << 32 | GBA_GPU_GAVE_UP) == gba_word_load_acquire(&door[0]);
    gba_word_store_release(&flag[0], next);
    good &= GBA_OK == gba_gpu_wait(&member, GBA_GPU_THREAD, GBA_GPU_ACQ_REL, 0);
    gba_word_store_release(&flag[0], failed);
    good &= GBA_OK == gba_gpu_wait(&member, GBA_GPU_THREAD, GBA_GPU_ACQ_REL, 0);
    good &= GBA_ERR_DEAD == gba_gpu_barrier(&member, GBA_GPU_THREAD, GBA_GPU_ACQ_REL, 0);
    /* A stream's wait for the failed round ends. */
    good &= (int32_t)((uint32_t)failed - (next + 1)) >= 0;
    return good;
}

/* Whether the sanitizer finds the race of barriers that order nothing. */
static bool race_is_found(const char *program)
{
    pid_t child = fork();
    int status = 0;

    if (0 == child) {
        if (freopen("/dev/null", "w", stderr) == NULL)
            _exit(1);
        execl(program, program, "relaxed", (char *)NULL);
        _exit(1);
    }
    return child == waitpid(child, &status, 0) && WIFEXITED(status) && 66 == WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    pthread_t threads[MEMBERS * THREADS + 1];

    relaxed = argc > 1;
    for (uint32_t i = 0; i < MEMBERS; i++) {
        pthread_barrier_init(&blocks[i].together, NULL, THREADS);
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
    if (!limits())
        return puts("FAIL: time limits or failures") < 0 ? 2 : 1;
    if (!race_is_found(argv[0]))
        return puts("FAIL: the sanitizer does not find the race of relaxed barriers") < 0 ? 2 : 1;
    return 0;
}
