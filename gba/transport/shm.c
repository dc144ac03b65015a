/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/transport/shm.h"

#include "gba/base/park.h"
#include "gba/algo/steps.h"

static inline gba_word_t *slot_of(gba_word_t *slots, uint32_t slot)
{
    return slots + slot * (GBA_SLOT_SIZE / sizeof *slots);
}

/* Release: pairs with the acquire in load and in peek. */
static inline gba_status_t set(struct gba_transport *transport, uint32_t peer, uint32_t slot,
                               uint32_t seq)
{
    struct gba_shm *shm = (struct gba_shm *)transport;
    gba_word_t *word;

    word = slot_of(shm->slots + peer * shm->row, slot);
    gba_word_store_release(word, seq);
    gba_word_unpark(word, shm->sleepers);
    return GBA_OK;
}

/* The mark of this member's arrival, for gba_shm_peek. It has its own cache line, which only the
 * watchdog reads. */
static inline gba_status_t begin(struct gba_transport *transport, uint32_t seq)
{
    gba_word_store_relaxed(((struct gba_shm *)transport)->own, seq);
    return GBA_OK;
}

static inline uint32_t load(struct gba_transport *transport, uint32_t slot, uint32_t parity)
{
    struct gba_shm *shm = (struct gba_shm *)transport;

    (void)parity;
    return (uint32_t)gba_word_load_acquire(slot_of(shm->own, slot));
}

static inline uint32_t peek(struct gba_transport *transport, uint32_t peer, uint32_t slot,
                            uint32_t parity)
{
    struct gba_shm *shm = (struct gba_shm *)transport;

    (void)parity;
    return (uint32_t)gba_word_load_acquire(slot_of(shm->slots + peer * shm->row, slot));
}

const struct gba_transport_ops gba_shm_ops = {
    .name = "shm", .set = set, .begin = begin, .load = load, .peek = peek};

/* The compiler sees the constant table and expands its functions in the steps. */
#define STEPS(choice, steps, ...)                                                                  \
    static gba_status_t steps##_start(struct gba_algo_state *algo,                                 \
                                      struct gba_transport *transport, uint32_t seq)               \
    {                                                                                              \
        return gba_##steps##_start_on(&gba_shm_ops, algo, transport, seq);                         \
    }                                                                                              \
    static gba_status_t steps##_test(struct gba_algo_state *algo, struct gba_transport *transport) \
    {                                                                                              \
        return gba_##steps##_test_on(&gba_shm_ops, algo, transport);                               \
    }                                                                                              \
    static gba_status_t steps##_attempt(struct gba_algo_state *algo,                               \
                                        struct gba_transport *transport, uint32_t seq,             \
                                        uint32_t spins)                                            \
    {                                                                                              \
        gba_status_t status = gba_##steps##_start_on(&gba_shm_ops, algo, transport, seq);          \
                                                                                                   \
        if (GBA_OK == status)                                                                      \
            status = gba_##steps##_test_on(&gba_shm_ops, algo, transport);                         \
        while (GBA_INPROGRESS == status && --spins > 0) {                                          \
            gba_cpu_pause();                                                                       \
            status = gba_##steps##_test_on(&gba_shm_ops, algo, transport);                         \
        }                                                                                          \
        return status;                                                                             \
    }

#define ROW(choice, steps, ...)                   \
    [choice] = {.start = steps##_start,           \
                .test = steps##_test,             \
                .attempt = steps##_attempt,       \
                .awaited = gba_##steps##_awaited, \
                __VA_ARGS__},

GBA_ALGORITHMS(STEPS)

const struct gba_algorithm gba_shm_algorithms[] = {GBA_ALGORITHMS(ROW)};

gba_word_t *gba_shm_awaited(const struct gba_shm *shm, const struct gba_algorithm *algorithm,
                            const struct gba_algo_state *algo)
{
    gba_word_t *slots = shm->own;

    if (algorithm->pulls)
        slots = shm->slots + gba_sched_peer(algo->rank, algo->seen, algo->size) * shm->row;
    return slot_of(slots, algorithm->awaited(algo));
}

void gba_shm_init(struct gba_shm *shm, const struct gba_segment *segment, uint32_t member,
                  uint32_t first)
{
    *shm = (struct gba_shm){.base = {.ops = &gba_shm_ops},
                            .slots = slot_of(gba_segment_slots(segment, 0), first),
                            .row = segment->row / sizeof(gba_word_t),
                            .own = slot_of(gba_segment_slots(segment, member), first),
                            .sleepers = gba_segment_word(segment, GBA_SEGMENT_SLEEPERS)};
}

void gba_shm_mark(const struct gba_segment *segment, uint32_t member, uint32_t slot, uint32_t seq)
{
    gba_word_store_relaxed(slot_of(gba_segment_slots(segment, member), slot), seq);
}

uint32_t gba_shm_peek(const struct gba_shm *shm, uint32_t member)
{
    return (uint32_t)gba_word_load_acquire(slot_of(shm->slots + member * shm->row, 0));
}
