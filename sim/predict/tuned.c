/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The barrier of Open MPI's component coll/tuned over the transport of the simulation: the decision
 * by the number of processes and the exchanges of each algorithm, as coll_tuned_decision_fixed.c
 * and coll_base_barrier.c of Open MPI 4.1 and 5.0 define them. In each step a member sends at most
 * one message, and waits for at most one. Its slot is the number of the step.
 */
#include "sim/predict/state.h"

#define NOBODY UINT32_MAX

enum own { LINEAR, DOUBLING, BRUCK, TREE };

static enum own own_of(uint32_t size)
{
    static const struct {
        uint32_t below;
        enum own own;
    } rules[] = {{4, DOUBLING}, {8, LINEAR},   {64, DOUBLING}, {256, BRUCK},
                 {512, TREE},   {1024, BRUCK}, {4096, TREE},   {UINT32_MAX, BRUCK}};
    size_t i = 0;

    while (size >= rules[i].below)
        i++;
    return rules[i].own;
}

const char *predict_tuned_name(uint32_t size)
{
    static const char *const names[] = {"linear", "recursive doubling", "bruck", "tree"};

    return names[own_of(size)];
}

/* The least n with 2^n >= size. */
static uint32_t rounds_of(uint32_t size)
{
    uint32_t n = 0;

    while (n < 31 && UINT32_C(1) << n < size)
        n++;
    return n;
}

static uint32_t steps_of(uint32_t size, uint32_t radix)
{
    const enum own own = own_of(size);

    (void)radix;
    if (size < 2)
        return 0;
    return LINEAR == own ? 2 * (size - 1)
           : TREE == own ? 2 * rounds_of(size)
                         : rounds_of(size) + (DOUBLING == own) * 2;
}

/* The messages of a step. to, from: a rank, or NOBODY. */
static void step(uint32_t rank, uint32_t size, uint32_t at, uint32_t *to, uint32_t *from)
{
    const uint32_t rounds = rounds_of(size);
    const uint32_t power =
        UINT32_C(1) << rounds > size ? UINT32_C(1) << (rounds - 1) : UINT32_C(1) << rounds;
    uint32_t up = NOBODY, down = NOBODY, peer, jump; /* the ends of the one message */

    *to = *from = NOBODY;
    switch (own_of(size)) {
    case BRUCK:
        jump = UINT32_C(1) << at;
        *to = (rank + jump) % size;
        *from = (rank + size - jump) % size;
        return;
    case DOUBLING: /* those from `power` on enter before, and are released after the others */
        if (0 == at || rounds + 1 == at) {
            up = rank >= power ? rank : rank + power < size ? rank + power : NOBODY;
            down = NOBODY == up ? NOBODY : up - power;
        } else if (rank < power && (jump = UINT32_C(1) << (at - 1)) < power)
            *to = *from = rank ^ jump;
        at = 0 == at ? 0 : steps_of(size, 0) / 2 + 1;
        break;
    case TREE: /* binomial */
        jump = UINT32_C(1) << ((at < rounds ? at : 2 * rounds - 1 - at) & 31);
        peer = rank ^ jump;
        if (0 == (rank & (jump - 1)) && peer < size) {
            up = rank > peer ? rank : peer;
            down = rank > peer ? peer : rank;
        }
        break;
    case LINEAR:
        up = at % (size - 1) + 1;
        down = 0;
    }
    if (NOBODY == up)
        return;
    if (at >= steps_of(size, 0) / 2) { /* the release */
        peer = up;
        up = down;
        down = peer;
    }
    *to = rank == up ? down : NOBODY;
    *from = rank == down ? up : NOBODY;
}

static gba_status_t tuned_start(struct gba_algo_state *algo, struct gba_transport *transport,
                                uint32_t seq)
{
    (void)transport;
    algo->seq = seq;
    algo->distance = 0; /* the step */
    algo->seen = 0;     /* whether its message is sent */
    return GBA_OK;
}

static gba_status_t tuned_test(struct gba_algo_state *algo, struct gba_transport *transport)
{
    const uint32_t steps = steps_of(algo->size, 0), parity = gba_slot_parity(algo->seq);
    uint32_t to, from;

    for (; algo->distance < steps; algo->distance++, algo->seen = 0) {
        step(algo->rank, algo->size, algo->distance, &to, &from);
        if (NOBODY != to && 0 == algo->seen++)
            transport->ops->set(transport, to, algo->distance, algo->seq);
        if (NOBODY != from && transport->ops->load(transport, algo->distance, parity) != algo->seq)
            return GBA_INPROGRESS;
    }
    return GBA_OK;
}

static const struct gba_schedule schedule = {.slots = steps_of};

const struct gba_algorithm predict_tuned = {
    .name = "tuned", .schedule = &schedule, .start = tuned_start, .test = tuned_test};
