/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "gba/base/park.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A futex has 32 bits: the low half, where sequences are. */
static uintptr_t futex_of(const gba_word_t *word)
{
    return (uintptr_t)word + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof(uint32_t) : 0);
}

void gba_word_park(gba_word_t *word, uint64_t seen, uint64_t timeout, gba_word_t *sleepers)
{
    const struct timespec limit = {.tv_sec = (time_t)(timeout / 1000000000u),
                                   .tv_nsec = (long)(timeout % 1000000000u)};

    /* Count first, then look: the kernel looks at the word behind a full barrier of its own, and
     * does not sleep if it has changed. */
    gba_word_add_acq_rel(sleepers, 1);
    syscall(SYS_futex, futex_of(word), FUTEX_WAIT, (uint32_t)seen, &limit, NULL, 0);
    gba_word_add_acq_rel(sleepers, ~(uint64_t)0); /* -1 */
}

void gba_word_wake(gba_word_t *word)
{
    syscall(SYS_futex, futex_of(word), FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
