/* SPDX-License-Identifier: BSD-3-Clause */
/* The processors that processes may use: what an affinity, a cpuset or a quota leaves. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "gba/base/processors.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gba/gba.h"

#define GROUP_MAX (2 * PATH_MAX) /* the mount point, and the path below it */

/* Read the first line of a file in a cgroup. Returns false: it is missing. */
static bool read_line(const char *group, const char *name, char *line, int len)
{
    char path[GROUP_MAX + 32];
    FILE *file;
    bool read;

    snprintf(path, sizeof path, "%s/%s", group, name);
    file = fopen(path, "re");
    if (file == NULL)
        return false;
    read = fgets(line, len, file) != NULL;
    fclose(file);
    return read;
}

/* The quota of one cgroup. "max" of version 2 and -1 of version 1 are no limit. */
static uint32_t quota_in(const char *group)
{
    long long quota = -1, period = 0;
    char line[64];

    if (read_line(group, "cpu.max", line, sizeof line)) {
        if (2 != sscanf(line, "%lld %lld", &quota, &period))
            return UINT32_MAX;
    } else if (!read_line(group, "cpu.cfs_quota_us", line, sizeof line) ||
               1 != sscanf(line, "%lld", &quota) ||
               !read_line(group, "cpu.cfs_period_us", line, sizeof line) ||
               1 != sscanf(line, "%lld", &period)) {
        return UINT32_MAX;
    }
    if (quota < 0 || period <= 0 || quota / period >= UINT32_MAX)
        return UINT32_MAX;
    return quota < period ? 1 : (uint32_t)(quota / period);
}

/* The least quota of a cgroup and of those above it, up to the mount point. group: is changed. */
static uint32_t quota_up(char *group, size_t mount_len)
{
    uint32_t least = UINT32_MAX, quota;

    for (;;) {
        quota = quota_in(group);
        least = quota < least ? quota : least;
        if (strlen(group) <= mount_len)
            return least;
        *strrchr(group, '/') = '\0';
    }
}

/* Whether a list of controllers of version 1 ("cpu,cpuacct") has cpu. */
static bool has_cpu(const char *controllers)
{
    char list[256];

    snprintf(list, sizeof list, ",%s,", controllers);
    return strstr(list, ",cpu,") != NULL;
}

uint32_t gba_processors_quota(const char *groups, const char *root)
{
    FILE *file = fopen(groups, "re");
    uint32_t least = UINT32_MAX, quota;
    char line[PATH_MAX], group[GROUP_MAX];

    if (file == NULL)
        return UINT32_MAX;
    /* A line: number:controllers:/path; version 2 has the number 0 and no controllers. */
    while (fgets(line, sizeof line, file) != NULL) {
        char *controllers = strchr(line, ':');
        char *path = controllers == NULL ? NULL : strchr(++controllers, ':');
        const char *mount;

        if (path == NULL)
            continue;
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        if ('\0' != *controllers && !has_cpu(controllers))
            continue;
        mount = '\0' == *controllers ? "" : "/cpu";
        /* The root has the path "/". */
        snprintf(group, sizeof group, "%s%s%s", root, mount, 0 == strcmp(path, "/") ? "" : path);
        quota = quota_up(group, strlen(root) + strlen(mount));
        least = quota < least ? quota : least;
    }
    fclose(file);
    return least;
}

void gba_processors_get(gba_processors_t *processors)
{
    enum { COUNT = GBA_PROCESSOR_WORDS * 32 };
    cpu_set_t set[COUNT / CPU_SETSIZE];
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    /* More processors than Linux has today: take the whole host. */
    const bool known = 0 == sched_getaffinity(0, sizeof set, set);

    memset(processors, 0, sizeof *processors);
    processors->quota = gba_processors_quota("/proc/thread-self/cgroup", "/sys/fs/cgroup");
    for (size_t i = 0; i < COUNT; i++)
        if (known ? CPU_ISSET_S(i, sizeof set, set) : (long)i < online)
            processors->map[i / 32] |= UINT32_C(1) << i % 32;
}

uint32_t gba_processors_count(const gba_processors_t *processors)
{
    uint32_t count = 0;

    for (uint32_t w = 0; w < GBA_PROCESSOR_WORDS; w++)
        count += (uint32_t)__builtin_popcount(processors->map[w]);
    return processors->quota < count ? processors->quota : count;
}
