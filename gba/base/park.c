/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "gba/base/park.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A futex has 32 bits. Sequences are in the low half of the word. */
static uintptr_t futex_of(const gba_word_t *word)
{
    return (uintptr_t)word + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof(uint32_t) : 0);
}

/* seen: the 32 bits as the kernel reads them, in the order of the host. */
static void futex_wait(uintptr_t futex, uint32_t seen, uint64_t timeout, gba_word_t *sleepers)
{
    const struct timespec limit = {.tv_sec = (time_t)(timeout / 1000000000u),
                                   .tv_nsec = (long)(timeout % 1000000000u)};

    /* Count first: the kernel compares the word behind a full barrier of its own and does not sleep
     * if the word has changed. */
    gba_word_add_acq_rel(sleepers, 1);
    syscall(SYS_futex, futex, FUTEX_WAIT, seen, &limit, NULL, 0);
    gba_word_add_acq_rel(sleepers, ~(uint64_t)0); /* -1 */
}

void gba_word_park(gba_word_t *word, uint64_t seen, uint64_t timeout, gba_word_t *sleepers)
{
    futex_wait(futex_of(word), (uint32_t)seen, timeout, sleepers);
}

/* A flag is little endian, so its low half comes first on every host. */
void gba_flag_park(gba_flag_t *flag, uint64_t seen, uint64_t timeout, gba_word_t *sleepers)
{
    futex_wait((uintptr_t)flag, htole32((uint32_t)seen), timeout, sleepers);
}

void gba_word_wake(gba_word_t *word)
{
    syscall(SYS_futex, futex_of(word), FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void gba_flag_wake(gba_flag_t *flag)
{
    syscall(SYS_futex, (uintptr_t)flag, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
