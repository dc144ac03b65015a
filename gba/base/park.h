/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping until a word of shared memory changes, for waits that take long. Works between processes
 * (futex, not the private kind).
 *
 * Those who sleep are counted in a word of its own. Where every barrier looks at it, it stands in a
 * line that is hardly ever written: then all cores hold a copy, and the look is a hit. Beside the
 * word that is waited for, which the others poll, it is a miss: that made a barrier of two cores
 * longer by half (contrib/bench/shm_floor).
 */
#ifndef GBA_BASE_PARK_H
#define GBA_BASE_PARK_H

#include "gba/base/order.h"

/*
 * Sleep while *word is `seen`, at most so long. Returns early for any reason or none: the caller
 * looks again. timeout: 0 to 1,000,000,000 ns. sleepers: the count that the waker looks at. Who is
 * killed here stays counted, which costs wakers a system call each, and no more. Thread-safe.
 */
void gba_word_park(gba_word_t *word, uint64_t seen, uint64_t timeout, gba_word_t *sleepers);

/* The slow half of gba_word_unpark. */
void gba_word_wake(gba_word_t *word);

/*
 * Wake all that sleep on the word, after a store to it. There is no fence between that store and
 * the look at the count, which every barrier would pay for: so once in a while a sleeper that
 * counts itself at this very moment is missed, and wakes by its timeout.
 */
static inline void gba_word_unpark(gba_word_t *word, gba_word_t *sleepers)
{
    if (__builtin_expect(0 != gba_word_load_relaxed(sleepers), 0))
        gba_word_wake(word);
}

#endif
