/* SPDX-License-Identifier: BSD-3-Clause */
/* The limit of open files of this process, for tests of what happens at it. */
#ifndef GBA_TESTS_FILE_LIMIT_H
#define GBA_TESTS_FILE_LIMIT_H

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "gba/base/log.h"
#include "tests/suite.h"
#include "tests/unit/log_catch.h"

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

/* Call `call` with room for no file, then for one, and so on, until it returns GBA_OK. Before that
 * it returns GBA_ERR_NO_FILES, and the caught log says so. Returns the number of calls. */
static inline unsigned files_until(gba_status_t (*call)(void *), void *ctx)
{
    unsigned files = 0;
    gba_status_t status;

    gba_log_set(log_catch, NULL, GBA_LOG_WARN);
    do {
        log_forget();
        files_limit(files++);
        status = call(ctx);
        files_unlimit();
        if (GBA_OK != status) {
            assert_int_equal(status, GBA_ERR_NO_FILES);
            assert_logged("Too many open files");
        }
    } while (GBA_OK != status);
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
    return files;
}

#endif
