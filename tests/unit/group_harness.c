/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/group_harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "gba/team/engine.h"

gba_status_t __real_gba_group_take(gba_device_t *device, const gba_group_handle_t *handle,
                                   uint32_t member, uint32_t sequence, gba_group_t **group,
                                   struct gba_local_state *state);
gba_status_t __wrap_gba_group_take(gba_device_t *device, const gba_group_handle_t *handle,
                                   uint32_t member, uint32_t sequence, gba_group_t **group,
                                   struct gba_local_state *state);
gba_status_t __real_gba_configure_group(gba_group_t *group, uint32_t sequence);
gba_status_t __wrap_gba_configure_group(gba_group_t *group, uint32_t sequence);

gba_device_t *no_membership_on, *no_arming_on;
uint32_t no_membership;

gba_status_t __wrap_gba_group_take(gba_device_t *device, const gba_group_handle_t *handle,
                                   uint32_t member, uint32_t sequence, gba_group_t **group,
                                   struct gba_local_state *state)
{
    gba_group_handle_t other = *handle;

    if (device == no_membership_on && member == no_membership)
        other.uuid[0] ^= 1; /* of another switch */
    return __real_gba_group_take(device, &other, member, sequence, group, state);
}

gba_status_t __wrap_gba_configure_group(gba_group_t *group, uint32_t sequence)
{
    if (group->device == no_arming_on)
        return GBA_ERR_IO;
    return __real_gba_configure_group(group, sequence);
}

void harness_hosts(struct harness *w, uint32_t size, uint32_t hosts, int layout)
{
    for (uint32_t r = 0; r < size; r++) {
        const uint32_t host[] = {r % hosts, r * hosts / size, r * r % hosts,
                                 r < hosts ? r : hosts - 1};

        w->host[r] = host[layout];
    }
}

void device_end(gba_device_t *device)
{
    gba_device_info_t info;

    assert_int_equal(gba_device_query(device, &info), GBA_OK);
    assert_int_equal(info.groups_free, NULL == strstr(device->path, "full") ? info.groups : 0);
    gba_device_fini(device);
}
