/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/islands_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

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
    for (uint32_t d = 0; d < DEVICES; d++)
        device_end(devices[d]);
    free(w);
    alarm(0);
}

void world_place(struct world *w, uint32_t size, uint32_t hosts, uint32_t used, int layout)
{
    world_hosts(w, size, hosts, layout);
    for (uint32_t r = 0; r < size; r++)
        w->devices[r] = devices[w->host[r] % used];
}

void run(struct world *w, uint32_t size, gba_path_t path)
{
    notices_start(w, size);
    world_run(w, size, path);
    notices_stop(w);
}
