/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a waiting member reads the registers of the device, and when it believes a loss. Pure: the
 * caller supplies the times, in ns.
 *
 * The first reading of a round comes after four times a typical round, between 100 us and 20 ms.
 * Each later pause is twice as long, up to 1.6 s. So a barrier with a lost arrival costs some
 * hundred rounds, and a rank that is late by seconds causes a dozen readings.
 */
#ifndef GBA_PATH_RETRY_H
#define GBA_PATH_RETRY_H

#include <stdbool.h>
#include <stdint.h>

/* The least and the longest time before the first reading of a round. */
#define GBA_RETRY_FIRST_MIN 100000u
#define GBA_RETRY_FIRST_MAX 20000000u

/* A fixed pause doubles up to this many times its length. */
#define GBA_RETRY_FACTOR_MAX 16u

/* The longest automatic pause. */
#define GBA_RETRY_PAUSE_MAX 1600000000u

/*
 * All members of a group that wait read the registers. The least time before the first reading is
 * this time for each member, so the device gets one reading of the group in this time.
 */
#define GBA_RETRY_MEMBER 10000u

/* Time between two checks for the answer of a device. */
#define GBA_RETRY_AGAIN 1000000u

/* What the registers show of this member's round. */
enum gba_loss { GBA_LOSS_NONE, GBA_LOSS_ARRIVAL, GBA_LOSS_RELEASE };

struct gba_retry {
    uint64_t fixed;     /* the first pause, by the parameter retry_after; 0: automatic */
    uint64_t typical;   /* the duration of a typical round; learned */
    uint64_t first;     /* the first pause of this round */
    uint64_t pause;     /* the current pause of this round */
    uint64_t due;       /* time of the next reading */
    enum gba_loss loss; /* what the last reading showed */
    bool resent;        /* an arrival was resent in this round */
};

/* Initialise. fixed: ns, 0: automatic. */
void gba_retry_init(struct gba_retry *retry, uint64_t fixed);

/* A round is waited for since `now`. members: of the group, each of which reads its registers.
 * before: rounds since the last one that was waited for; each was too short to be measured. */
void gba_retry_begin(struct gba_retry *retry, uint64_t now, uint32_t members, uint64_t before);

/* Set the time of the next reading; the registers could not be read, or not for a loss. */
void gba_retry_later(struct gba_retry *retry, uint64_t now);

/* The device has not answered yet: check again soon. The pause and the result of the last reading
 * stay. */
void gba_retry_again(struct gba_retry *retry, uint64_t now);

/*
 * A reading shows `loss`. Set the time of the next reading. Returns whether to resend the arrival:
 * only the second of two consecutive readings proves a loss, because at the first one a release may
 * be on its way, and the device may have completed the round between the reads of two registers.
 */
bool gba_retry_read(struct gba_retry *retry, uint64_t now, enum gba_loss loss);

/* The round has ended, `took` ns after gba_retry_begin. */
void gba_retry_end(struct gba_retry *retry, uint64_t took);

#endif
