/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals through shared memory: a transport (signal_ops.h) on the slots of a segment. A slot is
 * one word for both parities, since stores of one thread to one word are seen in their order.
 */
#ifndef GBA_SIGNAL_SHM_H
#define GBA_SIGNAL_SHM_H

#include "gba/signal/segment.h"
#include "gba/signal/signal_ops.h"
#include "gba/soft/algorithm.h"

struct gba_shm {
    struct gba_signals base;
    gba_word_t *slots; /* of member 0 */
    size_t row;        /* words from one member's slots to the next's */
    gba_word_t *mine;
    gba_word_t *sleepers; /* of the segment, for gba_word_park */
};

extern const struct gba_signal_ops gba_shm_ops;

/*
 * v1, v2 and v3 for members that are all on one host: the same steps as gba_soft_*, with the
 * transport compiled in. The signals must be a struct gba_shm.
 */
extern const struct gba_algorithm gba_shm_dissemination;
extern const struct gba_algorithm gba_shm_radix;
extern const struct gba_algorithm gba_shm_central;

/*
 * Make the transport of a member: its number among the segment's members. The segment must outlive
 * it. Cannot fail; nothing to free.
 */
void gba_shm_init(struct gba_shm *shm, const struct gba_segment *segment, uint32_t member);

/* What stands in slot 0 of a member. Acquire. */
uint32_t gba_shm_peek(const struct gba_shm *shm, uint32_t member);

/* The word whose next store a member waits for; its barrier must be under way and not over. */
gba_word_t *gba_shm_awaited(const struct gba_shm *shm, const struct gba_algorithm *algorithm,
                            const struct gba_soft *soft);

#endif
