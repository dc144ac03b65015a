/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The barrier among the node leaders. With several switch domains (algo/domains.h) each domain has
 * a barrier group, and the domain leaders have a barrier over the runtime's messages.
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
#include "gba/path/leaders.h"

static void group_arrive(struct gba_path_hybrid *hybrid)
{
    hybrid->state.sequence++; /* counts the rounds of the group; unsigned: wraps */
    gba_state_arrive(&hybrid->state);
}

static gba_status_t messages_start(struct gba_path_hybrid *hybrid)
{
    return gba_message_barrier_start(&hybrid->messages, hybrid->sequence);
}

static gba_status_t messages_test(struct gba_path_hybrid *hybrid)
{
    return gba_message_barrier_test(&hybrid->messages);
}

const struct gba_leaders_ops gba_leaders_by_messages = {.start = messages_start,
                                                        .test = messages_test};

static gba_status_t group_start(struct gba_path_hybrid *hybrid)
{
    group_arrive(hybrid);
    return GBA_OK;
}

static gba_status_t group_test(struct gba_path_hybrid *hybrid)
{
    return gba_state_poll(&hybrid->state);
}

const struct gba_leaders_ops gba_leaders_in_group = {.start = group_start, .test = group_test};

gba_status_t gba_leaders_upper_start(struct gba_path_hybrid *hybrid)
{
    hybrid->phase = GBA_PHASE_UPPER;
    return messages_start(hybrid);
}

static gba_status_t domains_start(struct gba_path_hybrid *hybrid)
{
    if (hybrid->base.group == NULL)
        return gba_leaders_upper_start(hybrid);
    group_arrive(hybrid);
    return GBA_OK;
}

static gba_status_t domains_test(struct gba_path_hybrid *hybrid)
{
    gba_status_t status;

    if (GBA_PHASE_LEADERS == hybrid->phase) {
        status = gba_state_poll(&hybrid->state);
        if (GBA_OK != status)
            return status;
        /* Acquire in the poll; release in the messages and in the arrival below. What the domain
         * wrote is thus visible to the receivers of its leader's messages. What the other domains
         * wrote is visible after the second release. */
        if (gba_leaders_is_domain_leader(hybrid)) {
            status = gba_leaders_upper_start(hybrid);
            if (GBA_OK != status)
                return status;
        }
    }
    if (GBA_PHASE_RELEASE != hybrid->phase) {
        if (gba_leaders_is_domain_leader(hybrid)) {
            status = messages_test(hybrid);
            if (GBA_OK != status)
                return status;
            if (hybrid->held)
                return GBA_INPROGRESS;
            if (hybrid->base.group == NULL)
                return GBA_OK;
        }
        hybrid->phase = GBA_PHASE_RELEASE;
        group_arrive(hybrid);
    }
    return gba_state_poll(&hybrid->state);
}

const struct gba_leaders_ops gba_leaders_in_domains = {.start = domains_start,
                                                       .test = domains_test};
