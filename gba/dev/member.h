/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The structures behind the handles of gba/device.h, and the fast path of a member of a barrier
 * group: the arrival (one store to the device) and the poll (one load of the release flag).
 */
#ifndef GBA_DEV_MEMBER_H
#define GBA_DEV_MEMBER_H

#include "gba/dev/dev_ops.h"
#include "gba/device.h"
#include "gba/spec/gba_regs.h"
#include "gba/team.h"

/* A device of gba_device_init. */
struct gba_device {
    struct gba_dev *dev;
    char *path; /* as given by the caller */
    char *job;  /* of the attributes; may be NULL */
    uint32_t members_max;
    gba_path_t kind; /* GBA_PATH_DEVICE, _SWITCH or _SIM */
    /* Only for devices of the process-wide list (device.c), under its lock: */
    unsigned references;
    struct gba_device *next;
};

/*
 * Measure the round trip of a device by a group of one member, once in a process. If the device has
 * no group for it, the next call tries again. Not collective. Calls the driver, then waits for the
 * device: some ten microseconds, 20 ms at most.
 */
void gba_round_trip_measure(gba_device_t *device);

struct gba_group {
    gba_path_t kind; /* of the device */
    struct gba_membership *membership;
};

/* The state of one member: all that an arrival and a poll touch, in its own cache line. One thread
 * at a time. */
struct gba_local_state {
    _Alignas(64) gba_flag_t *flag;
    gba_mmio64_t *doorbell; /* NULL: call ops->arrive */
    const struct gba_dev_ops *ops;
    struct gba_membership *membership;
    uint32_t sequence; /* of the current round, or of the last one */
    uint32_t low;      /* GBA_ARRIVAL_LOW */
};

/* Arrive at round state->sequence, for the first time or again (ARR-4 and ARR-5). One thread at a
 * time. Release. */
static inline void gba_state_arrive(const struct gba_local_state *state)
{
    uint64_t arrival = (uint64_t)state->sequence << 32 | state->low;

    /* Release: the writes before the barrier are visible before the arrival is. Pairs with the
     * acquire in gba_state_poll of the other members, through the device, which stores a release
     * only after it has received all arrivals. */
    if (__builtin_expect(state->doorbell != NULL, 1))
        gba_mmio_write64(state->doorbell, arrival);
    else
        state->ops->arrive(state->membership, arrival);
}

/* Whether round state->sequence has ended: GBA_OK or GBA_INPROGRESS. One thread at a time. Acquire
 * on GBA_OK. */
static inline gba_status_t gba_state_poll(const struct gba_local_state *state)
{
    /* Acquire: pairs with the release in gba_state_arrive of every other member. */
    uint64_t flag = gba_flag_load_acquire(state->flag);

    if (GBA_SEQ_REACHED((uint32_t)flag, state->sequence))
        return GBA_OK;
    if (state->ops->poll != NULL)
        state->ops->poll(state->membership);
    return GBA_INPROGRESS;
}

/*
 * Why the rounds of this member no longer end, as far as its memory shows: GBA_ERR_DEAD, or GBA_OK:
 * no reason is known. For slow paths only, because gba_state_poll reads just the low half of the
 * flag, which keeps the last release. Makes no system call. Acquire. Pairs with the driver's store
 * of the reason.
 */
static inline gba_status_t gba_state_failure(const struct gba_local_state *state)
{
    return state->ops->failure == NULL ? GBA_OK : state->ops->failure(state->membership);
}

/* Whether a member's bit is set in the arrived mask. */
static inline bool gba_group_arrived(const gba_group_state_t *group, uint32_t member)
{
    return 0 != (group->arrived_mask[member / 64] >> (member % 64) & 1);
}

/*
 * Prepare a membership so that only arming is missing: join, map the flag, set its first value.
 * member: 0 to handle->members - 1. Member 0 has allocated the group. sequence: the first round is
 * sequence + 1. group, state: set on GBA_OK.
 * Returns as gba_join_group, gba_dma_map and gba_local_state_init. On failure this process holds
 * nothing, and member 0 has given the group back. Thread-safe. Not collective.
 */
gba_status_t gba_group_take(gba_device_t *device, const gba_group_handle_t *handle, uint32_t member,
                            uint32_t sequence, gba_group_t **group, struct gba_local_state *state);

#endif
