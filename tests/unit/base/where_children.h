/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of a job with status pages, for the tests of these pages and of the reporter. */
#ifndef GBA_TEST_WHERE_CHILDREN_H
#define GBA_TEST_WHERE_CHILDREN_H

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gba/base/clock.h"
#include "gba/base/where.h"
#include "gba/stall.h"
#include "tests/suite.h"

static char job[128];
static pid_t children[4];
static uid_t child_user;                 /* of the next child; 0: this one's */
static void (*child_leaves)(int number); /* the next child leaves its place so; NULL: it stays */

/* A process of the job, with a forked copy of itself, which has its page. places: NULL: none. */
static inline void child_start(uint32_t rank, const gba_where_t *place)
{
    int ready[2], number = -1;
    char byte;

    assert_int_equal(pipe(ready), 0);
    children[rank] = fork();
    if (0 == children[rank]) {
        if (0 != child_user)
            (void)!setuid(child_user);
        (void)prctl(PR_SET_PDEATHSIG,
                    SIGKILL); /* if the test fails; after setuid, which clears it */
        gba_where_join(job, rank);
        if (place != NULL)
            number = gba_where_enter(place);
        if (child_leaves != NULL)
            child_leaves(number);
        if (0 == fork())
            usleep(100000); /* a copy of the page, which is not the process's own */
        else if (1 == write(ready[1], "x", 1))
            pause();
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
}

static inline void children_end(void)
{
    for (int i = 0; i < 4; i++)
        if (children[i] > 0) {
            kill(children[i], SIGKILL);
            waitpid(children[i], NULL, 0);
            children[i] = 0;
        }
}

static inline void name_rank(void *ctx, uint32_t member, char *text, size_t len)
{
    (void)ctx;
    snprintf(text, len, "rank %u on h", member);
}

static inline gba_status_t count_one(void *ctx, const gba_where_process_t *process)
{
    (void)process;
    ++*(unsigned *)ctx;
    return GBA_INPROGRESS;
}

#endif
