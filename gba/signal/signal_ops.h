/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What carries the signals of a software barrier: slots of shared memory, messages of a PML, puts
 * of OpenSHMEM. A transport serves one team; a transport's own structure begins with struct
 * gba_signals.
 *
 * The world that an algorithm sees: each member has an array of slots; a slot is two words, one for
 * even and one for odd sequences (its parity). A word holds a 32-bit sequence. A word has one
 * writer: a member that the schedule names, or (the slot that others read) its owner.
 *
 * What a transport promises:
 * 1. A set is performed, some time; the time is not bounded and nobody need call anything at the
 *    member that it is for, but for `progress` and the functions of this table.
 * 2. Release and acquire: if a member sees the sequence that a set stored, it sees all that the
 *    setter wrote, or saw, before the set. Over a network that means memory of its own; data that
 * the program put to others is the caller's to complete first (OpenSHMEM: quiet).
 * 3. No tearing: `mine` and `peek` give a value that a set stored, whole, or the first value. A
 *    word must be an object that the machine stores in one access (a put of 4 or 8 aligned bytes
 *    that the standard does not call atomic is not enough: use its atomic set).
 * 4. No order between different words. Sets of two rounds to one slot go to two words, so a late
 * one never overwrites a newer one. (Sets to one word need no care either: the barrier itself keeps
 *    them apart. The setter begins round n + 2 when all have begun n + 1, so when this member has
 *    left n, for which it had to see the set of n.) A set may be performed more than once if all
 *    repeats come before the next set of the same word.
 *    A transport that performs all sets of one member to one slot in their order, each once, may
 * use one word for both parities: shared memory does.
 * 5. Run-ahead by one: a set of round n + 1 may arrive while this member still waits for round n,
 * or before it started n at all in the case of the very first rounds. It is kept. A set of n + 2
 *    never arrives before this member has started n + 1.
 * 6. `peek` may be late: it may give an older value of the word, as long as repeated calls, with
 *    progress between them, give the newer one in the end. So it may start a read and answer from
 * the last that ended.
 *
 * Before the first round is sequence + 1 all words hold `sequence`, as in a barrier group.
 *
 * No function blocks. One thread at a time per transport object, but for members that share one
 * process (tests), each with its own object.
 */
#ifndef GBA_SIGNAL_SIGNAL_OPS_H
#define GBA_SIGNAL_SIGNAL_OPS_H

#include "gba/gba.h"

struct gba_signal_ops;

struct gba_signals {
    const struct gba_signal_ops *ops;
};

struct gba_signal_ops {
    const char *name; /* "shm", "pml", "spml" */

    /*
     * Store `seq` to the word (slot, parity of seq) of a member; peer may be this member itself.
     * Never waits: what cannot be sent now the transport keeps, and sends from progress.
     * Returns GBA_OK, or GBA_ERR_IO (the connection is lost; logged there).
     * Release.
     */
    gba_status_t (*set)(struct gba_signals *signals, uint32_t peer, uint32_t slot, uint32_t seq);

    /* The word (slot, parity) of this member. Acquire. */
    uint32_t (*mine)(struct gba_signals *signals, uint32_t slot, uint32_t parity);

    /*
     * The word (slot, parity) of another member. Acquire. NULL if the transport cannot read: then
     * the team cannot use algorithms that pull.
     */
    uint32_t (*peek)(struct gba_signals *signals, uint32_t peer, uint32_t slot, uint32_t parity);

    /*
     * Move what is under way; the waiter calls it now and then. NULL if there is nothing to do.
     * Returns GBA_OK or GBA_ERR_IO.
     */
    gba_status_t (*progress)(struct gba_signals *signals);

    /* Frees the object. Sends nothing, does not block. NULL if its owner keeps it otherwise. */
    void (*destroy)(struct gba_signals *signals);
};

/* Which of the two words of a slot a sequence goes to. */
static inline uint32_t gba_signal_parity(uint32_t seq)
{
    return seq & 1u; /* 2^32 is even, so the parities alternate over the wrap as well */
}

#endif
