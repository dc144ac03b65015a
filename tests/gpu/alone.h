/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that is a team by itself, with GPU members, for tests with the driver of fake_cuda.c.
 */
#ifndef GBA_TESTS_GPU_ALONE_H
#define GBA_TESTS_GPU_ALONE_H

#include "tests/gpu/fake_cuda.h"
#include "tests/gpu/members.h"
#include "tests/suite.h"
#include "tests/unit/log_catch.h"

static struct fake_cuda *fake;

struct alone {
    struct member me;
    gba_gpu_member_t gpu;
};

static inline struct alone *alone(const char *device)
{
    struct alone *one = calloc(1, sizeof *one);

    one->me.all = members_new(1);
    setenv("GBA_OFFLOAD", "always", 1);
    assert_true(member_team(&one->me, device, true));
    unsetenv("GBA_OFFLOAD");
    return one;
}

/* The same with a parameter of the environment. */
static inline struct alone *alone_with(const char *variable, const char *value)
{
    struct alone *one;

    setenv(variable, value, 1);
    one = alone("none");
    unsetenv(variable);
    return one;
}

static inline gba_status_t create(struct alone *one)
{
    return gba_gpu_member_create(one->me.team, &one->me.attr, &one->gpu);
}

static inline void alone_end(struct alone *one)
{
    member_end(&one->me);
    free(one);
    assert_int_equal(fake->registered, 0);
    assert_int_equal(fake->allocated, 0);
}

static inline void caught(gba_status_t status, gba_status_t expected, const char *line)
{
    assert_int_equal(status, expected);
    assert_logged(line);
    log_forget();
}

#endif
