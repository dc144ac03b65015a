/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/islands_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "gba/engine.h"

gba_status_t __real_gba_group_take(gba_device_t *device, const gba_ticket_t *ticket,
                                   uint32_t member, uint32_t sequence, gba_group_t **group,
                                   gba_local_state_t **state);
gba_status_t __wrap_gba_group_take(gba_device_t *device, const gba_ticket_t *ticket,
                                   uint32_t member, uint32_t sequence, gba_group_t **group,
                                   gba_local_state_t **state);
gba_status_t __real_gba_configure_group(gba_group_t *group, uint32_t sequence);
gba_status_t __wrap_gba_configure_group(gba_group_t *group, uint32_t sequence);

gba_device_t *no_seat_on, *no_arming_on;
uint32_t no_seat;

gba_status_t __wrap_gba_group_take(gba_device_t *device, const gba_ticket_t *ticket,
                                   uint32_t member, uint32_t sequence, gba_group_t **group,
                                   gba_local_state_t **state)
{
    gba_ticket_t other = *ticket;

    if (device == no_seat_on && member == no_seat)
        other.uuid[0] ^= 1;
    return __real_gba_group_take(device, &other, member, sequence, group, state);
}

gba_status_t __wrap_gba_configure_group(gba_group_t *group, uint32_t sequence)
{
    if (group->device == no_arming_on)
        return GBA_ERR_IO;
    return __real_gba_configure_group(group, sequence);
}

gba_device_t *devices[DEVICES];

struct world *world_on(const char *const paths[DEVICES])
{
    struct world *w = world_new();

    alarm(300); /* a member that waits for ever must not be waited for */
    for (uint32_t d = 0; d < DEVICES; d++)
        assert_int_equal(gba_device_init(NULL == paths[d] ? paths[0] : paths[d], NULL, &devices[d]),
                         GBA_OK);
    w->params.retry_after = 1;
    w->accounts = true;
    w->expected = "";
    return w;
}

struct world *world_plain(void)
{
    return world_on((const char *const[DEVICES]){"sim"});
}

void world_end(struct world *w)
{
    gba_device_info_t info;

    for (uint32_t d = 0; d < DEVICES; d++) {
        assert_int_equal(gba_device_query(devices[d], &info), GBA_OK);
        assert_int_equal(info.groups_free,
                         NULL == strstr(devices[d]->path, "full") ? info.groups : 0);
        gba_device_fini(devices[d]);
    }
    free(w);
    alarm(0);
}

void world_place(struct world *w, uint32_t size, uint32_t hosts, uint32_t used, int layout)
{
    for (uint32_t r = 0; r < size; r++) {
        const uint32_t host[] = {r % hosts, r * hosts / size, r * r % hosts,
                                 r < hosts ? r : hosts - 1};

        w->host[r] = host[layout];
        w->devices[r] = devices[w->host[r] % used];
    }
}

void run(struct world *w, uint32_t size, gba_path_t path)
{
    notices_start(w, size);
    world_run(w, size, path);
    notices_stop(w);
}
