/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calibration: measures what a description of a cluster needs (gba/base/cluster.h), and prints
 * it in lines "cluster KEY = VALUE # ...", and each interruption in a line "noise START LENGTH".
 *
 * Memory: ranks 0 and 1, if they are on one host, take turns to set a flag. Noise: the fixed work
 * quantum (fwq.c of M. Sottile and M. Seager): a loop of constant length is timed again and again,
 * and what one takes longer than the shortest is an interruption. Device: rounds of a group of one
 * member.
 */
#define _GNU_SOURCE /* the processors of a process */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contrib/perf/calibrate.h"
#include "gba/base/order.h"
#include "gba/device.h"

#define HANDOVERS      1000 /* of a flag, in a batch */
#define TURNS          200  /* the same on one processor */
#define SLICE_LEAST_NS 100000
#define CROWD_NS       200000000
#define ROUNDS         16    /* of the device, in a batch */
#define QUANTUM_NS     10000 /* of work */
#define QUANTA         1000  /* for each sample of the options */

/* Each word has a cache line of its own, two lines apart. */
struct lines {
    _Alignas(128) gba_word_t flag[2][16];
    _Alignas(128) gba_word_t sum;
};

static struct lines *lines;
static double turn; /* as in the description */
static uint64_t handover;

/* Wait until all ranks call it. us: the sleep between two tests; 0: yield. */
static void meet(unsigned us)
{
    MPI_Request all;
    int done = 0;

    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    for (MPI_Test(&all, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&all, &done, MPI_STATUS_IGNORE))
        if (us > 0)
            usleep(us);
        else
            sched_yield();
}

/* The same, while other ranks measure: so seldom on a processor that it disturbs nothing. */
static void rest(void)
{
    meet(100000);
}

/* ---------------------------------------------------------------------- processors, memory --- */

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

/* Of the processors that this rank may use: the first, one of another core of its socket, and one
 * of another socket; -1: there is none. */
struct processors {
    int first, near, far;
    int cores, sockets;
};

static struct processors processors_find(void)
{
    struct processors found = {.first = -1, .near = -1, .far = -1};
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
        if (found.far < 0 && socket != of_first)
            found.far = cpu;
        if (found.near < 0 && socket == of_first &&
            topology(cpu, "core_id") != topology(found.first, "core_id"))
            found.near = cpu;
        found.cores++;
    }
    found.sockets = CPU_COUNT(&sockets) > 0 ? CPU_COUNT(&sockets) : 1;
    return found;
}

static void pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        perf_fail("cannot run on processor %d", cpu);
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

static double adding(void)
{
    int64_t began;

    (void)hand_over(1, false);
    began = perf_now();
    for (uint32_t i = 0; i < HANDOVERS; i++)
        (void)gba_word_add_acq_rel(&lines->sum, 1);
    return (double)(perf_now() - began) / HANDOVERS / 2; /* two ranks add */
}

static double storing(void)
{
    int64_t began = perf_now();

    for (uint32_t i = 0; i < HANDOVERS; i++)
        gba_word_store_release(&lines->flag[perf_job.rank][8], i);
    return (double)(perf_now() - began) / HANDOVERS;
}

/* The ns of a yield to a rank that spins. The yields of the end, when it does not, are short. */
static double crowding(bool spins)
{
    const int64_t end = perf_now() + CROWD_NS;
    int64_t turns = 0, sum = 0, now = perf_now(), before;

    while (now < end) {
        before = now;
        if (!spins)
            sched_yield();
        now = perf_now();
        if (now > before + SLICE_LEAST_NS) {
            sum += now - before;
            turns++;
        }
    }
    return turns > 0 ? (double)sum / (double)turns : 0;
}

static void calibrate_memory(const struct processors *on)
{
    const bool other = perf_job.rank == 1;

    pin(other && on->near >= 0 ? on->near : on->first);
    if (on->near >= 0) {
        perf_put("store", perf_time_of(spinning), "one way; two cores hand over a flag");
        perf_put("o_local", perf_time_of_sends(1 - perf_job.rank),
                 "MPI_Send to the other rank, which shares memory");
        perf_put("atomic", perf_time_of(adding), "two cores add to one word");
        perf_put("store_issue", perf_time_of(storing), "stores of one core to a line of its own");
    }
    if (on->far >= 0) {
        pin(other ? on->far : on->first);
        perf_put("store_far", perf_time_of(spinning), "as store, between two sockets");
    }
    pin(on->first);
    turn = perf_time_of(yielding);
    perf_put("turn", turn, "two ranks on one core hand over a flag and yield");
    perf_put("slice", crowding(other), "rank 0 yields to rank 1, which never does");
}

/* The time of a turn if all ranks of this machine take turns, ns. polls: each looks for a message.
 */
static double crowd_turn(bool polls, int on_core)
{
    int64_t turns = 0, began, now;
    int found;

    meet(0); /* a rank that spins would keep the core for a slice */
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

static void calibrate_crowd(const struct processors *on, int hosts)
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

/* After turn and poll. */
static void put_crowd(double poll)
{
    const int more = crowd.on_core - 2;

    if (more <= 0 || turn <= 0 || poll <= 0)
        return;
    perf_put("turn_more", (crowd.yields - turn) / more, "%d ranks take turns on a core: %.0f ns",
             more + 2, crowd.yields);
    perf_put("poll_more", (crowd.polls - crowd.yields - poll) / more, "and look: %.0f ns",
             crowd.polls);
}

/* ----------------------------------------------------------------------------------- noise --- */

static void __attribute__((noinline)) work(int64_t turns)
{
    for (; turns > 0; turns--)
        gba_fence_compiler();
}

static void calibrate_noise(int cpu)
{
    int64_t turns = 1000000, shortest = INT64_MAX, began = perf_now(), start, quanta, lost = 0;
    int64_t *length, interruptions = 0, at = 0, rate, mean;

    pin(cpu);
    work(turns);
    turns = turns * QUANTUM_NS / (perf_now() - began) + 1;
    quanta = (int64_t)perf_options.samples * QUANTA;
    length = perf_alloc((size_t)quanta, sizeof *length);
    start = perf_now();
    for (int64_t i = 0; i < quanta; i++) {
        int64_t now;

        work(turns);
        now = perf_now();
        length[i] = now - start;
        start = now;
        if (length[i] < shortest)
            shortest = length[i];
    }
    /* A quantum that is a tenth longer than the shortest was interrupted. */
    for (int64_t i = 0; i < quanta; at += length[i++])
        if (length[i] > shortest + shortest / 10) {
            printf("noise %lld %lld\n", (long long)at, (long long)(length[i] - shortest));
            interruptions++;
            lost += length[i] - shortest;
        }
    at = at > 0 ? at : 1;
    rate = interruptions * 1000000000 / at;
    mean = interruptions > 0 ? lost / interruptions : 0;
    perf_put("noise_rate", (double)rate, "%lld interruptions of %.1f s; quantum %lld ns",
             (long long)interruptions, (double)at / 1e9, (long long)shortest);
    perf_put("noise_length", (double)mean, "their mean, %.3f%% of the time",
             100 * (double)lost / (double)at);
    free(length);
}

/* ---------------------------------------------------------------------------------- device --- */

static gba_local_state_t *member;
static gba_device_t *device;

static double arriving(void)
{
    int64_t began = perf_now();
    double arrived;

    gba_send_arrival(member);
    arrived = (double)(perf_now() - began);
    while (gba_poll_release(member) != GBA_OK)
        ;
    return arrived;
}

static double rounds(void)
{
    int64_t began = perf_now();

    for (int i = 0; i < ROUNDS; i++) {
        gba_send_arrival(member);
        while (gba_poll_release(member) != GBA_OK)
            ;
    }
    return (double)(perf_now() - began) / ROUNDS;
}

static double inspecting(void)
{
    uint64_t value;
    int64_t began = perf_now();

    (void)gba_reg_read(device, 0, 4, &value);
    return (double)(perf_now() - began);
}

static void calibrate_device(void)
{
    gba_group_handle_t handle;
    gba_group_t *group = NULL;
    double issue, all;
    const char *path = perf_options.device;
    gba_status_t status = gba_device_init(path, NULL, &device);

    if (status == GBA_OK)
        status = gba_allocate_group(device, 1, &handle);
    if (status == GBA_OK)
        status = gba_join_group(device, &handle, 0, &group);
    if (status == GBA_OK)
        status = gba_dma_map(group);
    if (status == GBA_OK)
        status = gba_local_state_init(group, 0, &member);
    if (status == GBA_OK)
        status = gba_configure_group(group, 0);
    if (status != GBA_OK)
        perf_fail("--device %s: %s", path, gba_status_text(status));
    issue = perf_time_of(arriving) - (double)perf_job.timer_ns;
    all = perf_time_of(rounds);
    issue = issue < all ? issue : all;
    perf_put("device_issue", issue, "%s: the call that stores an arrival", path);
    perf_put("device_up", (all - issue) / 2, "half of a round of one member without device_issue");
    perf_put("device_match", 0, "not known; part of device_up and device_down");
    perf_put("device_down", (all - issue) / 2, "as device_up");
    perf_put("device_read", perf_time_of(inspecting), "reading the register GROUP_ID");
    gba_local_state_fini(member);
    gba_free_group(group);
    gba_device_fini(device);
}

/* ------------------------------------------------------------------------------------- all --- */

/* A line about each host of the job: the number of its kernel. Counts those with the kernel of rank
 * 0, which are one machine, and finds the first rank on another host than rank 0. */
static int hosts_of_machine(int *peer)
{
    char id[64] = "",
         *all = perf_job.rank == 0 ? perf_alloc((size_t)perf_job.size, sizeof id) : NULL;
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    int leader = perf_job.rank, hosts = 1,
        *leaders = perf_alloc((size_t)perf_job.size, sizeof *leaders);
    MPI_Comm host;

    if (file != NULL) {
        if (fscanf(file, "%63s", id) != 1)
            id[0] = '\0';
        fclose(file);
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Bcast(&leader, 1, MPI_INT, 0, host);
    MPI_Comm_free(&host);
    MPI_Allgather(&leader, 1, MPI_INT, leaders, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Gather(id, sizeof id, MPI_CHAR, all, sizeof id, MPI_CHAR, 0, MPI_COMM_WORLD);
    *peer = -1;
    for (int rank = perf_job.size - 1; rank > 0; rank--) {
        if (leaders[rank] != 0)
            *peer = rank;
        if (all != NULL && leaders[rank] == rank && id[0] != '\0')
            hosts += memcmp(all + (size_t)rank * sizeof id, id, sizeof id) == 0;
    }
    free(all);
    free(leaders);
    return hosts;
}

void perf_calibrate(void)
{
    struct processors on = processors_find();
    int peer;
    int hosts = hosts_of_machine(&peer);
    const int ranks = perf_job.size / perf_job.hosts;
    bool pair = peer != 1 && perf_job.size > 1;
    MPI_Comm two;
    MPI_Win window;
    MPI_Aint size;
    int unit;

    MPI_Bcast(&on, sizeof on, MPI_BYTE, 0, MPI_COMM_WORLD);
    perf_put("hosts", perf_job.hosts, "of the job");
    perf_put("ranks", ranks, "a host, of the job");
    perf_put("cores", on.cores, "processors that rank 0 may use");
    perf_put("sockets", on.sockets, "of these");
    perf_put("hosts_per_machine", hosts, "hosts of the job with the kernel of rank 0");
    MPI_Bcast(&hosts, 1, MPI_INT, 0, MPI_COMM_WORLD);
    calibrate_crowd(&on, hosts);
    MPI_Comm_split(MPI_COMM_WORLD, pair && perf_job.rank < 2 ? 0 : MPI_UNDEFINED, 0, &two);
    if (two != MPI_COMM_NULL) {
        MPI_Win_allocate_shared(perf_job.rank == 0 ? (MPI_Aint)sizeof *lines : 0, 1, MPI_INFO_NULL,
                                two, &lines, &window);
        MPI_Win_shared_query(window, 0, &size, &unit, &lines);
        if (perf_job.rank == 0)
            memset((void *)lines, 0, sizeof *lines);
        MPI_Barrier(two);
        calibrate_memory(&on);
        MPI_Win_free(&window);
        MPI_Comm_free(&two);
    }
    rest();
    if (perf_job.rank == 0 && perf_options.samples > 0)
        calibrate_noise(on.first);
    if (perf_job.rank == 0 && perf_options.device != NULL)
        calibrate_device();
    rest();
    if (peer > 0 && (perf_job.rank == 0 || perf_job.rank == peer))
        put_crowd(perf_calibrate_messages(perf_job.rank == 0 ? peer : 0));
    rest();
}
