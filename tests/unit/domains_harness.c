/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/domains_harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

gba_device_t *devices[DEVICES];

struct harness *harness_on(const char *const paths[DEVICES])
{
    struct harness *w = harness_new();

    alarm(300); /* the test must not wait for a member that waits for ever */
    for (uint32_t d = 0; d < DEVICES; d++)
        assert_int_equal(gba_device_init(NULL == paths[d] ? paths[0] : paths[d], NULL, &devices[d]),
                         GBA_OK);
    w->params.retry_after = 1;
    w->accounts = true;
    w->expected = "";
    return w;
}

struct harness *harness_plain(void)
{
    return harness_on((const char *const[DEVICES]){"sim"});
}

void harness_end(struct harness *w)
{
    for (uint32_t d = 0; d < DEVICES; d++)
        device_end(devices[d]);
    free(w);
    alarm(0);
}

void harness_place(struct harness *w, uint32_t size, uint32_t hosts, uint32_t used, int layout)
{
    harness_hosts(w, size, hosts, layout);
    for (uint32_t r = 0; r < size; r++)
        w->devices[r] = devices[w->host[r] % used];
}

void run(struct harness *w, uint32_t size, gba_path_t path)
{
    harness_run(w, size, path);
}
