/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that the members of a team on one host share: the words of the node barrier
 * (node_barrier.h) and the slots of the transport (shm.h).
 *
 * A segment has no name. The creator makes an anonymous file (memfd); the other members open that
 * file through /proc/PID/fd/FD of the creator, which the kernel permits only to the same user (or
 * root) in the same PID namespace. A job therefore leaves no file behind, and no name can be
 * guessed. A member accepts the file only if its owner, size, seals and a random cookie match,
 * because the process number may have been reused.
 *
 * Layout, from the start: one line of header; one line with the count of sleeping members
 * (base/park.h) and the word that reports a failed device (gba/path/path.h); arrived; release;
 * the slots, by member. They are 128 bytes apart, because CPUs prefetch lines in pairs. Size: 384
 * bytes + members * slots * 64, with each member's slots rounded up to 128 bytes, in whole pages.
 * For 16 members: 2.4 KiB for central or the node barrier, 4.4 KiB for dissemination and for the
 * flags of a node (node_flags.h), 8.4 KiB for radix 8, 24.4 KiB for dissemination and radix 3, 4
 * and 8 (gba/path/path_shared.h).
 */
#ifndef GBA_TRANSPORT_SEGMENT_H
#define GBA_TRANSPORT_SEGMENT_H

#include "gba/base/descriptor.h"
#include "gba/base/order.h"
#include "gba/gba.h"

#define GBA_SLOT_SIZE        64u  /* one line: a store to a slot invalidates no other slot */
#define GBA_SEGMENT_STRIDE   128u /* two lines */
#define GBA_SEGMENT_SLEEPERS 64u  /* beside the header: no barrier writes this line */
#define GBA_SEGMENT_FAILED   72u  /* the leader sets it when its device has failed */
#define GBA_SEGMENT_ARRIVED  GBA_SEGMENT_STRIDE
#define GBA_SEGMENT_RELEASE  (2u * GBA_SEGMENT_STRIDE)
#define GBA_SEGMENT_SLOTS    (3u * GBA_SEGMENT_STRIDE)

/* Far more members than a host has CPUs; the sizes below stay under 2 GiB. */
#define GBA_SEGMENT_MEMBERS_MAX 16384u
#define GBA_SEGMENT_SLOTS_MAX   2048u

/* What the other members need to find the segment. The creator broadcasts it. No padding. */
struct gba_segment_handle {
    uint64_t cookie[2];
    uint32_t pid, fd;
    uint32_t members, slots;
};

struct gba_segment {
    unsigned char *base;
    size_t bytes;
    uint32_t members, slots, row; /* row: bytes from one member's slots to the next member's */
    struct gba_descriptor file;   /* of the creator, until all members have attached; else -1 */
};

/*
 * Create a segment.
 * members: 1 to GBA_SEGMENT_MEMBERS_MAX, all on this host. slots: per member, 0 to
 * GBA_SEGMENT_SLOTS_MAX; 0 if only the node barrier is needed.
 * sequence: the first value of all words; the first round is sequence + 1.
 * Returns GBA_OK; GBA_ERR_PARAM; GBA_ERR_NOMEM (memory or address space);
 * GBA_ERR_NO_FILES; GBA_ERR_UNSUPPORTED (the kernel has no memfd); GBA_ERR_IO. Logged here.
 * Thread-safe. Not collective: the leader calls it and sends the handle to the other members.
 * All memory is allocated here, so no later access fails.
 */
gba_status_t gba_shm_segment_create(uint32_t members, uint32_t slots, uint32_t sequence,
                                    struct gba_segment *segment, struct gba_segment_handle *handle);

/*
 * Map the segment of another process of this host (or of this one).
 * Returns GBA_OK; GBA_ERR_PERM (another user's segment, another PID namespace, or a restricted
 * /proc); GBA_ERR_STALE (no such file, or a different file); GBA_ERR_VERSION;
 * GBA_ERR_NOMEM; GBA_ERR_NO_FILES; GBA_ERR_IO. Logged here. Thread-safe.
 */
gba_status_t gba_shm_segment_attach(const struct gba_segment_handle *handle,
                                    struct gba_segment *segment);

/*
 * Close the creator's descriptor, so that no further process can attach. The creator calls it when
 * all members have attached or failed to (after the vote of the agreement). No effect on an
 * attached segment.
 */
void gba_shm_segment_shut(struct gba_segment *segment);

/* Unmap the segment. The kernel frees the memory when the last member has unmapped it or died. */
void gba_shm_segment_close(struct gba_segment *segment);

/* A word shared by all members: GBA_SEGMENT_SLEEPERS, _FAILED, _ARRIVED or _RELEASE. */
static inline gba_word_t *gba_segment_word(const struct gba_segment *segment, uint32_t offset)
{
    return (gba_word_t *)(void *)(segment->base + offset);
}

/* Slot 0 of a member. Slot i is GBA_SLOT_SIZE * i bytes behind it. */
static inline gba_word_t *gba_segment_slots(const struct gba_segment *segment, uint32_t member)
{
    return (gba_word_t *)(void *)(segment->base + GBA_SEGMENT_SLOTS +
                                  (size_t)member * segment->row);
}

/* The place of a member (gba/base/place.h), 0 until the member stores it: the second word of
 * its slot 0, which no barrier uses. */
static inline gba_word_t *gba_segment_place(const struct gba_segment *segment, uint32_t member)
{
    return gba_segment_slots(segment, member) + 1;
}

#endif
