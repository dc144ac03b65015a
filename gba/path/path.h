/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A path: the route of a team's barriers, as a table of operations. There are three:
 *
 *   path_device.c  a barrier group of all members
 *   path_shared.c  all members on one host: a counter, or an algorithm over shared memory
 *   path_hybrid.c  gather in the node, a barrier among the node leaders, release in the node; or
 *                  an algorithm over messages among all members
 *
 * The other parts of the engine call a path only through its table. A table does not know teams:
 * the engine counts rounds, waits, and completes the rounds of a failed device.
 *
 * No operation blocks or makes a system call, except `destroy`. One thread at a time
 * on one path, unless an operation states otherwise.
 */
#ifndef GBA_PATH_PATH_H
#define GBA_PATH_PATH_H

#include "gba/algo/graph.h"
#include "gba/dev/member.h"
#include "gba/stall.h"
#include "gba/transport/transport.h"

struct gba_node;
struct gba_path_base;
struct gba_path_hybrid;

/* What a member can sleep on: a word of shared memory, the flag of a simulated device, or a device
 * that wakes it; the other pointers are NULL. All are NULL where nothing wakes the member. */
struct gba_awaited {
    gba_word_t *word;
    gba_flag_t *flag;
    gba_word_t *sleepers; /* the count that the storing process reads, see gba_word_park */
    const struct gba_local_state *state; /* to sleep with gba_dev_ops.sleep */
};

struct gba_path_ops {
    /*
     * The fast path in one call: start, then test up to path->spins times; once if further tests
     * gain nothing. Returns as test. Release on entry, acquire on GBA_OK.
     */
    gba_status_t (*attempt)(struct gba_path_base *path);

    /* Arrive at the next round. The last round must have ended. Returns GBA_OK or GBA_ERR_IO.
     * Release. */
    gba_status_t (*start)(struct gba_path_base *path);

    /* Returns GBA_OK when all members have arrived, and again until the next start; GBA_INPROGRESS;
     * or GBA_ERR_IO: the runtime lost a connection. Acquire on GBA_OK. */
    gba_status_t (*test)(struct gba_path_base *path);

    /* Free the path and leave its group. Sends nothing, does not block. */
    void (*destroy)(struct gba_path_base *path);

    /* --- For waiting: */

    /* The location whose next store ends the wait or advances it. Not to be called after a test
     * that returned GBA_OK. */
    struct gba_awaited (*awaited)(const struct gba_path_base *path);

    /* --- For the watchdog: */

    /* The state of this member in the group whose release the path waits for now, or NULL. */
    struct gba_local_state *(*in_group)(const struct gba_path_base *path);

    /*
     * Whether a member of the team has arrived, as far as this member can see. group: the registers
     * of path->group; NULL: there are none, or they cannot be read.
     */
    enum gba_arrived (*arrived)(const struct gba_path_base *path, const gba_group_state_t *group,
                                uint32_t member);
};

/* The common part of all paths; the structure of each path begins with it. */
struct gba_path_base {
    const struct gba_path_ops *ops;
    uint32_t spins;        /* tests of one attempt, 1 or more */
    bool waits_for_leader; /* this member only waits for its node's leader, which needs a core */
    bool given_up;         /* see gba_path_give_up */
    /* The barrier group of this member, else NULL: */
    gba_group_t *group;
    struct gba_local_state *state;
    struct gba_node *node; /* NULL: the path has none */
    /* This path, if it has messages, a node leader or switch domains: path_hybrid.h has what such a
     * path does besides. NULL: another path. */
    struct gba_path_hybrid *hybrid;
};

/* gba_path_ops.awaited of a path that waits for the release of its group. A device with interrupts
 * wakes this process. A process stores the flag of a simulated device and wakes this process. */
static inline struct gba_awaited gba_path_awaits_release(const struct gba_path_base *path)
{
    gba_flag_t *flag = path->state->flag;

    if (path->state->ops->sleep != NULL)
        return (struct gba_awaited){.state = path->state};
    if (GBA_PATH_SIM != path->group->kind)
        return (struct gba_awaited){0};
    return (struct gba_awaited){.flag = flag, .sleepers = &(flag + 1)->device_order};
}

/* Destroy a path. NULL is allowed. */
static inline void gba_path_destroy(struct gba_path_base *path)
{
    if (path != NULL)
        path->ops->destroy(path);
}

/* Destroy a path in the middle of a barrier, which members of a trial may leave. From here on no
 * signal of another member is received for the path, but such signals may be in transit. NULL is
 * allowed. */
static inline void gba_path_give_up(struct gba_path_base *path)
{
    if (path != NULL)
        path->given_up = true;
    gba_path_destroy(path);
}

#endif
