/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a plugin costs those who never use it: the life of a process. MPI_Init and MPI_Finalize,
 * with nothing between them. Each rank prints "life INIT FINALIZE BOTH CPU" in us: from before the
 * first to after the second by CLOCK_MONOTONIC, and the processor time of the process until then.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static const char usage[] = "usage: mpirun -np N lifecycle_cost\n"
                            "Each rank prints the times of MPI_Init and MPI_Finalize, in us.\n";

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static double cpu_us(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

int main(int argc, char **argv)
{
    double began = now_us(), inited, ended;

    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) < 0;
    MPI_Init(&argc, &argv);
    inited = now_us();
    MPI_Finalize();
    ended = now_us();
    printf("life %.1f %.1f %.1f %.1f\n", inited - began, ended - inited, ended - began, cpu_us());
    return 0;
}
