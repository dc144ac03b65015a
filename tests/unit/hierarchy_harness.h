/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Harnesses with a barrier group among the node leaders (group_harness.h). The hosts are invented;
 * the device is simulated.
 */
#ifndef GBA_TESTS_HIERARCHY_HARNESS_H
#define GBA_TESTS_HIERARCHY_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/group_harness.h"

static inline struct harness *harness_on(const char *path)
{
    struct harness *w = harness_new();

    alarm(300); /* the test must not wait for a member that waits for ever */
    assert_int_equal(gba_device_init(path, NULL, &w->device), GBA_OK);
    w->params.hierarchy = GBA_HIERARCHY_NODE;
    w->params.retry_after = 1;
    w->expected = "";
    return w;
}

static inline void harness_end(struct harness *w)
{
    device_end(w->device);
    free(w);
    alarm(0);
}

#endif
