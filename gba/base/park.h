/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping until a word of shared memory changes, for waits that take long. Works between processes
 * (futex, not the private kind).
 *
 * The word behind the word that is waited for is a mark, in the same line: whoever stores to the
 * first looks at the second, which costs next to nothing as the line is his at that moment, and
 * makes a system call only if somebody sleeps.
 */
#ifndef GBA_BASE_PARK_H
#define GBA_BASE_PARK_H

#include "gba/base/order.h"

/*
 * Sleep while *word is `seen`, at most so long. Returns early for any reason or none: the caller
 * looks again. timeout: 0 to 1,000,000,000 ns. Thread-safe.
 */
void gba_word_park(gba_word_t *word, uint64_t seen, uint64_t timeout);

/* The slow half of gba_word_unpark. */
void gba_word_wake(gba_word_t *word);

/*
 * Wake all that sleep on the word, after a store to it. There is no fence between that store and
 * the look at the mark, which every barrier would pay for: so once in a while a sleeper that marks
 * the word at this very moment is missed, and wakes by its timeout.
 */
static inline void gba_word_unpark(gba_word_t *word)
{
    if (__builtin_expect(0 != gba_word_load_relaxed(word + 1), 0))
        gba_word_wake(word);
}

#endif
