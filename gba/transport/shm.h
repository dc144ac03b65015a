/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared-memory transport (transport.h) on the slots of a segment. One word serves both
 * parities, because other threads see the stores of one thread to one word in order.
 */
#ifndef GBA_TRANSPORT_SHM_H
#define GBA_TRANSPORT_SHM_H

#include "gba/transport/segment.h"
#include "gba/transport/transport.h"
#include "gba/algo/algorithm.h"

struct gba_shm {
    struct gba_transport base;
    gba_word_t *slots; /* of member 0 */
    size_t row;        /* words from one member's slots to the next member's */
    gba_word_t *own;
    gba_word_t *sleepers; /* of the segment, for gba_word_park */
};

extern const struct gba_transport_ops gba_shm_ops;

/*
 * The algorithms for members that are all on one host: the same steps as gba_algorithms, with the
 * transport compiled in. The transport must be a struct gba_shm.
 */
extern const struct gba_algorithm gba_shm_algorithms[];

/*
 * Initialise the transport of a member. member: its index among the segment's members. first: the
 * slot of each member that is slot 0 of the transport. The segment must outlive the transport.
 * Cannot fail; owns nothing.
 */
void gba_shm_init(struct gba_shm *shm, const struct gba_segment *segment, uint32_t member,
                  uint32_t first);

/* Set this member's slot of the segment, counted from its first one. The caller sees to it that no
 * peer stores to it or waits for it. Relaxed. */
void gba_shm_mark(const struct gba_segment *segment, uint32_t member, uint32_t slot, uint32_t seq);

/* The value of slot 0 of a member. Acquire. */
uint32_t gba_shm_peek(const struct gba_shm *shm, uint32_t member);

/* The word that the member waits for. Its barrier must have started and not completed. */
gba_word_t *gba_shm_awaited(const struct gba_shm *shm, const struct gba_algorithm *algorithm,
                            const struct gba_algo_state *algo);

#endif
