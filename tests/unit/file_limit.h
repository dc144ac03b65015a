/* SPDX-License-Identifier: BSD-3-Clause */
/* The limit of open files of this process, for tests of what happens at it. */
#ifndef GBA_TESTS_FILE_LIMIT_H
#define GBA_TESTS_FILE_LIMIT_H

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static struct rlimit files_before;

/* From here on this process can open only so many files. */
static inline void files_limit(unsigned count)
{
    struct rlimit limit;
    int file[256], next = dup(STDOUT_FILENO);

    if (next < 0 || 0 != getrlimit(RLIMIT_NOFILE, &files_before))
        abort();
    /* Descriptors are given in order, and some above the first free one may be in use. */
    limit = files_before;
    file[0] = next;
    for (unsigned i = 1; i <= count && i < 256; i++)
        file[i] = next = dup(STDOUT_FILENO);
    limit.rlim_cur = (rlim_t)next;
    for (unsigned i = 0; i <= count && i < 256; i++)
        close(file[i]);
    if (0 != setrlimit(RLIMIT_NOFILE, &limit))
        abort();
}

static inline void files_unlimit(void)
{
    if (0 != setrlimit(RLIMIT_NOFILE, &files_before))
        abort();
}

#endif
