/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A transport carries the signals of a software barrier: through slots of shared memory, messages
 * of a PML, or puts of OpenSHMEM. A transport serves one team. Its own structure begins with struct
 * gba_transport.
 *
 * The memory model of an algorithm: each member has an array of slots. A slot is two words, one for
 * even and one for odd sequences (the parity). A word holds a 32-bit sequence and has one writer:
 * the member that the schedule names, or its owner (for a slot that other members read).
 *
 * What a transport guarantees:
 * 1. A set is performed eventually, without a bound on time. The target member need not call
 * anything but `progress` and the functions of this table.
 * 2. Release and acquire: a member that sees the sequence stored by a set sees everything that the
 *    setter wrote or saw before the set. Over a network this covers the setter's own memory. The
 *    caller first completes data that the program put to other members (OpenSHMEM: quiet).
 * 3. No tearing: `load` and `peek` return a complete value that a set stored, or the first value. A
 *    word must be an object that the machine stores in one access. A put of 4 or 8 aligned bytes
 * that the standard does not call atomic is not enough; use the standard's atomic set.
 * 4. No order between different words. Sets of two successive rounds to one slot go to two words,
 * so a late set never overwrites a newer one. Two sets to one word are two rounds apart, and the
 *    barrier itself separates them: the setter starts round n + 2 only after all members have
 * started n + 1, hence after this member has left n, for which it saw the set of n. A set may be
 * performed repeatedly if all repeats precede the next set of the same word. A transport that
 * performs all sets of one member to one slot in order, each once, may use one word for both
 * parities. Shared memory does.
 * 5. Run-ahead by one: a set of round n + 1 may arrive while this member still waits for round n,
 * or, at the very first rounds, before this member has started n. The transport keeps it. A set of
 *    n + 2 never arrives before this member has started n + 1.
 * 6. `peek` may lag: it may return an older value of the word, as long as repeated calls with
 *    progress between them finally return the newer one. It may start a read and return the result
 * of the last completed one.
 * 7. A set may stay in this process until `progress`, or the runtime's own progress, finds room for
 *    it in the network. `sent` reports that no set is left. A member leaves a barrier only then,
 *    because after the barrier the member may call nothing for hours.
 *
 * Before the first round, sequence + 1, all words hold `sequence`, as in a barrier group.
 *
 * No function blocks. One thread at a time per transport object. Members that share one process
 * (tests) each have their own object.
 */
#ifndef GBA_TRANSPORT_TRANSPORT_H
#define GBA_TRANSPORT_TRANSPORT_H

#include "gba/gba.h"

struct gba_transport_ops;

struct gba_transport {
    const struct gba_transport_ops *ops;
    bool given_up; /* to be destroyed in the middle of a barrier, see gba_remote_group_t.path */
};

struct gba_transport_ops {
    const char *name; /* "shm", "pml", "spml" */

    /*
     * Store `seq` to the word (slot, parity of seq) of a member. peer may be this member itself.
     * Never waits: the transport keeps what it cannot send now and sends it from progress.
     * Returns GBA_OK, or GBA_ERR_IO (the connection is lost; logged there).
     * Release.
     */
    gba_status_t (*set)(struct gba_transport *transport, uint32_t peer, uint32_t slot,
                        uint32_t seq);

    /*
     * The barrier `seq` begins, before the first set. Only tree calls it, because there members
     * wait before their first set. Slot 0 is free for the transport then. NULL: nothing to do.
     * Returns as set.
     */
    gba_status_t (*begin)(struct gba_transport *transport, uint32_t seq);

    /* The word (slot, parity) of this member. Acquire. */
    uint32_t (*load)(struct gba_transport *transport, uint32_t slot, uint32_t parity);

    /*
     * The word (slot, parity) of another member. Acquire. NULL if the transport cannot read; the
     * team then cannot use algorithms that pull.
     */
    uint32_t (*peek)(struct gba_transport *transport, uint32_t peer, uint32_t slot,
                     uint32_t parity);

    /*
     * Whether all sets of this member have left its process. Whether the peers have received them
     * does not count, because that may depend on the peers' next calls.
     * Returns GBA_OK, GBA_INPROGRESS (call progress and ask again), or GBA_ERR_IO.
     * NULL: a set has left the process when `set` returns.
     */
    gba_status_t (*sent)(struct gba_transport *transport);

    /*
     * Advance pending transfers. The waiting member calls it regularly. NULL: nothing to do.
     * Returns GBA_OK or GBA_ERR_IO.
     */
    gba_status_t (*progress)(struct gba_transport *transport);

    /* Free the object. Sends nothing, does not block. NULL if the owner frees it otherwise. */
    void (*destroy)(struct gba_transport *transport);
};

/* The word of a slot that a sequence is stored to. */
static inline uint32_t gba_slot_parity(uint32_t seq)
{
    return seq & 1u; /* 2^32 is even, so the parity alternates across the wrap, too */
}

#endif
