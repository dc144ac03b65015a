/* SPDX-License-Identifier: BSD-3-Clause */
/* A team of one or two members on one device. Threads create it; then the thread of the test makes
 * the rounds of all members. */
#ifndef GBA_TESTS_PAIR_H
#define GBA_TESTS_PAIR_H

#include "gba/failover/engine.h"
#include "tests/suite.h"
#include "tests/unit/team/thread_oob.h"

static struct {
    gba_device_t *device;
    gba_params_t params;
    gba_team_t *team[2];
    uint32_t members;
} pair;

/* Open the device, with parameters for pair_create. */
static inline void pair_open(const char *path)
{
    memset(&pair, 0, sizeof pair);
    gba_params_default(&pair.params);
    pair.params.stuck_after = 0;
    assert_int_equal(gba_device_init(path, NULL, &pair.device), GBA_OK);
}

static inline void pair_member(struct thread_oob_member *self, const gba_oob_t *oob)
{
    gba_team_attr_t attr = {.name = "team", .id = 1, .params = &pair.params, .device = pair.device};

    if (GBA_OK != gba_team_create(&attr, oob, &pair.team[self->rank]))
        pair.team[self->rank] = NULL;
}

static inline void pair_create(uint32_t members)
{
    pair.members = members;
    thread_oob_run(members, 0, pair_member, NULL);
    for (uint32_t member = 0; member < members; member++)
        assert_non_null(pair.team[member]);
}

/* A barrier of member 0 with this progress of the runtime. */
static inline gba_status_t pair_wait(int (*progress)(void *ctx), void *ctx)
{
    pair.team[0]->runtime = (gba_runtime_t){.ctx = ctx, .progress = progress};
    return gba_barrier_wait(pair.team[0]);
}

static inline void pair_close(void)
{
    for (uint32_t member = 0; member < pair.members; member++)
        gba_team_destroy(pair.team[member]);
    gba_device_fini(pair.device);
}

#endif
