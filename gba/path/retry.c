/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/path/retry.h"

/* The first reading comes after this many typical rounds: other members are late by less in most
 * rounds. */
#define ROUNDS 4u

/* A proof of a loss takes this part of the first pause: a typical round, in which a release on its
 * way arrives. */
#define PROOF 4u

/* What a team that has measured nothing assumes. It waits GBA_RETRY_FIRST_MAX before its first
 * reading. */
#define TYPICAL_FIRST (GBA_RETRY_FIRST_MAX / ROUNDS)

/* A typical round is never taken for shorter, so that it can grow again. */
#define TYPICAL_MIN 1000u

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t greatest_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void gba_retry_init(struct gba_retry *retry, uint64_t fixed)
{
    *retry = (struct gba_retry){.fixed = fixed, .typical = TYPICAL_FIRST};
}

/* The automatic first pause. */
static uint64_t first_pause(uint64_t typical, uint32_t members)
{
    uint64_t pause = greatest_of(ROUNDS * typical, (uint64_t)members * GBA_RETRY_MEMBER);

    return least_of(greatest_of(pause, GBA_RETRY_FIRST_MIN), GBA_RETRY_FIRST_MAX);
}

/*
 * The typical round is the median of the rounds, or about that: a quarter up after each longer one,
 * and as much down after each shorter one. Losses of other members make some rounds long. They
 * would raise a mean, and so the first pause, and so the mean. They leave a median alone until they
 * are in half of all rounds.
 */
static void typical_longer(struct gba_retry *retry)
{
    retry->typical = least_of(retry->typical * 5 / 4, TYPICAL_FIRST);
}

static void typical_shorter(struct gba_retry *retry)
{
    retry->typical = greatest_of(retry->typical * 4 / 5, TYPICAL_MIN);
}

void gba_retry_begin(struct gba_retry *retry, uint64_t now, uint32_t members, uint64_t before)
{
    for (; before > 0 && retry->typical > TYPICAL_MIN; before--)
        typical_shorter(retry);
    retry->first = 0 != retry->fixed ? retry->fixed : first_pause(retry->typical, members);
    retry->pause = retry->first;
    retry->due = now + retry->pause;
    retry->loss = GBA_LOSS_NONE;
    retry->resent = false;
}

void gba_retry_later(struct gba_retry *retry, uint64_t now)
{
    uint64_t most = GBA_RETRY_PAUSE_MAX;

    if (0 != retry->fixed)
        most = retry->fixed * GBA_RETRY_FACTOR_MAX;
    retry->pause = least_of(2 * retry->pause, most);
    retry->due = now + retry->pause;
    retry->loss = GBA_LOSS_NONE;
}

void gba_retry_again(struct gba_retry *retry, uint64_t now)
{
    retry->due = now + GBA_RETRY_AGAIN;
}

bool gba_retry_read(struct gba_retry *retry, uint64_t now, enum gba_loss loss)
{
    if (GBA_LOSS_NONE != loss && loss != retry->loss) {
        retry->loss = loss;
        retry->due = now + retry->first / PROOF;
        return false;
    }
    gba_retry_later(retry, now);
    retry->resent = retry->resent || GBA_LOSS_NONE != loss;
    return GBA_LOSS_NONE != loss;
}

void gba_retry_end(struct gba_retry *retry, uint64_t took)
{
    /* A round with a loss of this member is not typical. */
    if (retry->resent)
        return;
    if (took > retry->typical)
        typical_longer(retry);
    else
        typical_shorter(retry);
}
