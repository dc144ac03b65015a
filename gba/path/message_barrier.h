/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A barrier by an algorithm over the runtime's messages, among a subset of a team: all members, the
 * node leaders, or the domain leaders.
 */
#ifndef GBA_PATH_MESSAGE_BARRIER_H
#define GBA_PATH_MESSAGE_BARRIER_H

#include "gba/algo/algorithm.h"
#include "gba/runtime.h"

/* The state of one member, owned by the caller. All zero: not opened. */
struct gba_message_barrier {
    const struct gba_algorithm *algorithm;
    struct gba_transport *transport; /* NULL: not opened */
    struct gba_algo_state algo;
    const uint32_t *ranks; /* [size] ranks in the team; NULL: all members, in order */
};

/*
 * Open the connection of this member.
 * group: without the radix, which follows from the algorithm; its ranks must live until close.
 * radix: as in struct gba_algo_state; ignored by dissemination and central.
 * Returns GBA_OK; GBA_ERR_UNSUPPORTED: remote is NULL; or as remote->open. Not collective; sends
 * nothing.
 */
gba_status_t gba_message_barrier_open(struct gba_message_barrier *barrier,
                                      const gba_remote_t *remote, gba_remote_group_t group,
                                      const struct gba_algorithm *algorithm, uint32_t radix);

/* Close the connection; does nothing if it is not opened. Sends nothing, does not block. */
void gba_message_barrier_close(struct gba_message_barrier *barrier);

/* Start and test, as in struct gba_algorithm. sequence: the last sequence + 1. */
static inline gba_status_t gba_message_barrier_start(struct gba_message_barrier *barrier,
                                                     uint32_t sequence)
{
    return barrier->algorithm->start(&barrier->algo, barrier->transport, sequence);
}

static inline gba_status_t gba_message_barrier_test(struct gba_message_barrier *barrier)
{
    return barrier->algorithm->test(&barrier->algo, barrier->transport);
}

/* Move the messages of the barrier; does nothing if it is not opened. Returns GBA_OK or GBA_ERR_IO.
 */
static inline gba_status_t gba_message_barrier_progress(struct gba_message_barrier *barrier)
{
    if (barrier->transport == NULL || barrier->transport->ops->progress == NULL)
        return GBA_OK;
    return barrier->transport->ops->progress(barrier->transport);
}

/* The rank in the team of the member whose message this member reports as missing: the first one of
 * the current barrier, or that of a child in the tree. UINT32_MAX: none is missing, or another
 * member reports it. */
uint32_t gba_message_barrier_late_source(const struct gba_message_barrier *barrier);

/*
 * Text for the user, appended to the name of that member: `other`, or the members that it waits for
 * before it sends. member: rank in the team. other: the text if it waits for no member of the
 * barrier.
 */
const char *gba_message_barrier_represented(const struct gba_message_barrier *barrier,
                                            uint32_t member, const char *other);

#endif
