/* SPDX-License-Identifier: BSD-3-Clause */
/* The backends of libgba, for the suite: the simulator, and /dev/gbaN on the fake kernel. */
#include "tests/conformance/conformance.h"
#include "tests/unit/dev/fake_kernel.h"

static void cdev_start(void)
{
    fake_kernel_start(GBA_GROUPS);
}

static void cdev_stop(void)
{
    assert_int_equal(fake_kernel_slots(), 0);
    fake_kernel_stop();
    if (0 != fake_kernel.seen.violations)
        fail_msg("%u violations, first: %s", fake_kernel.seen.violations,
                 fake_kernel.seen.violation);
    assert_int_equal(fake_kernel.seen.open_files, 0);
    assert_int_equal(fake_kernel.seen.doorbells, 0);
    assert_int_equal(fake_kernel.seen.pages, 0);
}

static void cdev_run(void)
{
    fake_kernel_run();
}

static const struct conf_backend conf_cdev = {
    .name = "cdev on a fake kernel",
    .path = FAKE_KERNEL_PATH,
    .ops = &gba_dev_cdev,
    .flag_at_join = true,
    .start = cdev_start,
    .stop = cdev_stop,
    .run = cdev_run,
};

/* Without a name and a job, the simulator serves this process alone. */
static const struct conf_backend conf_sim = {.name = "sim", .path = "sim", .ops = &gba_dev_sim};

/* The simulator with release stores that come late and in any order. */
static const struct conf_backend conf_sim_slow = {
    .name = "sim with latency", .path = "sim?latency=2us&jitter=3us", .ops = &gba_dev_sim};

const struct conf_backend *const conf_backends[] = {&conf_sim, &conf_sim_slow, &conf_cdev, NULL};

int conf_prepare(void)
{
    return 0;
}
