/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/path/path_device.h"

#include <stdlib.h>

static struct gba_local_state *state_of(struct gba_path_base *path)
{
    return &((struct gba_path_device *)path)->state;
}

static gba_status_t device_start(struct gba_path_base *path)
{
    struct gba_local_state *state = state_of(path);

    state->sequence++; /* unsigned: wraps after 2^32 - 1 to 0, as the device's does */
    gba_state_arrive(state);
    return GBA_OK;
}

static gba_status_t device_test(struct gba_path_base *path)
{
    return gba_state_poll(state_of(path));
}

/* The first test found no release: spin. Not inlined, so that the fast path saves no registers for
 * it. */
static gba_status_t __attribute__((noinline)) device_spin(struct gba_path_base *path)
{
    gba_status_t status = GBA_INPROGRESS;

    for (uint32_t spins = path->spins; GBA_INPROGRESS == status && spins > 1; spins--) {
        gba_cpu_pause();
        status = device_test(path);
    }
    return status;
}

static gba_status_t device_attempt(struct gba_path_base *path)
{
    gba_status_t status;

    (void)device_start(path);
    status = device_test(path);
    return __builtin_expect(GBA_OK == status, 1) ? status : device_spin(path);
}

static void device_destroy(struct gba_path_base *path)
{
    gba_free_group(path->group);
    free(path);
}

static struct gba_local_state *device_in_group(const struct gba_path_base *path)
{
    return path->state;
}

static enum gba_arrived device_arrived(const struct gba_path_base *path,
                                       const gba_group_state_t *group, uint32_t member)
{
    if (group == NULL)
        return member == GBA_ARRIVAL_MEMBER(path->state->low) ? GBA_ARRIVED_YES
                                                              : GBA_ARRIVED_UNKNOWN;
    return gba_group_arrived(group, member) ? GBA_ARRIVED_YES : GBA_ARRIVED_NO;
}

const struct gba_path_ops gba_path_device_ops = {.attempt = device_attempt,
                                                 .start = device_start,
                                                 .test = device_test,
                                                 .destroy = device_destroy,
                                                 .awaited = gba_path_awaits_release,
                                                 .in_group = device_in_group,
                                                 .arrived = device_arrived};

gba_status_t gba_path_device_create(gba_device_t *device, const gba_group_handle_t *handle,
                                    uint32_t member, uint32_t sequence, struct gba_path_base **path)
{
    struct gba_path_device *p = aligned_alloc(_Alignof(struct gba_path_device), sizeof *p);
    gba_status_t status;

    if (p == NULL) {
        if (0 == member)
            gba_free_handle(device, handle);
        return GBA_ERR_NOMEM;
    }
    *p = (struct gba_path_device){.base = {.ops = &gba_path_device_ops, .spins = 1}};
    status = gba_group_take(device, handle, member, sequence, &p->base.group, &p->state);
    if (GBA_OK != status) {
        free(p);
        return status;
    }
    p->base.state = &p->state;
    *path = &p->base;
    return GBA_OK;
}
