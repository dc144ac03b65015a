/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all parts of a simulation use: its memory, its random numbers without a state, and the
 * processors of its ranks.
 */
#include <stdlib.h>

#include "sim/predict/state.h"

void *predict_alloc(struct predict *p, size_t count, size_t bytes)
{
    const size_t head = _Alignof(max_align_t);
    void **memory = calloc(1, head + count * bytes);

    p->memory.bytes += count * bytes;
    if (memory == NULL) {
        p->memory.short_of = true;
        return NULL;
    }
    *memory = p->memory.last;
    p->memory.last = memory;
    return (char *)memory + head;
}

uint32_t predict_on_machine(const struct predict *p)
{
    const uint64_t many = p->on_host * p->cluster->hosts_per_machine;

    return many < p->ranks ? (uint32_t)many : p->ranks;
}

uint32_t predict_core_of(const struct predict *p, uint32_t rank)
{
    const uint32_t cores = (uint32_t)p->cluster->cores, many = predict_on_machine(p);

    return p->turns ? rank / many * cores + rank % many % cores : rank;
}

uint64_t predict_cold(const struct predict *p, uint32_t rank, uint64_t more)
{
    const uint32_t ranks = p->turns ? p->core[predict_core_of(p, rank)].ranks : 1;

    return ranks > 8 ? 6 * more : ranks > 2 ? (ranks - 2) * more : 0;
}

uint64_t predict_mix(const struct predict *p, uint64_t of)
{
    struct predict_random random;

    predict_random_seed(&random, p->setup->seed ^ of * UINT64_C(0xd1342543de82ef95));
    return random.state[0];
}

/* The next interruption of a core at `at` or later. */
static uint64_t interruption(struct predict *p, uint64_t at, uint64_t *length)
{
    const struct gba_cluster *c = p->cluster;

    *length = predict_random_time(&p->random, c->noise_length);
    return at + predict_random_time(&p->random, GBA_CLUSTER_SECOND / c->noise_rate);
}

uint64_t predict_work(struct predict *p, uint32_t rank, uint64_t from, uint64_t work)
{
    struct predict_rank *r = &p->rank[rank];
    uint64_t at = r->free_at, start = from > at ? from : at, end = start + work, length;

    while (0 != p->cluster->noise_rate && 0 != p->cluster->noise_length) {
        const uint64_t begins = interruption(p, at, &length);

        if (begins > end || (begins == end && 0 == work))
            break;
        at = begins + length > at ? begins + length : at + 1;
        if (begins >= start) /* it interrupts the work */
            end += length;
        else if (at > start) { /* the work waits for its end */
            end = at + work;
            start = at;
        }
    }
    return r->free_at = end;
}
