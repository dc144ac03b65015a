/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calibration: measures what a description of a cluster needs (gba/base/cluster.h), and prints
 * it in lines "cluster KEY = VALUE # ...".
 *
 * Memory: calibrate_cores.c, and with the noise calibrate_lines.c. Messages: calibrate_messages.c.
 * Device: rounds of a group of one member, and of one of all ranks.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contrib/perf/calibrate.h"
#include "gba/device.h"

#define ROUNDS 16 /* of the device, in a batch */

/* Wait until all ranks call it, while some measure: so seldom on a processor that it disturbs
 * nothing. */
static void rest(void)
{
    perf_meet(100000);
}

/* ---------------------------------------------------------------------------------- device --- */

static gba_local_state_t *member;
static gba_device_t *device;
static gba_group_t *group;
static bool yields;

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
            if (yields)
                sched_yield();
    }
    return (double)(perf_now() - began) / ROUNDS;
}

/* Make a group of some ranks. Returns the first failure of any of them. Collective. */
static gba_status_t group_join(MPI_Comm all)
{
    gba_group_handle_t handle = {0};
    int size, me, status;

    MPI_Comm_size(all, &size);
    MPI_Comm_rank(all, &me);
    status = gba_device_init(perf_options.device, NULL, &device);
    if (status == GBA_OK && me == 0)
        status = gba_allocate_group(device, (uint32_t)size, &handle);
    MPI_Bcast(&handle, sizeof handle, MPI_BYTE, 0, all);
    if (status == GBA_OK)
        status = gba_join_group(device, &handle, (uint32_t)me, &group);
    if (status == GBA_OK)
        status = gba_dma_map(group);
    if (status == GBA_OK)
        status = gba_local_state_init(group, 0, &member);
    MPI_Allreduce(MPI_IN_PLACE, &status, 1, MPI_INT, MPI_MIN, all);
    if (status == GBA_OK && me == 0)
        status = gba_configure_group(group, 0);
    MPI_Bcast(&status, 1, MPI_INT, 0, all);
    return status;
}

static void group_leave(void)
{
    gba_local_state_fini(member);
    gba_free_group(group);
    gba_device_fini(device);
    member = NULL;
    group = NULL;
    device = NULL;
}

/* Returns the ns of a round of one member. */
static double calibrate_device(void)
{
    double issue, all;
    const char *path = perf_options.device;
    gba_status_t status = group_join(MPI_COMM_SELF);

    if (status != GBA_OK)
        perf_fail("--device %s: %s", path, gba_status_text(status));
    issue = perf_time_of(arriving) - (double)perf_job.timer_ns;
    all = perf_time_of(rounds);
    issue = issue < all ? issue : all;
    perf_put("device_issue", issue, "%s: the call that stores an arrival", path);
    perf_put("device_up", (all - issue) / 2, "half of a round of one member without device_issue");
    perf_put("device_match", 0, "not known; part of device_up and device_down");
    perf_put("device_down", (all - issue) / 2, "as device_up");
    group_leave();
    return all;
}

/* alone: ns of a round of one member. Not measured if the hosts have devices of their own. */
static void calibrate_members(double alone)
{
    double all, each;

    perf_pin();
    yields = perf_job.yields;
    if (group_join(MPI_COMM_WORLD) == GBA_OK) {
        all = perf_time_of(rounds);
        each = perf_job.size > 1 ? (all - alone) / (perf_job.size - 1) / 2 : 0;
        perf_put("device_accept", each, "half of what a further member takes; of %d: %.0f ns",
                 perf_job.size, all);
        perf_put("device_release", each, "as device_accept");
    }
    group_leave();
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
    struct perf_processors on = perf_processors_find();
    int peer;
    int hosts = hosts_of_machine(&peer);
    const int ranks = perf_job.size / perf_job.hosts;
    double alone = 0, store = 0;
    bool pair = peer != 1 && perf_job.size > 1;
    MPI_Comm two, few;

    MPI_Bcast(&on, sizeof on, MPI_BYTE, 0, MPI_COMM_WORLD);
    perf_put("hosts", perf_job.hosts, "of the job");
    perf_put("ranks", ranks, "a host, of the job");
    perf_put("cores", on.cores, "processors that rank 0 may use");
    perf_put("sockets", on.sockets, "of these");
    perf_put("hosts_per_machine", hosts, "hosts of the job with the kernel of rank 0");
    MPI_Bcast(&hosts, 1, MPI_INT, 0, MPI_COMM_WORLD);
    perf_calibrate_crowd(&on, hosts);
    few = perf_lines_comm(&on);
    MPI_Comm_split(MPI_COMM_WORLD, pair && perf_job.rank < 2 ? 0 : MPI_UNDEFINED, 0, &two);
    if (two != MPI_COMM_NULL) {
        store = perf_calibrate_memory(&on, two);
        MPI_Comm_free(&two);
    }
    rest();
    if (few != MPI_COMM_NULL) {
        perf_calibrate_lines(few, store);
        MPI_Comm_free(&few);
    }
    rest();
    if (perf_job.rank == 0)
        perf_use_processor(on.first);
    if (perf_job.rank == 0 && perf_options.device != NULL)
        alone = calibrate_device();
    rest();
    if (peer > 0 && (perf_job.rank == 0 || perf_job.rank == peer))
        perf_put_crowd(perf_calibrate_messages(perf_job.rank == 0 ? peer : 0));
    rest();
    if (perf_options.device != NULL)
        calibrate_members(alone);
}
