/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one communicator costs besides many. Callgrind counts the calls of `few` and `many` (living
 * in sanitize.sh), and two calls of getpriority mark each of them among the system calls.
 *
 * living fresh | agreed: one more communicator agrees on a path, in a blocking barrier, another one
 * in a nonblocking barrier, and both are freed, while 100 (few) and 3,000 (many) communicators
 * live. fresh: these have not agreed; agreed: they have.
 * living at_once: so many agree in nonblocking barriers at the same time.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/mpi/test.h"

#define FEW     100
#define MANY    3000
#define SAMPLES 80 /* the least of them has waited least, also on a busy machine */
#define TRIES   3  /* of many barriers at once */

static MPI_Comm living[MANY];
static MPI_Request request[MANY];

static void one_more(MPI_Comm one[2])
{
    MPI_Barrier(one[0]);
    MPI_Barrier(one[0]);
    MPI_Ibarrier(one[1], request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&one[0]);
    MPI_Comm_free(&one[1]);
}

static void at_once(MPI_Comm *comms, int count)
{
    for (int i = 0; i < count; i++)
        MPI_Ibarrier(comms[i], &request[i]);
    MPI_Waitall(count, request, MPI_STATUSES_IGNORE);
}

/* one: two communicators; NULL: at once. Not inlined, because callgrind counts by functions. */
__attribute__((noinline)) static void few(MPI_Comm one[2])
{
    (void)getpriority(PRIO_PROCESS, 0);
    if (one != NULL)
        one_more(one);
    else
        at_once(living, FEW);
    (void)getpriority(PRIO_PROCESS, 0);
}

__attribute__((noinline)) static void many(MPI_Comm one[2])
{
    (void)getpriority(PRIO_PGRP, 0);
    if (one != NULL)
        one_more(one);
    else
        at_once(living, MANY);
    (void)getpriority(PRIO_PGRP, 0);
}

static void make(int from, int to, bool agreed)
{
    test_step("communicators are made");
    for (; from < to; from++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &living[from]);
        if (agreed)
            MPI_Barrier(living[from]);
    }
}

static void drop(int count)
{
    test_step("communicators are freed");
    while (count > 0)
        MPI_Comm_free(&living[--count]);
}

static void more(void (*sample)(MPI_Comm one[2]))
{
    for (int i = 0; i < SAMPLES; i++) {
        MPI_Comm one[2];

        MPI_Comm_dup(MPI_COMM_WORLD, &one[0]);
        MPI_Comm_dup(MPI_COMM_WORLD, &one[1]);
        sample(one);
    }
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "fresh";
    const bool agreed = strcmp(mode, "agreed") == 0;

    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(mode, "at_once") != 0) {
        make(0, FEW, agreed);
        more(few);
        make(FEW, MANY, agreed);
        more(many);
        drop(MANY);
        return test_end();
    }
    for (int i = 0; i < TRIES; i++) {
        make(0, FEW, false);
        few(NULL);
        drop(FEW);
        make(0, MANY, false);
        many(NULL);
        drop(MANY);
    }
    return test_end();
}
