/* SPDX-License-Identifier: BSD-3-Clause */
/* The main function of the measuring programs of gba_perf: reads options, and measures each
 * call. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contrib/perf/measure.h"

static const char *call_list;

static const char usage[] =
    "usage: mpirun -np N %s --calls CALL[,CALL...] | --calibrate [OPTION...]\n"
    "Measures barriers; rank 0 prints records for gba_perf_report. gba_perf(1) runs this program.\n"
    "  --calibrate      print a description of the cluster for gba_predict instead\n"
    "  --device PATH    with --calibrate: a device to measure, as coll_gba_barrier_device_path\n"
    "  --batches N      timed batches of each call, 1 to 1001 (31)\n"
    "  --batch-us N     microseconds of a batch, 10 to 1000000 (2000)\n"
    "  --samples N      calls that are timed one by one, 0 to 1000000 (1000)\n"
    "  --warmup N       calls before the first batch, 1 to 1000000 (1000)\n"
    "  --pin            rank r stays on processor r modulo their number, as gba_predict has it\n"
    "  --imbalance NS   a rank enters each barrier late by 0 to 1000000000 ns (0)\n"
    "  --late RANK      the rank that is late, from 0 on; -1: a random rank (-1)\n";

static int64_t number(const char *option, const char *text, int64_t min, int64_t max)
{
    char *end;
    long long value = strtoll(text, &end, 10);

    if (*end != 0 || end == text || value < min || value > max) {
        fprintf(stderr, "%s: --%s %s: allowed: %lld to %lld\n", perf_program, option, text,
                (long long)min, (long long)max);
        exit(2);
    }
    return value;
}

static void options_read(int argc, char **argv)
{
    static const struct option options[] = {
        {"calls", 1, NULL, 'c'},   {"batches", 1, NULL, 'b'},   {"batch-us", 1, NULL, 'u'},
        {"samples", 1, NULL, 's'}, {"warmup", 1, NULL, 'w'},    {"imbalance", 1, NULL, 'i'},
        {"late", 1, NULL, 'l'},    {"calibrate", 0, NULL, 'C'}, {"device", 1, NULL, 'd'},
        {"pin", 0, NULL, 'p'},     {"help", 0, NULL, 'h'},      {NULL, 0, NULL, 0},
    };
    int letter;

    while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (letter == 'c') {
            call_list = optarg;
        } else if (letter == 'b') {
            perf_options.batches = (uint32_t)number("batches", optarg, 1, 1001);
        } else if (letter == 'u') {
            perf_options.batch_us = (uint32_t)number("batch-us", optarg, 10, 1000000);
        } else if (letter == 's') {
            perf_options.samples = (uint32_t)number("samples", optarg, 0, 1000000);
        } else if (letter == 'w') {
            perf_options.warmup = (uint32_t)number("warmup", optarg, 1, 1000000);
        } else if (letter == 'i') {
            perf_options.imbalance_ns = number("imbalance", optarg, 0, 1000000000);
        } else if (letter == 'l') {
            perf_options.imbalance_rank = number("late", optarg, -1, INT32_MAX);
        } else if (letter == 'p') {
            perf_options.pin = true;
        } else if (letter == 'C') {
            perf_options.calibrate = true;
        } else if (letter == 'd') {
            perf_options.device = optarg;
        } else if (letter == 'h') {
            printf(usage, perf_program);
            exit(0);
        } else {
            exit(2);
        }
    }
    if ((call_list == NULL) != perf_options.calibrate || optind != argc) {
        fprintf(stderr, usage, perf_program);
        exit(2);
    }
}

static const struct perf_call *call_find(const char *name)
{
    for (const struct perf_call *call = perf_calls; call->name != NULL; call++)
        if (strcmp(call->name, name) == 0)
            return call;
    return NULL;
}

/* The shortest time between two readings of the clock. */
static int64_t timer_cost(void)
{
    int64_t min = INT64_MAX;

    for (int i = 0; i < 1000; i++) {
        int64_t before = perf_now(), cost = perf_now() - before;

        if (cost < min)
            min = cost;
    }
    return min;
}

/* Ranks that can share memory are on the same host, as for Open MPI. */
static void job_init(void)
{
    char name[PERF_HOST_BYTES] = "";
    MPI_Comm host;
    int local, leader;

    MPI_Comm_rank(MPI_COMM_WORLD, &perf_job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &perf_job.size);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &local);
    leader = local == 0;
    MPI_Comm_size(host, &local);
    MPI_Comm_free(&host);
    MPI_Allreduce(&leader, &perf_job.hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    perf_job.one_host = perf_job.hosts == 1;
    perf_job.yields = perf_largest((double)local / (double)sysconf(_SC_NPROCESSORS_ONLN)) > 1;
    perf_job.timer_ns = (int64_t)perf_largest((double)timer_cost());
    (void)gethostname(name, sizeof name - 1);
    if (perf_job.rank == 0)
        perf_job.names = perf_alloc((size_t)perf_job.size, sizeof *perf_job.names);
    MPI_Gather(name, sizeof name, MPI_CHAR, perf_job.names, sizeof name, MPI_CHAR, 0,
               MPI_COMM_WORLD);
    if (perf_options.imbalance_rank >= perf_job.size)
        perf_fail("--late %lld: allowed: -1 to %d", (long long)perf_options.imbalance_rank,
                  perf_job.size - 1);
}

int main(int argc, char **argv)
{
    char *name, *rest = NULL;

    options_read(argc, argv);
    perf_init(&argc, &argv);
    job_init();
    if (perf_options.pin)
        perf_pin();
    if (perf_job.rank == 0)
        printf("perf 2\njob %d %d %lld\n", perf_job.size, perf_job.hosts,
               (long long)perf_job.timer_ns);
    if (perf_options.calibrate)
        perf_calibrate();
    perf_floor_init();
    name = strdup(call_list != NULL ? call_list : "");
    for (char *part = name; name != NULL && (part = strtok_r(part, ",", &rest)); part = NULL) {
        const struct perf_call *call = call_find(part);

        if (call == NULL)
            perf_fail("--calls %s: unknown call %s", call_list, part);
        perf_measure(call);
    }
    free(name);
    if (perf_job.rank == 0)
        puts("end");
    perf_floor_fini();
    free(perf_job.names);
    perf_fini();
    return 0;
}
