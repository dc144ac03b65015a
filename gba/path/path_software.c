/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/path/path_software.h"

#include <stdlib.h>

#include "gba/path/crew.h"
#include "gba/path/message_barrier.h"

struct path_software {
    struct gba_path_base base;
    struct gba_node node;
    /* An algorithm over shared memory: */
    const struct gba_algorithm *algorithm;
    struct gba_algo_state algo;
    struct gba_crew *crew; /* of the cores that share it; NULL: none */
    /* An algorithm over messages: */
    struct gba_message_barrier messages;
};

static struct path_software *software_of(struct gba_path_base *path)
{
    return (struct path_software *)path;
}

static const struct path_software *software_const(const struct gba_path_base *path)
{
    return (const struct path_software *)path;
}

static void software_destroy(struct gba_path_base *path)
{
    struct path_software *software = software_of(path);

    gba_message_barrier_close(&software->messages);
    gba_node_close(&software->node);
    free(software);
}

/* ----------------------------------------------------------------- a counter, one host -------- */

static inline __attribute__((always_inline)) void counter_arrive(struct gba_path_base *path)
{
    struct gba_node *node = &software_of(path)->node;
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
    return gba_node_barrier_test(&software_of(path)->node.barrier);
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
    const struct gba_node *node = &software_const(path)->node;

    return (struct gba_awaited){.word = node->barrier.release, .sleepers = node->shm.sleepers};
}

static enum gba_arrived counter_arrived(const struct gba_path_base *path,
                                        const gba_group_state_t *group, uint32_t member)
{
    const struct gba_node *node = &software_const(path)->node;

    (void)group;
    if (member == node->rank)
        return GBA_ARRIVED_YES;
    return gba_node_arrived(node, gba_node_local(node, member), node->barrier.seq);
}

static const struct gba_path_ops counter_ops = {.attempt = counter_attempt,
                                                .start = counter_start,
                                                .test = counter_test,
                                                .destroy = software_destroy,
                                                .awaited = counter_awaited,
                                                .arrived = counter_arrived};

/* ------------------------------------------------- an algorithm over shared memory, one host -- */

static gba_status_t shared_start(struct gba_path_base *path)
{
    struct path_software *software = software_of(path);

    return software->algorithm->start(&software->algo, &software->node.shm.base,
                                      software->algo.seq + 1);
}

static gba_status_t shared_test(struct gba_path_base *path)
{
    struct path_software *software = software_of(path);

    return software->algorithm->test(&software->algo, &software->node.shm.base);
}

static gba_status_t shared_attempt(struct gba_path_base *path)
{
    struct path_software *software = software_of(path);

    return software->algorithm->attempt(&software->algo, &software->node.shm.base,
                                        software->algo.seq + 1, path->spins);
}

static struct gba_awaited shared_awaited(const struct gba_path_base *path)
{
    const struct path_software *software = software_const(path);
    const struct gba_shm *shm = &software->node.shm;

    return (struct gba_awaited){.word = gba_shm_awaited(shm, software->algorithm, &software->algo),
                                .sleepers = shm->sleepers};
}

static enum gba_arrived shared_arrived(const struct gba_path_base *path,
                                       const gba_group_state_t *group, uint32_t member)
{
    const struct path_software *software = software_const(path);
    const struct gba_node *node = &software->node;
    uint32_t local = gba_node_local(node, member);

    (void)group;
    if (member == node->rank)
        return GBA_ARRIVED_YES;
    /* Dissemination and radix first signal the next member of the ring, in slot 0. A member of the
     * others stores to its own slot 0. */
    if (!software->algorithm->pulls && !software->algorithm->tree)
        local = gba_sched_peer(local, 1, node->segment.members);
    return gba_node_arrived(node, local, software->algo.seq);
}

static void shared_share(struct gba_path_base *path, struct gba_crew *crew);

static const struct gba_path_ops shared_ops = {.attempt = shared_attempt,
                                               .start = shared_start,
                                               .test = shared_test,
                                               .share = shared_share,
                                               .destroy = software_destroy,
                                               .awaited = shared_awaited,
                                               .arrived = shared_arrived};

/* --------------------------------------------- the same, by all cores of a member ------------ */

static gba_status_t crew_start(struct gba_path_base *path)
{
    struct path_software *software = software_of(path);

    gba_crew_start(software->crew, ++software->algo.seq);
    return GBA_OK;
}

static gba_status_t crew_test(struct gba_path_base *path)
{
    return gba_crew_test(software_of(path)->crew);
}

/* One test only: the other cores must run first. */
static gba_status_t crew_attempt(struct gba_path_base *path)
{
    (void)crew_start(path);
    return crew_test(path);
}

static struct gba_awaited crew_awaited(const struct gba_path_base *path)
{
    const struct gba_crew *crew = software_const(path)->crew;

    if (0 == crew->part.lanes) /* core 0 waits for the others */
        return (struct gba_awaited){.word = crew->node->arrived, .sleepers = crew->node->sleepers};
    return (struct gba_awaited){.word = gba_crew_awaited(crew, &crew->part),
                                .sleepers = crew->shm->sleepers};
}

static const struct gba_path_ops crew_ops = {.attempt = crew_attempt,
                                             .start = crew_start,
                                             .test = crew_test,
                                             .share = shared_share,
                                             .destroy = software_destroy,
                                             .awaited = crew_awaited,
                                             .arrived = shared_arrived};

static void shared_share(struct gba_path_base *path, struct gba_crew *crew)
{
    struct path_software *software = software_of(path);

    software->crew = crew;
    path->ops = &shared_ops;
    if (crew == NULL || !software->algorithm->shares)
        return;
    path->ops = &crew_ops;
    crew->shm = &software->node.shm;
    crew->algorithm = software->algorithm;
    crew->step = software->algo;
    if (crew->algorithm->pulls)
        crew->step.radix = crew->step.size;
}

/* ------------------------------------------------------ an algorithm over messages, all hosts --
 */

static gba_status_t messages_start(struct gba_path_base *path)
{
    struct gba_message_barrier *messages = &software_of(path)->messages;

    return gba_message_barrier_start(messages, messages->algo.seq + 1);
}

static gba_status_t messages_test(struct gba_path_base *path)
{
    return gba_message_barrier_test(&software_of(path)->messages);
}

/* One test only: messages take longer than any spinning. */
static gba_status_t messages_attempt(struct gba_path_base *path)
{
    gba_status_t status = messages_start(path);

    return GBA_OK == status ? messages_test(path) : status;
}

static gba_status_t messages_progress(struct gba_path_base *path)
{
    return gba_message_barrier_progress(&software_of(path)->messages);
}

static bool messages_listens(const struct gba_path_base *path)
{
    (void)path;
    return true;
}

static struct gba_awaited messages_awaited(const struct gba_path_base *path)
{
    (void)path;
    return (struct gba_awaited){0};
}

static enum gba_arrived messages_arrived(const struct gba_path_base *path,
                                         const gba_group_state_t *group, uint32_t member)
{
    (void)group;
    return member == software_const(path)->node.rank ? GBA_ARRIVED_YES : GBA_ARRIVED_UNKNOWN;
}

static const char *messages_represented(const struct gba_path_base *path, uint32_t member)
{
    return gba_message_barrier_represented(&software_const(path)->messages, member, "");
}

static uint32_t messages_late_source(const struct gba_path_base *path)
{
    return gba_message_barrier_late_source(&software_const(path)->messages);
}

static const struct gba_path_ops messages_ops = {.attempt = messages_attempt,
                                                 .start = messages_start,
                                                 .test = messages_test,
                                                 .progress = messages_progress,
                                                 .destroy = software_destroy,
                                                 .listens = messages_listens,
                                                 .awaited = messages_awaited,
                                                 .arrived = messages_arrived,
                                                 .represented = messages_represented,
                                                 .late_source = messages_late_source};

gba_status_t gba_path_software_create(const struct gba_shape *plan, const gba_remote_t *remote,
                                      uint32_t rank, struct gba_path_base **path)
{
    const struct gba_topology *topology = &plan->topology;
    const gba_remote_group_t all = {
        .size = topology->size, .rank = rank, .sequence = plan->sequence};
    struct path_software *software = calloc(1, sizeof *software);
    gba_status_t status = GBA_OK;

    if (software == NULL)
        return GBA_ERR_NOMEM;
    gba_node_init(&software->node, rank);
    software->base.spins = 1;
    if (GBA_SOFTWARE_NODE == plan->kind) {
        software->base.ops = &counter_ops;
    } else if (1 == topology->nodes) {
        software->base.ops = &shared_ops;
        software->algorithm = plan->algorithm;
        gba_algo_init(&software->algo, rank, topology->size, plan->radix, plan->sequence);
    } else {
        software->base.ops = &messages_ops;
        status = gba_message_barrier_open(&software->messages, remote, all, plan->algorithm,
                                          plan->radix);
    }
    if (GBA_OK != status) {
        free(software);
        return status;
    }
    *path = &software->base;
    return GBA_OK;
}

void gba_path_software_finish(struct gba_path_base *path, struct gba_node *node)
{
    gba_node_move(&software_of(path)->node, node);
}
