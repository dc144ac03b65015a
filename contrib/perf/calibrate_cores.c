/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of a calibration that measures processors and a line of memory. Ranks 0 and 1, if they
 * are on one host, take turns to set a flag. Then, if there are more than two ranks for each
 * processor, all ranks of the machine take turns.
 */
#define _GNU_SOURCE /* the processors of a process */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "contrib/perf/calibrate.h"
#include "gba/base/order.h"

#define HANDOVERS 1000      /* of a flag, in a batch */
#define TURNS     200       /* the same on one processor */
#define CROWD_NS  200000000 /* many slices */

/* Each word has a cache line of its own, two lines apart. */
struct lines {
    _Alignas(128) gba_word_t flag[2][16];
};

static struct lines *lines;
static double turn; /* as in the description */
static uint64_t handover;

static long topology(int cpu, const char *what)
{
    char name[100];
    long number = 0;
    FILE *file;

    snprintf(name, sizeof name, "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, what);
    file = fopen(name, "re");
    if (file == NULL || fscanf(file, "%ld", &number) != 1)
        number = strcmp(what, "core_id") == 0 ? cpu : 0;
    if (file != NULL)
        fclose(file);
    return number;
}

struct perf_processors perf_processors_find(void)
{
    struct perf_processors found = {.first = -1, .near = -1};
    cpu_set_t allowed, sockets;

    CPU_ZERO(&sockets);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        perf_fail("cannot find out the processors of rank 0");
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        long socket, of_first;

        if (!CPU_ISSET(cpu, &allowed))
            continue;
        if (found.first < 0)
            found.first = cpu;
        socket = topology(cpu, "physical_package_id");
        of_first = topology(found.first, "physical_package_id");
        if (socket >= 0 && socket < CPU_SETSIZE)
            CPU_SET((int)socket, &sockets);
        if (found.near < 0 && socket == of_first &&
            topology(cpu, "core_id") != topology(found.first, "core_id"))
            found.near = cpu;
        found.cores++;
    }
    found.sockets = CPU_COUNT(&sockets) > 0 ? CPU_COUNT(&sockets) : 1;
    return found;
}

/* Hand the flag over and back count times. Returns the ns of one way. */
static double hand_over(uint32_t count, bool yields)
{
    const int me = perf_job.rank;
    int64_t began = perf_now();

    for (uint32_t i = 0; i < count; i++) {
        handover++;
        if (me == 0)
            gba_word_store_release(&lines->flag[0][0], handover);
        while (gba_word_load_acquire(&lines->flag[1 - me][0]) < handover)
            if (yields)
                sched_yield();
        if (me == 1)
            gba_word_store_release(&lines->flag[1][0], handover);
    }
    return (double)(perf_now() - began) / count / 2;
}

static double spinning(void)
{
    return hand_over(HANDOVERS, false);
}

static double yielding(void)
{
    return hand_over(TURNS, true);
}

static double storing(void)
{
    int64_t began = perf_now();

    for (uint32_t i = 0; i < HANDOVERS; i++)
        gba_word_store_release(&lines->flag[perf_job.rank][8], i);
    return (double)(perf_now() - began) / HANDOVERS;
}

double perf_calibrate_memory(const struct perf_processors *on, MPI_Comm two)
{
    const bool other = perf_job.rank == 1;
    double store = 0;
    cpu_set_t allowed;
    MPI_Win window;
    MPI_Aint size;
    int unit;

    MPI_Win_allocate_shared(perf_job.rank == 0 ? (MPI_Aint)sizeof *lines : 0, 1, MPI_INFO_NULL, two,
                            &lines, &window);
    MPI_Win_shared_query(window, 0, &size, &unit, &lines);
    if (perf_job.rank == 0)
        memset((void *)lines, 0, sizeof *lines);
    MPI_Barrier(two);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        perf_fail("cannot find out the processors of a rank");
    perf_use_processor(other && on->near >= 0 ? on->near : on->first);
    if (on->near >= 0) {
        store = perf_time_of(spinning);
        perf_put("store", store, "one way; two cores hand over a flag");
        perf_put("o_local", perf_time_of_sends(1 - perf_job.rank),
                 "MPI_Send to the other rank, which shares memory");
        perf_put("store_issue", perf_time_of(storing), "stores of one core to a line of its own");
    }
    perf_use_processor(on->first);
    turn = perf_time_of(yielding);
    perf_put("turn", turn, "two ranks on one core hand over a flag and yield");
    sched_setaffinity(0, sizeof allowed, &allowed);
    MPI_Win_free(&window);
    return store;
}

/* The time of a turn if all ranks of this machine take turns, ns. polls: each looks for a message.
 */
static double crowd_turn(bool polls, int on_core)
{
    int64_t turns = 0, began, now;
    int found;

    perf_meet(0); /* a rank that spins would keep the core for a slice */
    began = perf_now();
    do {
        if (polls)
            MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        sched_yield();
        turns++;
        now = perf_now();
    } while (now < began + CROWD_NS);
    return (double)(now - began) / (double)turns / on_core;
}

/* What a turn costs with all ranks of this machine, ns: `yields`, and `polls` if each rank looks.
 */
static struct {
    int on_core;
    double yields, polls;
} crowd;

void perf_calibrate_crowd(const struct perf_processors *on, int hosts)
{
    cpu_set_t allowed;

    crowd.on_core = perf_job.size / perf_job.hosts * hosts / on->cores;
    if (crowd.on_core <= 2 || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    perf_pin();
    crowd.yields = crowd_turn(false, crowd.on_core);
    crowd.polls = crowd_turn(true, crowd.on_core);
    sched_setaffinity(0, sizeof allowed, &allowed);
}

void perf_put_crowd(double poll)
{
    const int more = crowd.on_core - 2;

    if (more <= 0 || turn <= 0 || poll <= 0)
        return;
    perf_put("turn_more", (crowd.yields - turn) / more, "%d ranks take turns on a core: %.0f ns",
             more + 2, crowd.yields);
    perf_put("poll_more", (crowd.polls - crowd.yields - poll) / more, "and look: %.0f ns",
             crowd.polls);
}
