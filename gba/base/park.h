/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleep until a word of shared memory changes, for long waits. Works between processes (a shared
 * futex).
 *
 * A separate word counts the sleepers. Every barrier loads it, so it belongs in a line that is
 * rarely written: every core then holds a copy, and the load is a cache hit. In the line of the
 * awaited word, which other members poll, the load is a miss, and a barrier of two cores takes half
 * as long again.
 */
#ifndef GBA_BASE_PARK_H
#define GBA_BASE_PARK_H

#include "gba/base/order.h"

/*
 * Sleep while *word is `seen`, at most for the timeout. May return early, so the caller checks
 * again. timeout: 0 to 1,000,000,000 ns. sleepers: the count that gba_word_unpark loads. A process
 * that is killed here stays counted; every later unpark then costs one needless system call.
 * Thread-safe.
 */
void gba_word_park(gba_word_t *word, uint64_t seen, uint64_t timeout, gba_word_t *sleepers);

/* The slow half of gba_word_unpark: one system call. Thread-safe. */
void gba_word_wake(gba_word_t *word);

/* gba_word_park on a release flag, whose low half has another offset on a big-endian host. seen: a
 * value of gba_flag_load_acquire or gba_flag_load_relaxed. */
void gba_flag_park(gba_flag_t *flag, uint64_t seen, uint64_t timeout, gba_word_t *sleepers);

/* The slow half of gba_flag_unpark: one system call. Thread-safe. */
void gba_flag_wake(gba_flag_t *flag);

/*
 * Wake all sleepers on the word, after a store to it. No fence separates that store from the load
 * of the count, because every barrier would pay for it. A sleeper that counts itself at this very
 * moment can be missed; its timeout wakes it.
 */
static inline void gba_word_unpark(gba_word_t *word, gba_word_t *sleepers)
{
    if (__builtin_expect(0 != gba_word_load_relaxed(sleepers), 0))
        gba_word_wake(word);
}

/* gba_word_unpark on a release flag. */
static inline void gba_flag_unpark(gba_flag_t *flag, gba_word_t *sleepers)
{
    if (__builtin_expect(0 != gba_word_load_relaxed(sleepers), 0))
        gba_flag_wake(flag);
}

#endif
