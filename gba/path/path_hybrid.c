/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With several switch domains (algo/domains.h) each domain has a barrier group of its node
 * leaders, and the domain leaders have a barrier over the messages of the runtime.
 *
 * A device completes a round by itself. So gather and release are separate rounds: two rounds of a
 * domain's group make one barrier. In the first round all leaders of the domain arrive when their
 * nodes have arrived. The release of that round shows the domain leader that the whole domain has
 * arrived. The domain leader then runs the barrier among the domain leaders, and arrives at the
 * second round. The other leaders of the domain arrive at the second round as soon as they see the
 * release of the first. So the device releases the second round when the domain leader knows that
 * all domains have arrived, and that release lets the nodes of the domain leave.
 *
 *   a leader:       gather  arrive 2n-1  released -------------- arrive 2n  released  release
 *   domain leader:  gather  arrive 2n-1  released  messages of n  arrive 2n  released  release
 *
 * A domain of one node has no group. The leader of that node is the domain leader, and runs only
 * the barrier over messages.
 *
 * No member is more than one barrier ahead. The watchdog repairs losses in both rounds alike,
 * because each is an ordinary round for the device and for the member that waits for its release.
 */
#include "gba/path/path_hybrid.h"

#include <stdlib.h>

static struct gba_path_hybrid *hybrid_of(struct gba_path_base *path)
{
    return (struct gba_path_hybrid *)path;
}

static const struct gba_path_hybrid *hybrid_const(const struct gba_path_base *path)
{
    return (const struct gba_path_hybrid *)path;
}

/* ---------------------------------------------------------- the barrier among the leaders ----- */

/* Whether this member has a barrier over messages: a domain leader, or without groups each leader.
 */
static bool has_messages(const struct gba_path_hybrid *hybrid)
{
    return hybrid->messages.transport != NULL;
}

static void group_arrive(struct gba_path_hybrid *hybrid, enum gba_hybrid_phase phase)
{
    hybrid->phase = phase;
    hybrid->state.sequence++; /* counts the rounds of the group; unsigned: wraps */
    gba_state_arrive(&hybrid->state);
}

static gba_status_t upper_start(struct gba_path_hybrid *hybrid)
{
    hybrid->phase = GBA_PHASE_UPPER;
    return gba_message_barrier_start(&hybrid->messages, hybrid->sequence);
}

static gba_status_t leaders_start(struct gba_path_hybrid *hybrid)
{
    if (hybrid->base.group == NULL)
        return upper_start(hybrid);
    group_arrive(hybrid, GBA_PHASE_LEADERS);
    return GBA_OK;
}

static gba_status_t leaders_test(struct gba_path_hybrid *hybrid)
{
    gba_status_t status;

    if (GBA_PHASE_LEADERS == hybrid->phase) {
        status = gba_state_poll(&hybrid->state);
        if (GBA_OK != status || !hybrid->split)
            return status;
        /* Acquire in the poll; release in the messages and in the arrival below. What the domain
         * wrote is thus visible to the receivers of its leader's messages. What the other domains
         * wrote is visible after the second release. */
        if (has_messages(hybrid)) {
            status = upper_start(hybrid);
            if (GBA_OK != status)
                return status;
        }
    }
    if (GBA_PHASE_RELEASE != hybrid->phase) {
        if (has_messages(hybrid)) {
            status = gba_message_barrier_test(&hybrid->messages);
            if (GBA_OK != status)
                return status;
            if (hybrid->held)
                return GBA_INPROGRESS;
            if (hybrid->base.group == NULL)
                return GBA_OK;
        }
        group_arrive(hybrid, GBA_PHASE_RELEASE);
    }
    return gba_state_poll(&hybrid->state);
}

/* ---------------------------------------------------------------------------- the path -------- */

static gba_status_t hybrid_start(struct gba_path_base *path)
{
    struct gba_path_hybrid *hybrid = hybrid_of(path);

    hybrid->sequence++;
    hybrid->phase = hybrid->leader ? GBA_PHASE_GATHER : GBA_PHASE_MEMBER;
    gba_node_gather(&hybrid->node, hybrid->sequence);
    return GBA_OK;
}

/* Run the phases one after the other, as far as each is complete. */
static gba_status_t leader_test(struct gba_path_hybrid *hybrid)
{
    gba_status_t status;

    if (GBA_PHASE_GATHER == hybrid->phase) {
        if (!gba_node_gathered(&hybrid->node))
            return GBA_INPROGRESS;
        /* Acquire in gathered; release in the messages or in the arrival. What the node wrote is
         * thus visible to the members that see this arrival. */
        status = leaders_start(hybrid);
        if (GBA_OK != status)
            return status;
    }
    status = leaders_test(hybrid);
    if (GBA_OK == status)
        gba_node_release(&hybrid->node);
    return status;
}

static gba_status_t hybrid_test(struct gba_path_base *path)
{
    struct gba_path_hybrid *hybrid = hybrid_of(path);

    return hybrid->leader ? leader_test(hybrid) : gba_node_test(&hybrid->node);
}

/* One test only: a hybrid barrier takes longer than any spinning. */
static gba_status_t hybrid_attempt(struct gba_path_base *path)
{
    (void)hybrid_start(path);
    return hybrid_test(path);
}

static void hybrid_destroy(struct gba_path_base *path)
{
    struct gba_path_hybrid *hybrid = hybrid_of(path);

    gba_free_group(path->group);
    if (path->given_up && has_messages(hybrid))
        hybrid->messages.transport->given_up = true;
    gba_message_barrier_close(&hybrid->messages);
    gba_node_close(path->node);
    gba_domains_fini(&hybrid->domains);
    free(hybrid);
}

static struct gba_local_state *hybrid_in_group(const struct gba_path_base *path)
{
    enum gba_hybrid_phase phase = hybrid_const(path)->phase;

    return GBA_PHASE_LEADERS == phase || GBA_PHASE_RELEASE == phase ? path->state : NULL;
}

static struct gba_awaited hybrid_awaited(const struct gba_path_base *path)
{
    const struct gba_path_hybrid *hybrid = hybrid_const(path);
    struct gba_awaited awaited = {.sleepers = hybrid->node.shm.sleepers};

    if (hybrid_in_group(path) != NULL)
        return gba_path_awaits_release(path);
    if (!hybrid->leader || GBA_PHASE_GATHER == hybrid->phase)
        awaited.word = gba_node_awaited(&hybrid->node, hybrid->leader);
    return awaited;
}

/* Whether a member on another node has arrived. The leader of a node arrives at the group when its
 * whole node has arrived. */
static enum gba_arrived other_node_arrived(const struct gba_path_hybrid *hybrid,
                                           const gba_group_state_t *group, uint32_t member)
{
    uint32_t node;

    /* A leader that gathers reports only its own node, so that one member of the node reports for
     * all. */
    if (hybrid->base.state == NULL || hybrid->phase < GBA_PHASE_LEADERS)
        return GBA_ARRIVED_UNKNOWN;
    node = gba_ranks_find(hybrid->leaders, hybrid->nodes, member);
    if (UINT32_MAX == node)
        return GBA_ARRIVED_UNKNOWN;
    if (hybrid->phase > GBA_PHASE_LEADERS)
        return GBA_ARRIVED_YES; /* the whole domain has arrived; the mask is that of the second
                                   round */
    if (group == NULL)
        return GBA_ARRIVED_UNKNOWN;
    return gba_group_arrived(group, node) ? GBA_ARRIVED_YES : GBA_ARRIVED_NO;
}

static enum gba_arrived hybrid_arrived(const struct gba_path_base *path,
                                       const gba_group_state_t *group, uint32_t member)
{
    const struct gba_path_hybrid *hybrid = hybrid_const(path);
    uint32_t local;

    if (member == hybrid->node.rank)
        return GBA_ARRIVED_YES;
    local = gba_node_local(&hybrid->node, member);
    if (UINT32_MAX == local)
        return other_node_arrived(hybrid, group, member);
    return gba_node_arrived(&hybrid->node, local, hybrid->sequence);
}

const char *gba_path_hybrid_represented(const struct gba_path_hybrid *hybrid, uint32_t member)
{
    if (UINT32_MAX != gba_node_local(&hybrid->node, member))
        return "";
    if (hybrid->split && UINT32_MAX == gba_ranks_find(hybrid->leaders, hybrid->nodes, member))
        return gba_message_barrier_represented(&hybrid->messages, member,
                                               " or another process in its switch domain");
    if (hybrid->base.state != NULL)
        return " or another process on its host";
    return gba_message_barrier_represented(
        &hybrid->messages, member,
        hybrid->leaders == NULL ? "" : " or another process on its host");
}

uint32_t gba_path_hybrid_late_source(const struct gba_path_hybrid *hybrid)
{
    return gba_path_hybrid_listens(hybrid) ? gba_message_barrier_late_source(&hybrid->messages)
                                           : UINT32_MAX;
}

/* ------------------------------------------------------------------------- for failover ------- */

void gba_path_hybrid_bypass(struct gba_path_hybrid *hybrid)
{
    hybrid->sequence++;
    hybrid->phase = hybrid->leader ? GBA_PHASE_GATHER : GBA_PHASE_MEMBER;
}

gba_status_t gba_path_hybrid_withdraw(struct gba_path_hybrid *hybrid)
{
    gba_status_t status;

    if (!has_messages(hybrid) || GBA_PHASE_RELEASE == hybrid->phase)
        return GBA_OK;
    if (GBA_PHASE_UPPER != hybrid->phase) {
        status = upper_start(hybrid);
        if (GBA_OK != status)
            return status;
    }
    return gba_message_barrier_test(&hybrid->messages);
}

void gba_path_hybrid_peers(const struct gba_path_hybrid *hybrid, struct gba_extra_peers *extra)
{
    if (!hybrid->split || !hybrid->leader)
        return;
    extra->ranks = hybrid->leaders;
    extra->size = hybrid->nodes;
    extra->index = gba_ranks_find(hybrid->leaders, hybrid->nodes, hybrid->node.rank);
}

const struct gba_path_ops gba_path_hybrid_ops = {.attempt = hybrid_attempt,
                                                 .start = hybrid_start,
                                                 .test = hybrid_test,
                                                 .destroy = hybrid_destroy,
                                                 .awaited = hybrid_awaited,
                                                 .in_group = hybrid_in_group,
                                                 .arrived = hybrid_arrived};

gba_status_t gba_path_hybrid_create(const struct gba_shape *shape, uint32_t rank,
                                    struct gba_path_base **path)
{
    struct gba_path_hybrid *h = aligned_alloc(_Alignof(struct gba_path_hybrid), sizeof *h);
    const bool all = GBA_SHAPE_MESSAGES == shape->kind;

    if (h == NULL)
        return GBA_ERR_NOMEM;
    *h = (struct gba_path_hybrid){.base = {.ops = &gba_path_hybrid_ops, .spins = 1},
                                  .leader = all || 0 == shape->topology->local_rank,
                                  .sequence = shape->sequence,
                                  .split = shape->domains.count > 1};
    h->base.waits_for_leader = !h->leader;
    h->base.hybrid = h;
    h->base.node = &h->node;
    gba_node_init(&h->node, rank);
    h->leaders = all ? NULL : h->split ? shape->domains.leaders : shape->topology->leaders;
    h->nodes = h->split ? shape->domains.size : shape->topology->nodes;
    *path = &h->base;
    return GBA_OK;
}

gba_status_t gba_path_hybrid_join(struct gba_path_base *path, gba_device_t *device,
                                  const gba_group_handle_t *handle, uint32_t member)
{
    struct gba_path_hybrid *hybrid = hybrid_of(path);
    gba_status_t status =
        gba_group_take(device, handle, member, hybrid->sequence, &path->group, &hybrid->state);

    if (GBA_OK == status)
        path->state = &hybrid->state;
    return status;
}

gba_status_t gba_path_hybrid_open(struct gba_path_base *path, const struct gba_shape *shape,
                                  const gba_remote_t *remote)
{
    struct gba_path_hybrid *hybrid = hybrid_of(path);
    const struct gba_topology *topology = shape->topology;
    const struct gba_domains *domains = &shape->domains;
    gba_remote_group_t group = {topology->leaders, topology->nodes, topology->node,
                                .sequence = shape->sequence, .epoch = shape->epoch};

    if (!hybrid->leader)
        return GBA_OK;
    if (domains->count > 0) {
        if (!hybrid->split || domains->domain_leaders[domains->domain] != hybrid->node.rank)
            return GBA_OK;
        group.ranks = domains->domain_leaders;
        group.size = domains->count;
        group.rank = domains->domain;
    } else if (hybrid->leaders == NULL) {
        group.ranks = NULL;
        group.size = topology->size;
        group.rank = hybrid->node.rank;
    }
    return gba_message_barrier_open(&hybrid->messages, remote, group, shape->algorithm,
                                    shape->radix);
}

void gba_path_hybrid_finish(struct gba_path_base *path, struct gba_shape *shape)
{
    hybrid_of(path)->domains = shape->domains;
    shape->domains = (struct gba_domains){0};
    gba_node_join(path->node, shape->topology->local_rank);
}
