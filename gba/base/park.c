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

void gba_word_park(gba_word_t *word, uint64_t seen, uint64_t timeout)
{
    const struct timespec limit = {.tv_sec = (time_t)(timeout / 1000000000u),
                                   .tv_nsec = (long)(timeout % 1000000000u)};

    gba_word_store_relaxed(word + 1, 1);
    /* Mark first, then look (in the kernel, too): pairs with the store before gba_word_unpark,
     * which looks after it stored. */
    gba_fence_full();
    if (gba_word_load_relaxed(word) != seen)
        return;
    syscall(SYS_futex, futex_of(word), FUTEX_WAIT, (uint32_t)seen, &limit, NULL, 0);
}

void gba_word_wake(gba_word_t *word)
{
    /* Before the wake: who is woken and sleeps again marks it again. */
    gba_word_store_relaxed(word + 1, 0);
    syscall(SYS_futex, futex_of(word), FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
