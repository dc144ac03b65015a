/* SPDX-License-Identifier: BSD-3-Clause */
/* gba_predict: what barriers are expected to cost on a cluster. */
#include <ctype.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gba/gba.h"
#include "sim/predict/report.h"

#ifndef GBA_PKGDATADIR /* for a reader of this file alone */
#define GBA_PKGDATADIR ""
#endif

/* Signals of a candidate in the table, and of one in the search for the crossover and in plots. */
#define SIGNALS_SHOWN  UINT64_C(2000000)
#define SIGNALS_SEARCH UINT64_C(200000)
#define SIZE_MOST      (UINT64_C(1) << 24)

static const char usage[] =
    "usage: gba_predict [OPTION...] HOSTS[xRANKS]\n"
    "       gba_predict --calibrate FILE [OPTION OF GBA_PERF...]\n"
    "Simulate the barriers of a job on a cluster that a file describes. Prints microseconds for "
    "each\n"
    "candidate; see gba_predict(1).\n"
    "\n"
    "  --cluster NAME|FILE   the description; default: built-in numbers\n"
    "  --set KEY=VALUE       replace a number of the description; can be repeated\n"
    "  --barriers N          barriers of each candidate, 1 to 1000000; default: by size, 1 to "
    "1000\n"
    "  --late NS             one rank, at random, arrives later by this time in each barrier\n"
    "  --busy                each core has other work that never waits; ranks yield to it\n"
    "  --seed N              of the random numbers; default 1\n"
    "  --no-crossover        do not search the number of hosts from which on the device is faster\n"
    "  --calibrate FILE      run gba_perf --calibrate, which measures a description and writes it\n"
    "  --json                print JSON, in nanoseconds\n"
    "  --plot FILE.svg       draw latency by hosts, kinds of release and a late rank\n"
    "  --help, --version\n";

static _Noreturn __attribute__((format(printf, 1, 2))) void fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fputs("gba_predict: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(2);
}

static uint64_t number_parse(const char *option, const char *text, uint64_t least, uint64_t most)
{
    char *end;
    const uint64_t value = strtoull(text, &end, 10);

    if (!isdigit((unsigned char)*text) || '\0' != *end || value < least || value > most)
        fail("%s %s: needs a number from %" PRIu64 " to %" PRIu64, option, text, least, most);
    return value;
}

/* A description by its file, or by the name of an installed one. */
static void cluster_read(struct gba_cluster *cluster, const char *name)
{
    char path[512], message[512];

    snprintf(path, sizeof path, "%s", name);
    if (strchr(name, '/') == NULL && 0 != access(name, R_OK))
        snprintf(path, sizeof path, "%s/clusters/%s.cluster", GBA_PKGDATADIR, name);
    if (GBA_OK != gba_cluster_read(path, cluster, message, sizeof message))
        fail("%s", message);
}

/* The size of the job: that of the cluster if text is NULL. */
static void shape_set(struct gba_cluster *cluster, const char *text)
{
    char *end = NULL;

    if (text != NULL) {
        cluster->hosts = strtoull(text, &end, 10);
        if ('x' == *end && isdigit((unsigned char)end[1]))
            cluster->ranks = strtoull(end + 1, &end, 10);
    }
    if ((text != NULL && (!isdigit((unsigned char)*text) || '\0' != *end)) || cluster->hosts < 1 ||
        cluster->ranks < 1 || cluster->hosts > SIZE_MOST ||
        cluster->ranks > SIZE_MOST / cluster->hosts)
        fail("needs HOSTS or HOSTSxRANKS, such as 900x8, of 1 to %" PRIu64 " ranks", SIZE_MOST);
}

enum { CLUSTER = 256, SET, BARRIERS, LATE, SEED, BUSY, NO_CROSSOVER, JSON, PLOT };

static const struct option options[] = {{"cluster", required_argument, NULL, CLUSTER},
                                        {"set", required_argument, NULL, SET},
                                        {"barriers", required_argument, NULL, BARRIERS},
                                        {"late", required_argument, NULL, LATE},
                                        {"seed", required_argument, NULL, SEED},
                                        {"busy", no_argument, NULL, BUSY},
                                        {"no-crossover", no_argument, NULL, NO_CROSSOVER},
                                        {"json", no_argument, NULL, JSON},
                                        {"plot", required_argument, NULL, PLOT},
                                        {"help", no_argument, NULL, 'h'},
                                        {"version", no_argument, NULL, 'v'},
                                        {NULL, 0, NULL, 0}};

struct command {
    struct predict_question question;
    struct gba_cluster cluster;
    struct predict_trace trace;
    gba_params_t params;
    bool json, crossover;
    const char *plot;
};

static void option_take(struct command *command, int option)
{
    struct predict_setup *setup = &command->question.setup;
    char message[400];
    char *value;

    switch (option) {
    case CLUSTER:
        cluster_read(&command->cluster, optarg);
        break;
    case SET:
        value = strchr(optarg, '=');
        if (value == NULL)
            fail("--set %s: needs KEY=VALUE", optarg);
        *value = '\0';
        if (GBA_OK !=
            gba_cluster_set(&command->cluster, optarg, value + 1, message, sizeof message))
            fail("%s", message);
        break;
    case BARRIERS:
        setup->barriers = (uint32_t)number_parse("--barriers", optarg, 1, 1000000);
        break;
    case LATE:
        setup->late = 1000 * number_parse("--late", optarg, 0, 1000000000);
        break;
    case SEED:
        setup->seed = number_parse("--seed", optarg, 0, UINT64_MAX);
        break;
    case BUSY:
        setup->busy = true;
        break;
    case NO_CROSSOVER:
        command->crossover = false;
        break;
    case JSON:
        command->json = true;
        break;
    case PLOT:
        command->plot = optarg;
        break;
    case 'h':
        fputs(usage, stdout);
        exit(0);
    case 'v':
        printf("gba_predict %s\n", gba_version());
        exit(0);
    default:
        fputs(usage, stderr);
        exit(2);
    }
}

static void command_parse(struct command *command, int argc, char **argv)
{
    const char *trace = command->cluster.noise_trace;
    char message[400];
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
        option_take(command, option);
    if (optind + 1 < argc)
        fail("too many arguments; see gba_predict --help");
    shape_set(&command->cluster, argv[optind]);
    if (GBA_OK != gba_params_environment(&command->params, message, sizeof message))
        fail("%s", message);
    if (strcmp(trace, "none") == 0)
        return;
    command->question.setup.trace = &command->trace;
    if (GBA_OK != predict_trace_read(trace, &command->trace))
        fail("noise_trace %s: cannot be read, or is not lines of start and length, ns", trace);
}

int main(int argc, char **argv)
{
    struct command command = {.crossover = true};
    struct predict_question *question = &command.question, search;
    struct predict_list *list = calloc(1, sizeof *list);
    struct predict_report report = {.question = question, .list = list};
    uint32_t hosts, ranks;
    gba_status_t status;

    /* Only gba_perf links MPI. */
    if (argc > 1 && strcmp(argv[1], "--calibrate") == 0) {
        execvp("gba_perf", argv);
        fail("--calibrate: no gba_perf in PATH; it is installed with the plugin of MPI");
    }
    gba_cluster_default(&command.cluster);
    gba_params_default(&command.params);
    question->params = &command.params;
    question->signals = SIGNALS_SHOWN;
    question->setup = (struct predict_setup){.cluster = &command.cluster, .seed = 1};
    command_parse(&command, argc, argv);
    hosts = (uint32_t)command.cluster.hosts;
    ranks = (uint32_t)command.cluster.ranks;
    search = *question;
    search.signals = SIGNALS_SEARCH;
    status = list == NULL ? GBA_ERR_NOMEM : predict_candidates(question, hosts, ranks, list);
    if (GBA_OK == status && command.crossover) {
        report.crossed = true;
        report.most = hosts > 64 ? hosts : 64;
        status = predict_crossover(&search, ranks, report.most, &report.crossover);
    }
    if (GBA_OK != status)
        fail("%s", gba_status_text(status));
    if (command.json)
        predict_report_json(&report, stdout);
    else
        predict_report_text(&report, stdout);
    if (command.plot != NULL) {
        status = predict_plot(&search, hosts, ranks, command.plot);
        if (GBA_OK != status)
            fail("--plot %s: %s", command.plot,
                 GBA_ERR_IO == status ? "gnuplot failed; is it installed (Debian: gnuplot-nox)?"
                                      : gba_status_text(status));
    }
    free(command.trace.at);
    free(list);
    return 0;
}
