/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that wait long for a late rank use almost no CPU time. In each round one rank is 4 seconds
 * late. The others may spin in the first of them; in the last two they may use a tenth, on average.
 * A rank that does not sleep uses two thirds of a core or more. A rank that sleeps uses 1 to 2%,
 * and more if the host of a virtual machine charges its own work to it. The test counts CPU time,
 * not the clock, so other load of this machine makes no difference.
 */
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/mpi/test.h"

#define LATE 4 /* seconds */
#define IDLE_FROM \
    2 /* seconds: `auto` sleeps after one, and ranks of an oversubscribed host may be late */
#define SHARE 0.1

static volatile double idle_cpu; /* CPU time at the start of the idle part; 0: it has not started */

static timer_t timer;

static double seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void idle_begins(int signal)
{
    (void)signal;
    idle_cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
}

static void wait_for(int late)
{
    const struct itimerspec when = {.it_value = {.tv_sec = IDLE_FROM}};
    double cpu, allowed = SHARE * (LATE - IDLE_FROM);

    MPI_Barrier(MPI_COMM_WORLD);
    idle_cpu = 0;
    if (test_rank == late)
        sleep(LATE);
    else
        timer_settime(timer, 0, &when, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - idle_cpu;
    if (test_rank == late)
        return;
    TEST_CHECK(idle_cpu > 0, "left before rank %d could have come", late);
    TEST_CHECK(cpu <= allowed, "%.0f ms of CPU time in the idle part, %.0f are allowed", cpu * 1e3,
               allowed * 1e3);
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = idle_begins, .sa_flags = SA_RESTART};
    /* Not SIGALRM, which is the watchdog's. */
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};

    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    sigaction(SIGUSR1, &action, NULL);
    TEST_CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "no timer");
    test_step("waiting for a late rank");
    wait_for(0);
    if (test_size > 1)
        wait_for(test_size - 1);
    return test_end();
}
