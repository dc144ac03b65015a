/* SPDX-License-Identifier: BSD-3-Clause */
/* The round trip of a device, by a group of one member. */
#include <sched.h>

#include "gba/base/clock.h"
#include "gba/dev/member.h"

/* The lowest time of ROUNDS counts, because other work can only add to it. LIMIT_NS is for a device
 * that does not answer. A device that takes longer than SPIN_NS may be served by a process that
 * needs this core. */
#define ROUNDS   16
#define LIMIT_NS UINT64_C(20000000)
#define SPIN_NS  UINT64_C(20000)

static uint64_t rounds_time(struct gba_local_state *state)
{
    const uint64_t end = gba_clock_ns() + LIMIT_NS;
    uint64_t lowest = UINT64_MAX, began, now;

    for (int i = 0; i < ROUNDS; i++) {
        began = gba_clock_ns();
        state->sequence++;
        gba_state_arrive(state);
        while (GBA_OK != gba_state_poll(state)) {
            now = gba_clock_ns();
            if (now > end)
                return lowest;
            if (now - began > SPIN_NS)
                sched_yield();
        }
        now = gba_clock_ns() - began;
        lowest = now < lowest ? now : lowest;
    }
    return lowest;
}

void gba_round_trip_measure(gba_device_t *device)
{
    struct gba_dev *dev = device->dev;
    uint64_t ns = UINT64_MAX;
    struct gba_local_state state;
    gba_group_handle_t handle;
    gba_group_t *group;

    if (0 == gba_word_load_relaxed(&dev->round_trip) &&
        GBA_OK == gba_allocate_group(device, 1, &handle) &&
        GBA_OK == gba_group_take(device, &handle, 0, 0, &group, &state)) {
        if (GBA_OK == gba_configure_group(group, 0))
            ns = rounds_time(&state);
        gba_free_group(group);
        gba_word_store_relaxed(&dev->round_trip, ns);
    }
}
