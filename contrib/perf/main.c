/* SPDX-License-Identifier: BSD-3-Clause */
/* The main function of the measuring programs of gba_perf: reads options, and measures each
 * call. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contrib/perf/measure.h"
#include "gba/base/command_line.h"
#include "gba/params.h"

static const char *call_list;

static const char usage[] =
    "usage: mpirun -np N %s --calls CALL[,CALL...] | --calibrate [OPTION...]\n"
    "Measures barriers; rank 0 prints records for gba_perf_report. gba_perf(1) runs this program.\n"
    "  --calibrate      print a description of the cluster for gba_predict instead\n"
    "  --device PATH    with --calibrate: a device to measure, as coll_gba_barrier_device_path\n"
    "  --batches N      timed batches of each call, 1 to 1001 (31)\n"
    "  --batch-us N     microseconds of a batch, 10 to 1000000 (2000)\n"
    "  --warmup N       calls before the first batch, 1 to 1000000 (1000)\n"
    "  --imbalance NS   a rank enters each barrier late by 0 to 1000000000 ns (0)\n";

#define NUMBER(field, least, most)                                                          \
    .type = GBA_PARAM_UINT, .offset = offsetof(struct perf_options, field), .min = (least), \
    .max = (most)

enum { BATCHES, BATCH_US, WARMUP, IMBALANCE, NUMBERS };

static const gba_param_t numbers[NUMBERS] = {
    [BATCHES] = {"--batches", NUMBER(batches, 1, 1001)},
    [BATCH_US] = {"--batch-us", NUMBER(batch_us, 10, 1000000), .unit = 1000},
    [WARMUP] = {"--warmup", NUMBER(warmup, 1, 1000000)},
    [IMBALANCE] = {"--imbalance", NUMBER(imbalance_ns, 0, 1000000000), .unit = 1}};

static _Noreturn void refuse(const char *message)
{
    fprintf(stderr, "%s: %s\n", perf_program, message);
    exit(2);
}

static void options_read(int argc, char **argv)
{
    static const struct option options[] = {
        {"batches", 1, NULL, BATCHES},
        {"batch-us", 1, NULL, BATCH_US},
        {"warmup", 1, NULL, WARMUP},
        {"imbalance", 1, NULL, IMBALANCE},
        {"calls", 1, NULL, 'c'},
        {"calibrate", 0, NULL, 'C'},
        {"device", 1, NULL, 'd'},
        {"help", 0, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    char message[400];
    int letter;

    while ((letter = gba_option_next(argc, argv, options, message, sizeof message)) != -1) {
        if (letter == 'c') {
            call_list = optarg;
        } else if (letter == 'C') {
            perf_options.calibrate = true;
        } else if (letter == 'd') {
            perf_options.device = optarg;
        } else if (letter == 'h') {
            printf(usage, perf_program);
            exit(0);
        } else if (letter == '?') {
            refuse(message);
        } else if (!gba_param_set(&numbers[letter], &perf_options, optarg)) {
            gba_param_refuse(&numbers[letter], numbers[letter].name, optarg, message,
                             sizeof message);
            refuse(message);
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
}

int main(int argc, char **argv)
{
    char *name, *rest = NULL;

    options_read(argc, argv);
    perf_init(&argc, &argv);
    job_init();
    if (perf_job.rank == 0)
        printf("perf 2\njob %d %d\n", perf_job.size, perf_job.hosts);
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
    perf_fini();
    return 0;
}
