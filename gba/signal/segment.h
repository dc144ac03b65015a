/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that the members of a team on one host share: a few lines for the node barrier (node.h)
 * and the slots of the signals (shm.h).
 *
 * It never has a name: the creator makes an anonymous file (memfd), the others open that very file
 * through /proc/PID/fd/FD of the creator, which the kernel allows only to the same user (or root)
 * in the same PID namespace. So there is nothing to leave behind, and no name to guess. What they
 * opened is believed only if its owner, size, seals and a random cookie are right: the number may
 * belong to another process by then.
 *
 * Layout, from the start: a line of header and one with the count of those who sleep (base/park.h)
 * and the word of a dead device (gba/software.h); arrived; release; the slots, by member. They
 * stand 128 bytes apart, since CPUs fetch lines in pairs. Size: 384 bytes + members * slots * 64, a
 * row of slots rounded up to 128; 16 members: 2.4 KiB for v3 or the node barrier, 4.4 KiB for v1,
 * 8.4 KiB for v2 with radix 8; in whole pages.
 */
#ifndef GBA_SIGNAL_SEGMENT_H
#define GBA_SIGNAL_SEGMENT_H

#include "gba/base/order.h"
#include "gba/gba.h"

#define GBA_SLOT_SIZE        64u  /* a line: a store to one slot disturbs no reader of another */
#define GBA_SEGMENT_STRIDE   128u /* two lines */
#define GBA_SEGMENT_SLEEPERS 64u  /* beside the header: lines that nobody writes in a barrier */
#define GBA_SEGMENT_DEATH    72u  /* the leader's word to its node; beside the sleepers' */
#define GBA_SEGMENT_ARRIVED  GBA_SEGMENT_STRIDE
#define GBA_SEGMENT_RELEASE  (2u * GBA_SEGMENT_STRIDE)
#define GBA_SEGMENT_SLOTS    (3u * GBA_SEGMENT_STRIDE)

/* More members than a host has CPUs by far, and the sizes below stay under 2 GiB. */
#define GBA_SEGMENT_MEMBERS_MAX 16384u
#define GBA_SEGMENT_SLOTS_MAX   2048u

/* What the others need in order to find the segment: the creator broadcasts it. No padding. */
struct gba_segment_ticket {
    uint64_t cookie[2];
    uint32_t pid, fd;
    uint32_t members, slots;
};

struct gba_segment {
    unsigned char *base;
    size_t bytes;
    uint32_t members, slots, row; /* row: bytes from one member's slots to the next's */
    int fd;                       /* the creator's, until everybody has attached; else -1 */
};

/*
 * Make a segment.
 * members: 1 to GBA_SEGMENT_MEMBERS_MAX, of this host. slots: of each, 0 to GBA_SEGMENT_SLOTS_MAX;
 * 0 if only the node barrier is needed.
 * sequence: all words start with it: the first round is sequence + 1.
 * Returns GBA_OK; GBA_ERR_PARAM; GBA_ERR_NOMEM (memory, address space or file descriptors);
 * GBA_ERR_UNSUPPORTED (the kernel has no memfd); GBA_ERR_IO. Logged here.
 * Thread-safe. Not collective: the leader calls it, and then sends the ticket to the others.
 * All memory is taken here: no later access can fail for lack of it.
 */
gba_status_t gba_shm_segment_create(uint32_t members, uint32_t slots, uint32_t sequence,
                                    struct gba_segment *segment, struct gba_segment_ticket *ticket);

/*
 * Map the segment of another process of this host (or of this one).
 * Returns GBA_OK; GBA_ERR_PERM (another user's, or not ours to see: other PID namespace, hardened
 * /proc); GBA_ERR_STALE (there is no such file, or it is not the one); GBA_ERR_VERSION;
 * GBA_ERR_NOMEM; GBA_ERR_IO. Logged here. Thread-safe.
 */
gba_status_t gba_shm_segment_attach(const struct gba_segment_ticket *ticket,
                                    struct gba_segment *segment);

/*
 * The creator calls it when all have attached, or failed to (the fence of the agreement): nobody
 * can attach any more. Allowed on an attached segment, where it does nothing.
 */
void gba_shm_segment_shut(struct gba_segment *segment);

/* Unmap; the memory is freed when the last member, alive or killed, has gone. Sends nothing. */
void gba_shm_segment_close(struct gba_segment *segment);

/* A word of all: GBA_SEGMENT_SLEEPERS, _DEATH, _ARRIVED or _RELEASE. */
static inline gba_word_t *gba_segment_word(const struct gba_segment *segment, uint32_t offset)
{
    return (gba_word_t *)(void *)(segment->base + offset);
}

/* Slot 0 of a member; slot i is GBA_SLOT_SIZE * i bytes on. */
static inline gba_word_t *gba_segment_slots(const struct gba_segment *segment, uint32_t member)
{
    return (gba_word_t *)(void *)(segment->base + GBA_SEGMENT_SLOTS +
                                  (size_t)member * segment->row);
}

#endif
