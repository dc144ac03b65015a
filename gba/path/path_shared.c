/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/path/path_shared.h"

#include <stdlib.h>
#include <string.h>

#include "gba/algo/numbering.h"
#include "gba/base/log.h"

struct path_shared {
    struct gba_path_base base;
    struct gba_node node;
    /* An algorithm. Its ranks are the numbers of the members, which also own the slots. */
    const struct gba_algorithm *algorithm;
    struct gba_algo_state algo;
    uint32_t schedules, schedule; /* 0: one; the current one */
    uint8_t radices[GBA_SCHEDULES_MOST];
    struct gba_numbered members[];
};

static struct path_shared *shared_of(struct gba_path_base *path)
{
    return (struct path_shared *)path;
}

static const struct path_shared *shared_const(const struct gba_path_base *path)
{
    return (const struct path_shared *)path;
}

static void shared_destroy(struct gba_path_base *path)
{
    gba_node_close(path->node);
    free(path);
}

/* ----------------------------------------------------------------------------- a counter --- */

static inline __attribute__((always_inline)) void counter_arrive(struct gba_path_base *path)
{
    struct gba_node *node = &shared_of(path)->node;
    uint32_t sequence = node->barrier.seq + 1; /* unsigned: wraps */

    gba_node_mark(node, sequence);
    gba_node_barrier_start(&node->barrier, sequence);
}

static gba_status_t counter_start(struct gba_path_base *path)
{
    counter_arrive(path);
    return GBA_OK;
}

static gba_status_t counter_test(struct gba_path_base *path)
{
    return gba_node_barrier_test(&shared_of(path)->node.barrier);
}

/* The first test found no release: spin. Not inlined, so that the fast path saves no registers for
 * it. */
static gba_status_t __attribute__((noinline)) counter_spin(struct gba_path_base *path)
{
    gba_status_t status = GBA_INPROGRESS;

    for (uint32_t spins = path->spins; GBA_INPROGRESS == status && spins > 1; spins--) {
        gba_cpu_pause();
        status = counter_test(path);
    }
    return status;
}

static gba_status_t counter_attempt(struct gba_path_base *path)
{
    gba_status_t status;

    counter_arrive(path);
    status = counter_test(path);
    return __builtin_expect(GBA_OK == status, 1) ? status : counter_spin(path);
}

static struct gba_awaited counter_awaited(const struct gba_path_base *path)
{
    const struct gba_node *node = &shared_const(path)->node;

    return (struct gba_awaited){.word = node->barrier.release, .sleepers = node->shm.sleepers};
}

static enum gba_arrived counter_arrived(const struct gba_path_base *path,
                                        const gba_group_state_t *group, uint32_t member)
{
    const struct gba_node *node = &shared_const(path)->node;

    (void)group;
    if (member == node->rank)
        return GBA_ARRIVED_YES;
    return gba_node_arrived(node, gba_node_local(node, member), node->barrier.seq);
}

static const struct gba_path_ops counter_ops = {.attempt = counter_attempt,
                                                .start = counter_start,
                                                .test = counter_test,
                                                .destroy = shared_destroy,
                                                .awaited = counter_awaited,
                                                .arrived = counter_arrived};

/* -------------------------------------------------------------------------- an algorithm --- */

static gba_status_t shared_start(struct gba_path_base *path)
{
    struct path_shared *shared = shared_of(path);

    return shared->algorithm->start(&shared->algo, &shared->node.shm.base, shared->algo.seq + 1);
}

static gba_status_t shared_test(struct gba_path_base *path)
{
    struct path_shared *shared = shared_of(path);

    return shared->algorithm->test(&shared->algo, &shared->node.shm.base);
}

static gba_status_t shared_attempt(struct gba_path_base *path)
{
    struct path_shared *shared = shared_of(path);

    return shared->algorithm->attempt(&shared->algo, &shared->node.shm.base, shared->algo.seq + 1,
                                      path->spins);
}

static struct gba_awaited shared_awaited(const struct gba_path_base *path)
{
    const struct path_shared *shared = shared_const(path);
    const struct gba_shm *shm = &shared->node.shm;

    return (struct gba_awaited){.word = gba_shm_awaited(shm, shared->algorithm, &shared->algo),
                                .sleepers = shm->sleepers};
}

static enum gba_arrived shared_arrived(const struct gba_path_base *path,
                                       const gba_group_state_t *group, uint32_t member)
{
    const struct path_shared *shared = shared_const(path);
    const struct gba_node *node = &shared->node;
    uint32_t number;

    (void)group;
    if (member == node->rank)
        return GBA_ARRIVED_YES;
    number = gba_numbering_find(shared->members, shared->algo.size, member);
    /* Dissemination and radix first signal the next member of the ring, in slot 0. A member of the
     * others stores to its own slot 0. */
    if (!shared->algorithm->pulls && !shared->algorithm->tree)
        number = gba_sched_peer(number, 1, shared->algo.size);
    return gba_node_arrived(node, number, shared->algo.seq);
}

static const struct gba_path_ops shared_ops = {.attempt = shared_attempt,
                                               .start = shared_start,
                                               .test = shared_test,
                                               .destroy = shared_destroy,
                                               .awaited = shared_awaited,
                                               .arrived = shared_arrived};

/* The schedules of a member's row of slots, one behind the other. */
static uint32_t first_slot(const struct path_shared *shared, uint32_t schedule)
{
    uint32_t slot = 0;

    for (uint32_t i = 0; i < schedule; i++)
        slot += gba_shared_slots(shared->algo.size, shared->radices[i]);
    return slot;
}

uint32_t gba_path_shared_schedules(const struct gba_path_base *path, const uint8_t **radices,
                                   uint32_t *current)
{
    const struct path_shared *shared = shared_const(path);

    if (path == NULL || &shared_ops != path->ops || 0 == shared->schedules)
        return 0;
    *radices = shared->radices;
    *current = shared->schedule;
    return shared->schedules;
}

void gba_path_shared_prepare(struct gba_path_base *path)
{
    struct path_shared *shared = shared_of(path);
    const uint32_t slots = first_slot(shared, shared->schedules);
    const uint32_t own = first_slot(shared, shared->schedule);
    const uint32_t after = first_slot(shared, shared->schedule + 1);
    const struct gba_node *node = &shared->node;

    for (uint32_t slot = 0; slot < slots; slot++)
        if (slot < own || slot >= after)
            gba_shm_mark(&node->segment, shared->algo.rank, slot, shared->algo.seq);
}

void gba_path_shared_take(struct gba_path_base *path, uint32_t schedule)
{
    struct path_shared *shared = shared_of(path);
    const uint8_t radix = shared->radices[schedule];

    gba_shm_init(&shared->node.shm, &shared->node.segment, shared->algo.rank,
                 first_slot(shared, schedule));
    shared->schedule = schedule;
    shared->algorithm = &gba_shm_algorithms[0 == radix ? GBA_ALGORITHM_V1 : GBA_ALGORITHM_V2];
    shared->algo.radix = 0 == radix ? GBA_RADIX_MIN : radix;
}

gba_status_t gba_path_shared_create(const struct gba_shape *shape, uint32_t rank,
                                    struct gba_path_base **path)
{
    const uint32_t size = shape->topology->size,
                   numbered = GBA_SHAPE_SHARED == shape->kind ? size : 0;
    struct path_shared *shared = calloc(1, sizeof *shared + numbered * sizeof shared->members[0]);

    if (shared == NULL)
        return GBA_ERR_NOMEM;
    for (uint32_t i = 0; i < numbered; i++)
        shared->members[i].member = i;
    gba_node_init(&shared->node, rank);
    shared->base =
        (struct gba_path_base){.ops = GBA_SHAPE_COUNTER == shape->kind ? &counter_ops : &shared_ops,
                               .spins = 1,
                               .node = &shared->node};
    shared->algorithm = shape->algorithm;
    gba_algo_init(&shared->algo, rank, size, shape->radix, shape->sequence);
    shared->schedules = shape->schedules;
    memcpy(shared->radices, shape->radices, sizeof shared->radices);
    *path = &shared->base;
    return GBA_OK;
}

/* Whether a numbering can matter. */
static bool has_numbers(const struct path_shared *shared)
{
    return shared->algorithm != NULL && shared->algorithm->schedule->link != NULL &&
           shared->algo.size > 2;
}

void gba_path_shared_finish(struct gba_path_base *path)
{
    struct path_shared *shared = shared_of(path);
    struct gba_node *node = &shared->node;
    struct gba_algo_state *algo = &shared->algo;

    if (!has_numbers(shared))
        return;
    for (uint32_t i = 0; i < algo->size; i++)
        shared->members[i].place = gba_word_load_acquire(gba_segment_place(&node->segment, i));
    gba_numbering_make(shared->members, algo->size, shared->algorithm->schedule, algo->radix);
    algo->rank = gba_numbering_find(shared->members, algo->size, node->rank);
    gba_shm_init(&node->shm, &node->segment, algo->rank, first_slot(shared, shared->schedule));
    if (algo->rank != node->rank)
        gba_log(GBA_LOG_DEBUG, "%s: member %u of %u has number %u, by the places of the cores",
                shared->algorithm->name, node->rank, algo->size, algo->rank);
}
