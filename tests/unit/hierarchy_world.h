/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Worlds with a barrier group among the leaders of nodes (group_world.h): hosts are made up, the
 * device is simulated.
 */
#ifndef GBA_TESTS_HIERARCHY_WORLD_H
#define GBA_TESTS_HIERARCHY_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/group_world.h"

static inline struct world *world_on(const char *path)
{
    struct world *w = world_new();

    alarm(300); /* a member that waits for ever must not be waited for */
    assert_int_equal(gba_device_init(path, NULL, &w->device), GBA_OK);
    w->params.hierarchy = GBA_HIERARCHY_NODE;
    w->params.retry_after = 1;
    w->expected = "";
    return w;
}

static inline void world_end(struct world *w)
{
    device_end(w->device);
    free(w);
    alarm(0);
}

#endif
