/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a barrier over several hosts costs beside time: messages over TCP, and system calls. The
 * time on hosts that share two cores does not show this.
 *
 *   mpirun -np N hosts_cost [EVENT [DAEMON]]
 *
 * EVENT: number of the kernel's tracepoint raw_syscalls:sys_enter; 0: do not count system calls.
 * DAEMON: process of a gba-switchd on the host of rank 0; 0: none. Prints, of one barrier and
 * all ranks and hosts: "messages A calls B daemon C"; "-": not counted.
 */
#define _GNU_SOURCE /* syscall */
#include <linux/perf_event.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST 21000 /* barriers: the agreement, connections, and a trial after 20000 */
#define MOST  20000
#define SOME  200

static const char usage[] = "usage: mpirun -np N hosts_cost [EVENT [DAEMON]]\n"
                            "contrib/bench/hosts runs it.\n";

/* Start to count the system calls of a thread; 0: of this one. Returns a descriptor, or -1. */
static int count_calls(uint64_t event, pid_t thread)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_TRACEPOINT, .size = sizeof attr, .config = event};

    return 0 == event
               ? -1
               : (int)syscall(SYS_perf_event_open, &attr, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The calls since count_calls; -1: not counted. */
static double calls_of(int fd)
{
    uint64_t count;

    if (fd < 0 || (ssize_t)sizeof count != read(fd, &count, sizeof count))
        return -1;
    return (double)count;
}

/* The segments with new data that this host has sent: TCPOrigDataSent of /proc/net/netstat, whose
 * lines of names and of numbers alternate. Returns -1 if the kernel does not count them. */
static double messages_sent(void)
{
    char names[8192], numbers[8192], *name, *number, *next_name, *next_number;
    FILE *file = fopen("/proc/net/netstat", "re");
    double sent = -1;

    if (NULL == file)
        return -1;
    while (NULL != fgets(names, sizeof names, file) &&
           NULL != fgets(numbers, sizeof numbers, file)) {
        name = strtok_r(names, " \n", &next_name);
        number = strtok_r(numbers, " \n", &next_number);
        for (; NULL != name && NULL != number;
             name = strtok_r(NULL, " \n", &next_name), number = strtok_r(NULL, " \n", &next_number))
            if (0 == strcmp(name, "TCPOrigDataSent"))
                sent = strtod(number, NULL);
    }
    fclose(file);
    return sent;
}

static double make_barriers(int count)
{
    const double begin = MPI_Wtime();

    for (int i = 0; i < count; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    return (MPI_Wtime() - begin) / count;
}

/* The number of barriers that take about a second. */
static int choose_count(void)
{
    double mean = make_barriers(SOME);
    int count = mean * MOST > 1 ? (int)(1 / mean) + 1 : MOST;

    MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return count;
}

static void print(const char *what, double sum, double barriers)
{
    if (sum < 0)
        printf(" %s -", what);
    else
        printf(" %s %.1f", what, sum / barriers);
}

int main(int argc, char **argv)
{
    enum { MESSAGES, CALLS, DAEMON, COUNTS };
    double count[COUNTS], sum[COUNTS];
    int rank, local, barriers, own, daemon = -1;
    uint64_t event;
    MPI_Comm host;

    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) < 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &local);
    event = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    (void)make_barriers(FIRST);
    barriers = choose_count();
    (void)make_barriers(SOME);
    count[MESSAGES] = messages_sent();
    own = count_calls(event, 0);
    if (0 == rank && argc > 2 && atoi(argv[2]) > 0)
        daemon = count_calls(event, atoi(argv[2]));
    (void)make_barriers(barriers);
    count[CALLS] = calls_of(own);
    count[DAEMON] = calls_of(daemon);
    count[MESSAGES] = 0 == local ? messages_sent() - count[MESSAGES] : 0;
    MPI_Reduce(count, sum, COUNTS, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    sum[DAEMON] = count[DAEMON];
    if (0 == rank) {
        print("messages", sum[MESSAGES], barriers);
        print("calls", sum[CALLS], barriers);
        print("daemon", sum[DAEMON], barriers);
        putchar('\n');
    }
    MPI_Comm_free(&host);
    MPI_Finalize();
    return 0;
}
