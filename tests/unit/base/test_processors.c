/* SPDX-License-Identifier: BSD-3-Clause */
/* The processors that a process may use: affinities, and quotas of cgroups made of plain files. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/stat.h>

#include "gba/gba.h"
#include "gba/base/processors.h"
#include "tests/suite.h"

static char root[] = "/tmp/gba-processors.XXXXXX";

/* A file below the root, with its directories. */
static void put(const char *name, const char *text)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int make_root(void **state)
{
    (void)state;
    strcpy(root + strlen(root) - 6, "XXXXXX");
    return mkdtemp(root) == NULL ? -1 : 0;
}

static int remove_root(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

static uint32_t quota(const char *groups)
{
    char path[256];

    put("groups", groups);
    snprintf(path, sizeof path, "%s/groups", root);
    return gba_processors_quota(path, root);
}

TEST_WITH(test_no_limit, make_root, remove_root, NULL)
{
    assert_int_equal(gba_processors_quota("/nonexistent", root), UINT32_MAX);
    assert_int_equal(quota(""), UINT32_MAX);
    assert_int_equal(quota("0::/\n"), UINT32_MAX);
    put("job/cpu.max", "max 100000\n");
    assert_int_equal(quota("0::/job\n"), UINT32_MAX);
    put("cpu/job/cpu.cfs_quota_us", "-1\n");
    put("cpu/job/cpu.cfs_period_us", "100000\n");
    assert_int_equal(quota("4:cpu,cpuacct:/job\n0::/\n"), UINT32_MAX);
}

TEST_WITH(test_version_2, make_root, remove_root, NULL)
{
    put("job/step/cpu.max", "350000 100000\n");
    assert_int_equal(quota("0::/job/step\n"), 3);
    assert_int_equal(quota("0::/job/step/task\n"), 3); /* without files of its own */
    put("job/cpu.max", "200000 100000\n");             /* the one above has less */
    assert_int_equal(quota("0::/job/step\n"), 2);
    put("cpu.max", "50000 100000\n"); /* a container: its own cgroup is the root */
    assert_int_equal(quota("0::/\n"), 1);
    assert_int_equal(quota("0::/../other\n"), 1);
}

TEST_WITH(test_version_1, make_root, remove_root, NULL)
{
    put("cpu/job/cpu.cfs_quota_us", "400000\n");
    put("cpu/job/cpu.cfs_period_us", "100000\n");
    assert_int_equal(quota("9:memory:/a\n4:cpu,cpuacct:/job/step_0\n0::/\n"), 4);
    assert_int_equal(quota("4:cpuacct,cpu:/job\n"), 4);
    assert_int_equal(quota("4:cpuset:/job\n"), UINT32_MAX);
    assert_int_equal(quota("4:cpuacct:/job\n"), UINT32_MAX);
}

TEST_WITH(test_nonsense, make_root, remove_root, NULL)
{
    put("job/cpu.max", "");
    assert_int_equal(quota("0::/job\n"), UINT32_MAX);
    put("job/cpu.max", "1 0\n");
    assert_int_equal(quota("0::/job\n"), UINT32_MAX);
    assert_int_equal(quota("0\n::\n0::\n:\n0::job\n"), UINT32_MAX);
}

TEST(test_count)
{
    gba_processors_t processors = {.map = {[0] = 5, [255] = UINT32_C(1) << 31},
                                   .quota = UINT32_MAX};

    assert_int_equal(gba_processors_count(&processors), 3);
    processors.quota = 2;
    assert_int_equal(gba_processors_count(&processors), 2);
}

TEST(test_affinity)
{
    cpu_set_t all, one;
    gba_processors_t processors;
    unsigned cpu = 0;

    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    gba_processors_get(&processors);
    processors.quota = UINT32_MAX;
    assert_int_equal(gba_processors_count(&processors), CPU_COUNT(&all));
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    gba_processors_get(&processors);
    assert_int_equal(gba_processors_count(&processors), 1);
    assert_int_equal(processors.map[cpu / 32], UINT32_C(1) << cpu % 32);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

TEST_MAIN()
