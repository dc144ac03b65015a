/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several islands of nodes (soft/islands.h): each has a barrier group of its own, and the heads of
 * the islands, the lowest rank on each, have v1 or v2 by the runtime's messages.
 *
 * A device completes a round by itself, so gathering has to be kept apart from releasing: two
 * rounds of an island's group are one barrier. At the first all leaders of the island arrive when
 * their nodes have. Its release tells the head that all of the island have arrived; it goes through
 * the barrier among the heads, and arrives at the second round. There the other leaders have
 * arrived as soon as they saw the release of the first; so the second is released when the head of
 * the island knows of all islands, and that release lets its nodes go.
 *
 *   a leader:  gather  arrive 2n-1  released ------------ arrive 2n  released  release
 *   the head:  gather  arrive 2n-1  released  heads' n -- arrive 2n  released  release
 *
 * An island of one node has no group; its leader is its head, and has the heads' barrier alone.
 *
 * Nobody is more than one barrier ahead, as ever. What got lost is mended in both rounds alike,
 * since each of them is a round like any other for the device and for who waits for its release.
 */
#include "gba/software.h"

/* The barrier among the heads. */
static gba_status_t heads_start(struct gba_software *software)
{
    software->phase = GBA_PHASE_UPPER;
    return software->algorithm->start(&software->soft, software->signals, software->sequence);
}

static gba_status_t heads_test(struct gba_software *software)
{
    return software->algorithm->test(&software->soft, software->signals);
}

gba_status_t gba_islands_start(struct gba_software *software)
{
    if (NULL == software->state)
        return heads_start(software);
    gba_send_arrival(software->state);
    return GBA_OK;
}

gba_status_t gba_islands_test(struct gba_software *software)
{
    gba_status_t status;

    if (GBA_PHASE_LEADERS == software->phase) {
        status = gba_poll_release(software->state);
        if (GBA_OK != status)
            return status;
        /* Acquire in the poll, release in the signals and in the arrival below: what the island
         * wrote is part of what its head tells the others, and what they wrote is part of what the
         * second release tells the island. */
        if (software->head) {
            status = heads_start(software);
            if (GBA_OK != status)
                return status;
        }
    }
    if (GBA_PHASE_RELEASE != software->phase) {
        if (software->head) {
            status = heads_test(software);
            if (GBA_OK != status)
                return status;
            if (software->held)
                return GBA_INPROGRESS;
            if (NULL == software->state)
                return GBA_OK;
        }
        software->phase = GBA_PHASE_RELEASE;
        gba_send_arrival(software->state);
    }
    return gba_poll_release(software->state);
}

void gba_software_aside(struct gba_software *software)
{
    software->sequence++;
    software->phase = software->leader ? GBA_PHASE_GATHER : GBA_PHASE_MEMBER;
}

gba_status_t gba_software_finish(struct gba_software *software)
{
    gba_status_t status;

    if (!software->head || GBA_PHASE_RELEASE == software->phase)
        return GBA_OK;
    if (GBA_PHASE_UPPER != software->phase) {
        status = heads_start(software);
        if (GBA_OK != status)
            return status;
    }
    return heads_test(software);
}
