/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests with the driver of fake_cuda.c: their main function, and a process that is a team
 * by itself, with one GPU member or two. */
#ifndef GBA_TESTS_GPU_ALONE_H
#define GBA_TESTS_GPU_ALONE_H

#include <dlfcn.h>

#include "gba/failover/engine.h"
#include "tests/gpu/fake_cuda.h"
#include "tests/gpu/members.h"
#include "tests/limit.h"
#include "tests/suite.h"
#include "tests/unit/log_catch.h"

#define GBA_GPU_ON_CPU
#include "gba/gpu.cuh"

#define ONE GBA_GPU_THREAD

static struct fake_cuda *fake;

struct alone {
    struct member me;
    gba_gpu_member_t gpu[2]; /* one that does not exist has id 0 */
};

static inline gba_status_t create(struct alone *one, uint32_t member)
{
    one->me.attr.member = member;
    return gba_gpu_member_create(one->me.team, &one->me.attr, &one->gpu[member]);
}

/* Make the team, and that many GPU members; 0: none yet. */
static inline struct alone *alone(const char *device, uint32_t members)
{
    struct alone *one = calloc(1, sizeof *one);

    one->me.all = members_new(1);
    setenv("GBA_OFFLOAD", "always", 1);
    assert_true(member_team(&one->me, device, true));
    unsetenv("GBA_OFFLOAD");
    one->me.attr.members = members;
    while (members-- > 0)
        assert_int_equal(create(one, members), GBA_OK);
    return one;
}

/* The same with a parameter of the environment. */
static inline struct alone *alone_with(const char *variable, const char *value, const char *device,
                                       uint32_t members)
{
    struct alone *one;

    setenv(variable, value, 1);
    one = alone(device, members);
    unsetenv(variable);
    return one;
}

static inline gba_status_t destroy(struct alone *one, uint32_t member)
{
    return gba_gpu_member_destroy(&one->gpu[member]);
}

/* End the team, and the members that exist. */
static inline void alone_end(struct alone *one)
{
    for (uint32_t i = 0; i < 2; i++)
        if (0 != one->gpu[i].id)
            assert_int_equal(destroy(one, i), GBA_OK);
    member_end(&one->me);
    free(one);
}

static inline void caught(gba_status_t status, gba_status_t expected, const char *line)
{
    assert_int_equal(status, expected);
    assert_logged(line);
    log_forget();
}

/* Before and after a test. Its members leave nothing. */
static inline int quiet(void **state)
{
    (void)state;
    gba_log_set(log_catch, NULL, GBA_LOG_ERROR);
    log_forget();
    return 0;
}

static inline int loud(void **state)
{
    (void)state;
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
    fake->on_free = NULL;
    fake->refused_flags = 0;
    return 0 != fake->registered || 0 != fake->allocated;
}

/* Run the tests, with the driver loaded, so that libgba_gpu finds it. */
static inline int fake_cuda_run(void)
{
    void *driver = dlopen("tests/gpu/fake/.libs/libcuda.so.1", RTLD_NOW);

    alarm(test_limit(240));
    if (driver == NULL)
        return puts("FAIL: no tests/gpu/fake/.libs/libcuda.so.1") < 0 ? 2 : 1;
    fake = dlsym(driver, "fake_cuda");
    return SUITE_RUN(NULL, NULL);
}

#endif
