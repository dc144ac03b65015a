/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers with one fault each, which the search must find. The first three are faults of published
 * libraries.
 */
#ifndef TESTS_UNIT_ALGO_MUTANTS_H
#define TESTS_UNIT_ALGO_MUTANTS_H

#include "gba/algo/steps.h"
#include "algo_harness.h"

static uint32_t word_of(struct gba_transport *s, uint32_t slot, uint32_t seq)
{
    return s->ops->mine(s, slot, gba_slot_parity(seq));
}

static gba_status_t tell(struct gba_algo_state *b, struct gba_transport *s, uint32_t distance,
                         uint32_t slot)
{
    return s->ops->set(s, gba_sched_peer(b->rank, distance, b->size), slot, b->seq);
}

/*
 * Radix (v2) with independent lanes: each lane signals the next round when it has received its own
 * signal, whatever the other lanes have received. `seen` has a field of 4 bits for each of up to 8
 * lanes: its round.
 */
static gba_status_t lanes_start(struct gba_algo_state *b, struct gba_transport *s, uint32_t seq)
{
    b->seq = seq;
    b->seen = 0;
    for (uint32_t lane = 1; lane <= gba_sched_lanes(1, b->size, b->radix); lane++)
        (void)tell(b, s, lane, lane - 1);
    return GBA_OK;
}

static bool lane_test(struct gba_algo_state *b, struct gba_transport *s, uint32_t lane)
{
    uint32_t round = b->seen >> (4 * lane) & 15u, distance = 1;

    for (uint32_t r = 0; r < round; r++)
        distance *= b->radix;
    while (lane * distance < b->size) {
        if (!GBA_SEQ_REACHED(word_of(s, gba_sched_slot(round, lane, b->radix), b->seq), b->seq))
            return false;
        round++;
        distance *= b->radix;
        b->seen += 1u << (4 * lane);
        if (lane * distance < b->size)
            (void)tell(b, s, lane * distance, gba_sched_slot(round, lane, b->radix));
    }
    return true;
}

static gba_status_t lanes_test(struct gba_algo_state *b, struct gba_transport *s)
{
    bool done = true;

    for (uint32_t lane = 1; lane < b->radix; lane++)
        done &= lane_test(b, s, lane);
    return done ? GBA_OK : GBA_INPROGRESS;
}

/* Central (v3) that reads the other flags before it sets its own. */
static gba_status_t look_first_start(struct gba_algo_state *b, struct gba_transport *s,
                                     uint32_t seq)
{
    (void)s;
    b->seq = seq;
    b->seen = 1;
    return GBA_OK;
}

static gba_status_t look_first_test(struct gba_algo_state *b, struct gba_transport *s)
{
    if (b->seen > b->size)
        return GBA_OK;
    if (gba_central_test_on(s->ops, b, s) != GBA_OK)
        return GBA_INPROGRESS;
    b->seen++;
    return s->ops->set(s, b->rank, 0, b->seq);
}

/* Central (v3) that resets its flag to the round before when it leaves. */
static gba_status_t reset_test(struct gba_algo_state *b, struct gba_transport *s)
{
    if (b->seen > b->size)
        return GBA_OK;
    if (gba_central_test_on(s->ops, b, s) != GBA_OK)
        return GBA_INPROGRESS;
    b->seen++;
    return s->ops->set(s, b->rank, 0, b->seq - 2);
}

/* Central (v3) that never reads the last member's flag. */
static gba_status_t skip_test(struct gba_algo_state *b, struct gba_transport *s)
{
    b->size--;
    gba_status_t status = gba_central_test_on(s->ops, b, s);
    b->size++;
    return status;
}

/* Radix (v2) that does not wait for the last lane of a round. */
static gba_status_t short_lane_test(struct gba_algo_state *b, struct gba_transport *s)
{
    while (b->distance < b->size) {
        for (; b->seen + 1 < b->lanes; b->seen++) {
            if (!GBA_SEQ_REACHED(word_of(s, b->slot + b->seen, b->seq), b->seq))
                return GBA_INPROGRESS;
        }
        b->distance *= b->radix;
        b->slot += b->lanes;
        (void)gba_radix_round_on(s->ops, b, s);
    }
    return GBA_OK;
}

/* Dissemination (v1) that sends the signals of all rounds at once. */
static gba_status_t eager_start(struct gba_algo_state *b, struct gba_transport *s, uint32_t seq)
{
    b->seq = seq;
    b->seen = 0;
    for (uint32_t distance = 1, slot = 0; distance < b->size; distance *= 2, slot++)
        (void)tell(b, s, distance, slot);
    return GBA_OK;
}

static gba_status_t eager_test(struct gba_algo_state *b, struct gba_transport *s)
{
    for (; b->seen < gba_sched_rounds(b->size, 2); b->seen++) {
        if (!GBA_SEQ_REACHED(word_of(s, b->seen, b->seq), b->seq))
            return GBA_INPROGRESS;
    }
    return GBA_OK;
}

/* Dissemination (v1) with another comparison, or with fewer rounds. */
static gba_status_t v1_with(struct gba_algo_state *b, struct gba_transport *s, uint32_t size,
                            bool (*reached)(uint32_t, uint32_t))
{
    while (b->distance < size) {
        if (!reached(word_of(s, b->slot, b->seq), b->seq))
            return GBA_INPROGRESS;
        b->distance *= 2;
        b->slot++;
        if (b->distance < size)
            (void)tell(b, s, b->distance, b->slot);
    }
    return GBA_OK;
}

/* Right with one exception: it leaves when all have arrived, while its own signals have not left.
 */
static const struct gba_transport_ops hasty_ops = {
    .name = "hasty", .set = fake_set, .mine = fake_mine, .peek = fake_peek};

static gba_status_t hasty_v1_test(struct gba_algo_state *b, struct gba_transport *s)
{
    return gba_dissemination_test_on(&hasty_ops, b, s);
}

static gba_status_t hasty_v2_test(struct gba_algo_state *b, struct gba_transport *s)
{
    return gba_radix_test_on(&hasty_ops, b, s);
}

static gba_status_t hasty_v3_test(struct gba_algo_state *b, struct gba_transport *s)
{
    return gba_central_test_on(&hasty_ops, b, s);
}

static bool reached_right(uint32_t a, uint32_t b)
{
    return GBA_SEQ_REACHED(a, b);
}

static bool reached_widened(uint32_t a, uint32_t b)
{
    return (uint64_t)a >= (uint64_t)b;
}

static bool reached_signed(uint32_t a, uint32_t b)
{
    return (int32_t)a >= (int32_t)b;
}

static bool reached_equal(uint32_t a, uint32_t b)
{
    return a == b;
}

static gba_status_t widened_test(struct gba_algo_state *b, struct gba_transport *s)
{
    return v1_with(b, s, b->size, reached_widened);
}

static gba_status_t signed_test(struct gba_algo_state *b, struct gba_transport *s)
{
    return v1_with(b, s, b->size, reached_signed);
}

static gba_status_t equal_test(struct gba_algo_state *b, struct gba_transport *s)
{
    return v1_with(b, s, b->size, reached_equal);
}

static gba_status_t round_short_test(struct gba_algo_state *b, struct gba_transport *s)
{
    return v1_with(b, s, b->size / 2 + 1, reached_right);
}

static gba_status_t v1_start(struct gba_algo_state *b, struct gba_transport *s, uint32_t seq)
{
    return gba_dissemination_start_on(s->ops, b, s, seq);
}

static gba_status_t v2_start(struct gba_algo_state *b, struct gba_transport *s, uint32_t seq)
{
    return gba_radix_start_on(s->ops, b, s, seq);
}

static gba_status_t v3_start(struct gba_algo_state *b, struct gba_transport *s, uint32_t seq)
{
    return gba_central_start_on(s->ops, b, s, seq);
}

static uint32_t many_slots(uint32_t size, uint32_t radix)
{
    return gba_sched_rounds(size, radix) * (radix - 1);
}

static const struct gba_algorithm mutant_lanes = {.name = "lanes run ahead",
                                                  .pulls = false,
                                                  .slots = many_slots,
                                                  .start = lanes_start,
                                                  .test = lanes_test,
                                                  NULL};
static const struct gba_algorithm mutant_look_first = {.name = "look first",
                                                       .pulls = true,
                                                       .slots = gba_central_slots,
                                                       .start = look_first_start,
                                                       .test = look_first_test,
                                                       NULL};
static const struct gba_algorithm mutant_reset = {.name = "reset",
                                                  .pulls = true,
                                                  .slots = gba_central_slots,
                                                  .start = v3_start,
                                                  .test = reset_test,
                                                  NULL};
static const struct gba_algorithm mutant_skip = {.name = "skip",
                                                 .pulls = true,
                                                 .slots = gba_central_slots,
                                                 .start = v3_start,
                                                 .test = skip_test,
                                                 NULL};
static const struct gba_algorithm mutant_short_lane = {.name = "short lane",
                                                       .pulls = false,
                                                       .slots = gba_sched_slots,
                                                       .start = v2_start,
                                                       .test = short_lane_test,
                                                       NULL};
static const struct gba_algorithm mutant_eager = {.name = "eager",
                                                  .pulls = false,
                                                  .slots = gba_dissemination_slots,
                                                  .start = eager_start,
                                                  .test = eager_test,
                                                  NULL};
static const struct gba_algorithm mutant_widened = {.name = "widened",
                                                    .pulls = false,
                                                    .slots = gba_dissemination_slots,
                                                    .start = v1_start,
                                                    .test = widened_test,
                                                    NULL};
static const struct gba_algorithm mutant_signed = {.name = "signed",
                                                   .pulls = false,
                                                   .slots = gba_dissemination_slots,
                                                   .start = v1_start,
                                                   .test = signed_test,
                                                   NULL};
static const struct gba_algorithm mutant_equal = {.name = "equal",
                                                  .pulls = false,
                                                  .slots = gba_dissemination_slots,
                                                  .start = v1_start,
                                                  .test = equal_test,
                                                  NULL};
static const struct gba_algorithm mutant_round_short = {.name = "round short",
                                                        .pulls = false,
                                                        .slots = gba_dissemination_slots,
                                                        .start = v1_start,
                                                        .test = round_short_test,
                                                        NULL};
static const struct gba_algorithm mutant_hasty[] = {
    {.name = "hasty v1",
     .slots = gba_dissemination_slots,
     .start = v1_start,
     .test = hasty_v1_test},
    {.name = "hasty v2", .slots = gba_sched_slots, .start = v2_start, .test = hasty_v2_test},
    {.name = "hasty v3",
     .pulls = true,
     .slots = gba_central_slots,
     .start = v3_start,
     .test = hasty_v3_test},
};

#endif
