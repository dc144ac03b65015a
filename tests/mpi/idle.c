/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that wait long for a late rank use almost no CPU time.
 *
 *   idle [LATE_MS [ROUNDS]]
 *
 * In each of 2 rounds the first or the last rank is 4000 ms late. The others may spin in the first
 * half; in the rest they may use a tenth, on average, if it is a second or more. A rank that does
 * not sleep uses two thirds of a core or more. A rank that sleeps uses 1 to 2%, and more if the
 * host of a virtual machine charges its own work to it. The test counts CPU time, not the clock, so
 * other load of this machine makes no difference. Rank 0 also prints how long after the last
 * arrival the others have left, with all ranks on one host, because they compare clocks.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/mpi/test.h"

/* `auto` sleeps after a second, and ranks of an oversubscribed host may be late. So the second half
 * is idle if it begins later than that. */
#define LATE  4000
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

/* Returns how long after the late rank's arrival this rank has left, in us; the late rank: 0. */
static double wait_for(int late, long late_ms)
{
    const long half = late_ms / 2;
    const struct itimerspec when = {
        .it_value = {.tv_sec = half / 1000, .tv_nsec = half % 1000 * 1000000}};
    double cpu, arrived, left, allowed = SHARE * 1e-3 * (double)half;

    MPI_Barrier(MPI_COMM_WORLD);
    idle_cpu = 0;
    if (test_rank == late)
        usleep(1000 * (unsigned)late_ms);
    else
        timer_settime(timer, 0, &when, NULL);
    arrived = seconds(CLOCK_MONOTONIC);
    MPI_Barrier(MPI_COMM_WORLD);
    left = seconds(CLOCK_MONOTONIC);
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - idle_cpu;
    MPI_Bcast(&arrived, 1, MPI_DOUBLE, late, MPI_COMM_WORLD);
    if (test_rank == late)
        return 0;
    TEST_CHECK(idle_cpu > 0, "left before rank %d could have come", late);
    TEST_CHECK(late_ms < LATE || cpu <= allowed,
               "%.0f ms of CPU time in the idle part, %.0f are allowed", cpu * 1e3, allowed * 1e3);
    return (left - arrived) * 1e6;
}

static int compare(const void *left, const void *right)
{
    const double *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

/* Of all ranks and rounds, without the late ranks. */
static void report(const double *mine, long rounds)
{
    const size_t count = (size_t)rounds * (size_t)test_size, first = (size_t)rounds;
    double *all = calloc(count, sizeof *all);

    TEST_CHECK(all != NULL, "no memory");
    MPI_Gather(mine, (int)rounds, MPI_DOUBLE, all, (int)rounds, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    qsort(all, count, sizeof *all, compare);
    if (test_rank == 0 && test_size > 1)
        printf("%zu wake-ups: least %.1f us, median %.1f us, most %.1f us\n", count - first,
               all[first], all[first + (count - first) / 2], all[count - 1]);
    free(all);
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = idle_begins, .sa_flags = SA_RESTART};
    /* Not SIGALRM, which is the watchdog's. */
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    long late_ms, rounds;
    double *left;

    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    sigaction(SIGUSR1, &action, NULL);
    TEST_CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "no timer");
    test_step("waiting for a late rank");
    late_ms = test_argument(argc, argv, 1, LATE);
    rounds = test_argument(argc, argv, 2, 2);
    left = calloc((size_t)rounds, sizeof *left);
    TEST_CHECK(left != NULL, "no memory");
    for (long i = 0; i < rounds; i++)
        left[i] = wait_for(i % 2 == 0 ? 0 : test_size - 1, late_ms);
    report(left, rounds);
    free(left);
    return test_end();
}
