/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages of a calibration, by the parametrised round trips of T. Hoefler, A. Lichei and W.
 * Rehm, "Low-Overhead LogGP Parameter Assessment for Modern Interconnection Networks" (2007), as
 * Netgauge measures them. PRTT(n, d, s) is the time of n messages of s bytes, sent with a pause d
 * between two of them, and of one answer of s bytes.
 */
#include <sched.h>

#include "contrib/perf/calibrate.h"

#define TAG           11
#define MESSAGES      16     /* of a parametrised round trip */
#define QUIET_NS      100000 /* longer than many sends */
#define SIZE_MAX_SENT 4096   /* bytes; Open MPI sends so few at once */

static int peer; /* the rank at the other end */
static int bytes, messages;
static int64_t pause_ns;

static void spin(int64_t ns)
{
    int64_t until = perf_now() + ns;

    while (perf_now() < until)
        ;
}

/* PRTT(messages, pause_ns, bytes), in ns on rank 0. */
static double round_trip(void)
{
    static char data[SIZE_MAX_SENT];
    int64_t began = perf_now();

    for (int i = 0; i < messages; i++) {
        if (perf_job.rank != 0)
            MPI_Recv(data, bytes, MPI_CHAR, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(data, bytes, MPI_CHAR, peer, TAG, MPI_COMM_WORLD);
        if (perf_job.rank == 0 && i + 1 < messages && pause_ns > 0)
            spin(pause_ns);
    }
    if (perf_job.rank != 0)
        MPI_Send(data, bytes, MPI_CHAR, peer, TAG, MPI_COMM_WORLD);
    else
        MPI_Recv(data, bytes, MPI_CHAR, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return (double)(perf_now() - began);
}

static double prtt(int count, int64_t pause, int size)
{
    messages = count;
    pause_ns = pause;
    bytes = size;
    return perf_time_of(round_trip);
}

/* The time to receive a message that has arrived long since, in ns on rank 0. */
static double receiving(void)
{
    char data = 0;
    int64_t began;

    if (perf_job.rank != 0) {
        MPI_Recv(&data, 1, MPI_CHAR, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&data, 1, MPI_CHAR, peer, TAG, MPI_COMM_WORLD);
        return 0;
    }
    MPI_Send(&data, 1, MPI_CHAR, peer, TAG, MPI_COMM_WORLD);
    began = perf_now();
    while (perf_now() < began + pause_ns)
        sched_yield(); /* the peer may share the processor */
    began = perf_now();
    MPI_Recv(&data, 1, MPI_CHAR, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return (double)(perf_now() - began);
}

/* A look that finds no message, ns. */
static double looking(void)
{
    int64_t began = perf_now();
    int found;

    for (int i = 0; i < MESSAGES; i++)
        MPI_Iprobe(peer, TAG + 1, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    return (double)(perf_now() - began) / MESSAGES;
}

/* The time to send `messages` to a rank that does not look meanwhile, in ns on rank 0. */
static double sending(void)
{
    char data = 0;
    int64_t began;

    if (perf_job.rank != 0) {
        MPI_Send(&data, 1, MPI_CHAR, peer, TAG, MPI_COMM_WORLD);
        spin(pause_ns);
        for (int i = 0; i < messages; i++)
            MPI_Recv(&data, 1, MPI_CHAR, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return 0;
    }
    MPI_Recv(&data, 1, MPI_CHAR, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    began = perf_now();
    for (int i = 0; i < messages; i++)
        MPI_Send(&data, 1, MPI_CHAR, peer, TAG, MPI_COMM_WORLD);
    return (double)(perf_now() - began);
}

double perf_time_of_sends(int other)
{
    double many;

    peer = other;
    pause_ns = QUIET_NS;
    messages = MESSAGES;
    many = perf_time_of(sending);
    messages = 1;
    return (many - perf_time_of(sending)) / (MESSAGES - 1);
}

double perf_calibrate_messages(int other)
{
    static const int sizes[] = {1, 1024, 2048, 3072, SIZE_MAX_SENT};
    const int count = sizeof sizes / sizeof sizes[0];
    double once, o_send, o_recv, poll, o_next, gap, x = 0, y = 0, xx = 0, xy = 0, slope;
    int64_t pause;

    peer = other;
    once = prtt(1, 0, 1);
    /* A message and its pause are longer than all that the other rank does. */
    pause = (int64_t)(once * 2) + 1000;
    o_send = (prtt(MESSAGES, pause, 1) - once) / (MESSAGES - 1) - (double)pause;
    o_send = o_send > 0 ? o_send : 0;
    o_recv = perf_time_of(receiving);
    poll = perf_time_of(looking);
    o_next = perf_time_of_sends(other);
    for (int i = 0; i < count; i++) {
        double y_i = (prtt(MESSAGES, 0, sizes[i]) - prtt(1, 0, sizes[i])) / (MESSAGES - 1);

        x += sizes[i] - 1;
        y += y_i;
        xx += (double)(sizes[i] - 1) * (sizes[i] - 1);
        xy += (sizes[i] - 1) * y_i;
    }
    /* A message takes no longer than half of a round trip, in which the processors may have waited.
     */
    if (o_send + o_recv > once / 2) {
        o_send *= once / 2 / (o_send + o_recv);
        o_recv = once / 2 - o_send;
    }
    slope = (count * xy - x * y) / (count * xx - x * x);
    perf_put("o_send", o_send, "(PRTT(%d, d, 1) - PRTT(1, 0, 1)) / %d - d, d = %lld ns", MESSAGES,
             MESSAGES - 1, (long long)pause);
    perf_put("o_recv", o_recv, "MPI_Recv of a message that has arrived");
    perf_put("L", once / 2 - o_send - o_recv,
             "PRTT(1, 0, 1) / 2 - o_send - o_recv; PRTT(1, 0, 1) = %.0f ns", once);
    perf_put("poll", poll, "MPI_Iprobe that finds no message");
    perf_put("o_next", o_next, "a further MPI_Send, of %d after each other", MESSAGES);
    gap = (y - slope * x) / count;
    perf_put("g", gap > 1.5 * o_send && gap > 1.5 * o_recv ? gap : 0,
             "gap of 1 byte by the fit for G: %.0f ns; 0: the processors cause it", gap);
    perf_put("G", slope, "least squares of (PRTT(%d, 0, s) - PRTT(1, 0, s)) / %d, s = 1 to %d",
             MESSAGES, MESSAGES - 1, SIZE_MAX_SENT);
    return poll;
}
