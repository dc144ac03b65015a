/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers to notifications from another thread than the one that is in the barriers, for
 * ThreadSanitizer. "Completed n" states that all members have arrived at n. So the thread that
 * answers must see what they wrote before their arrivals, although it was not in the barrier
 * itself. Here one thread writes a plain word and completes a round. The other thread requests the
 * answer, and reads that word.
 *
 * Exit status 0: no error; 66: the sanitizer found an error.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "gba/failover/failover.h"
#include "gba/path/path_hybrid.h"

#define ROUNDS 2000u
#define ID     77u

/* The team has no such path. */
void gba_path_hybrid_bypass(struct gba_path_hybrid *hybrid)
{
    (void)hybrid;
}

gba_status_t gba_path_hybrid_withdraw(struct gba_path_hybrid *hybrid)
{
    (void)hybrid;
    return GBA_OK;
}

void gba_path_hybrid_peers(const struct gba_path_hybrid *hybrid, struct gba_extra_peers *extra)
{
    (void)hybrid, (void)extra;
}

static struct {
    struct gba_team *team;
    uint64_t written[ROUNDS + 1]; /* by other members, before they arrived at that round */
} harness;

static void *barriers(void *arg)
{
    (void)arg;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        harness.written[round] = 3 * round;
        (void)gba_team_complete(harness.team);
    }
    return NULL;
}

/* Returns whether each answer came with the value that it guarantees. */
static bool answers(void)
{
    gba_notification_t question = {.team = ID, .first_bypassed = UINT64_MAX, .member = 1}, answer;

    for (question.round = 1; question.round <= ROUNDS; question.round++) {
        while (GBA_OK != gba_notification_answer(&question, &answer))
            sched_yield();
        if (!answer.completed || answer.round != question.round ||
            harness.written[question.round] != 3 * question.round)
            return false;
    }
    return true;
}

int main(void)
{
    pthread_t thread;
    bool right;

    harness.team = calloc(1, gba_team_bytes(2));
    if (harness.team == NULL)
        return 1;
    harness.team->size = 2;
    gba_failover_register(harness.team, ID);
    if (0 != pthread_create(&thread, NULL, barriers, NULL))
        return 1;
    right = answers();
    pthread_join(thread, NULL);
    gba_failover_close(harness.team);
    free(harness.team);
    puts(right ? "each answer brings what it promises" : "FAILED");
    return right ? 0 : 1;
}
