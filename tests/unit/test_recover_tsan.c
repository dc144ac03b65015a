/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers to notices from another thread than the one that is in the barriers, for ThreadSanitizer.
 * "Over n" tells a member elsewhere that all have arrived at n, so whoever gives that answer must
 * see what they wrote before, though it has not been in the barrier itself. Here one thread writes
 * a plain word and completes a round; the other asks for the answer, and reads that word.
 *
 * Exit status 0 if all is right; the sanitizer has its own (66).
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "gba/engine.h"

#define ROUNDS 2000u
#define ID     77u

static struct {
    struct gba_team *team;
    uint64_t written[ROUNDS + 1]; /* by others, before they arrived at that round */
} world;

/* What recover.c would look at besides: the device is dead, and nobody is released by it. */

gba_status_t gba_poll_release(gba_local_state_t *state)
{
    (void)state;
    return GBA_INPROGRESS;
}

gba_status_t gba_software_test(struct gba_software *software)
{
    (void)software;
    return GBA_INPROGRESS;
}

gba_status_t gba_software_finish(struct gba_software *software)
{
    (void)software;
    return GBA_INPROGRESS;
}

void gba_interim_close(struct gba_team *team)
{
    (void)team;
}

static void *barriers(void *arg)
{
    (void)arg;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        world.written[round] = 3 * round;
        (void)gba_team_complete(world.team);
    }
    return NULL;
}

/* Returns whether each answer came with what it promises. */
static bool answers(void)
{
    gba_notice_t question = {.team = ID, .since = UINT64_MAX, .member = 1}, answer;

    for (question.round = 1; question.round <= ROUNDS; question.round++) {
        while (GBA_OK != gba_notice_answer(&question, &answer))
            sched_yield();
        if (!answer.over || answer.round != question.round ||
            world.written[question.round] != 3 * question.round)
            return false;
    }
    return true;
}

int main(void)
{
    pthread_t thread;
    bool right;

    world.team = calloc(1, sizeof *world.team + gba_recovery_bytes(2));
    if (NULL == world.team)
        return 1;
    world.team->size = 2;
    gba_recovery_register(world.team, ID);
    if (0 != pthread_create(&thread, NULL, barriers, NULL))
        return 1;
    right = answers();
    pthread_join(thread, NULL);
    gba_recovery_end(world.team);
    free(world.team);
    puts(right ? "each answer brings what it promises" : "FAILED");
    return right ? 0 : 1;
}
