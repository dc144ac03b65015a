/* SPDX-License-Identifier: BSD-3-Clause */
/* gba_predict: what barriers are expected to cost on a cluster. */
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/base/command_line.h"
#include "gba/base/number.h"
#include "gba/gba.h"
#include "sim/predict/report.h"

/* Signals of a candidate in the table, and of one in the search for the crossover and in plots. */
#define SIGNALS_SHOWN  UINT64_C(2000000)
#define SIGNALS_SEARCH UINT64_C(200000)
#define STEADY_RANKS   16384u /* more take too long */
#define SIZE_MOST      (UINT64_C(1) << 24)

static const char usage[] =
    "usage: gba_predict [OPTION...] HOSTS[xRANKS]\n"
    "Simulate the barriers of a job on a cluster that a file describes. Prints microseconds for "
    "each\n"
    "candidate; see gba_predict(1).\n"
    "\n"
    "  --cluster NAME|FILE   the description; default: built-in numbers\n"
    "  --set KEY=VALUE       replace a number of the description; can be repeated\n"
    "  --barriers N          barriers of each candidate, 1 to 1000000; default: by size, 1 to "
    "1000\n"
    "  --late TIME           one rank, at random, arrives later by this time in each barrier\n"
    "  --rate N              barriers a second of the application with Open MPI's own barrier, 1 "
    "to\n"
    "                        1000000000: print what part of the run time each path saves\n"
    "  --no-crossover        do not search the number of hosts from which on the device is faster\n"
    "  --json                print JSON, in nanoseconds\n"
    "  --plot FILE           draw the times by hosts into an SVG file, with gnuplot\n"
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

static _Noreturn void end(void)
{
    exit(gba_output_end("gba_predict", 0, 1));
}

/* The size of the job: that of the cluster if text is NULL. */
static void shape_set(struct gba_cluster *cluster, const char *text)
{
    char own[48], message[300];

    snprintf(own, sizeof own, "%" PRIu64 "x%" PRIu64, cluster->hosts, cluster->ranks);
    if (!gba_shape_parse("the job", text == NULL ? own : text, SIZE_MOST, &cluster->hosts,
                         &cluster->ranks, message, sizeof message))
        fail("%s", message);
}

/* The first ones are a number, and indices of their table. */
enum { BARRIERS, LATE, RATE, NUMBERS, CLUSTER, SET, NO_CROSSOVER, JSON, PLOT };

static const struct option options[] = {{"cluster", required_argument, NULL, CLUSTER},
                                        {"set", required_argument, NULL, SET},
                                        {"barriers", required_argument, NULL, BARRIERS},
                                        {"late", required_argument, NULL, LATE},
                                        {"rate", required_argument, NULL, RATE},
                                        {"no-crossover", no_argument, NULL, NO_CROSSOVER},
                                        {"json", no_argument, NULL, JSON},
                                        {"plot", required_argument, NULL, PLOT},
                                        {"help", no_argument, NULL, 'h'},
                                        {"version", no_argument, NULL, 'v'},
                                        {NULL, 0, NULL, 0}};

struct command {
    struct predict_question question;
    struct gba_cluster cluster;
    gba_params_t params;
    bool json, crossover, described;
    unsigned int rate;
    const char *plot;
};

/* What the options with a number set. */
struct numbers {
    unsigned int barriers, late, rate;
};

#define NUMBER(field, least, most) \
    .type = GBA_PARAM_UINT, .offset = offsetof(struct numbers, field), .min = (least), .max = (most)

static const gba_param_t numbers_table[NUMBERS] = {
    [BARRIERS] = {"--barriers", NUMBER(barriers, 1, 1000000)},
    [LATE] = {"--late", NUMBER(late, 0, 1000000000), .unit = 1},
    [RATE] = {"--rate", NUMBER(rate, 1, 1000000000)}};

static void number_take(struct command *command, int option)
{
    const gba_param_t *row = &numbers_table[option];
    struct predict_setup *setup = &command->question.setup;
    struct numbers numbers;
    char message[300];

    if (!gba_param_set(row, &numbers, optarg)) {
        gba_param_refuse(row, row->name, optarg, message, sizeof message);
        fail("%s", message);
    }
    if (BARRIERS == option)
        setup->barriers = numbers.barriers;
    else if (LATE == option)
        setup->late = numbers.late * UINT64_C(1000);
    else
        command->rate = numbers.rate;
}

static void option_take(struct command *command, int option)
{
    char message[1400];
    char *value;

    switch (option) {
    case CLUSTER:
        if (GBA_OK != gba_cluster_named(optarg, &command->cluster, message, sizeof message))
            fail("%s%s", strncmp(message, "cluster=", 8) == 0 ? "--" : "", message);
        command->described = true;
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
        end();
    case 'v':
        printf("gba_predict %s\n", gba_version());
        end();
    default:
        number_take(command, option);
    }
}

static void command_parse(struct command *command, int argc, char **argv)
{
    char message[400];
    int option;

    while ((option = gba_option_next(argc, argv, options, message, sizeof message)) != -1) {
        if ('?' == option)
            fail("%s", message);
        option_take(command, option);
    }
    if (optind + 1 < argc)
        fail("too many arguments; see gba_predict --help");
    shape_set(&command->cluster, argv[optind]);
    if (GBA_OK != gba_params_environment(&command->params, message, sizeof message))
        fail("%s", message);
    if (command->plot != NULL && system("command -v gnuplot >/dev/null 2>&1") != 0)
        fail("--plot %s: there is no gnuplot in PATH (Debian: gnuplot-nox)", command->plot);
}

/* What a buyer asks: the answers besides the table. */
static gba_status_t answer(const struct predict_question *question, struct predict_list *list,
                           struct predict_report *report)
{
    gba_status_t status = predict_own(question, list);

    report->own = &list->candidates[list->count - 1];
    report->device = predict_fastest(list, true);
    report->software = predict_fastest(list, false);
    if (GBA_OK == status && report->device != NULL && report->software != NULL)
        status = predict_break_even(question, list, report->device, report->software->result.mean,
                                    &report->even_software);
    if (GBA_OK == status && report->device != NULL)
        status = predict_break_even(question, list, report->device, report->own->result.mean,
                                    &report->even_own);
    return status;
}

int main(int argc, char **argv)
{
    struct command command = {.crossover = true};
    struct predict_question *question = &command.question, search;
    struct predict_list *list = calloc(1, sizeof *list);
    struct predict_report report = {.question = question, .list = list};
    uint32_t hosts, ranks;
    gba_status_t status;

    gba_output_begin();
    gba_cluster_default(&command.cluster);
    gba_params_default(&command.params);
    question->params = &command.params;
    question->signals = SIGNALS_SHOWN;
    question->steady = STEADY_RANKS;
    question->setup = (struct predict_setup){.cluster = &command.cluster, .seed = 1};
    command_parse(&command, argc, argv);
    hosts = (uint32_t)command.cluster.hosts;
    ranks = (uint32_t)command.cluster.ranks;
    search = *question;
    search.signals = SIGNALS_SEARCH;
    status = list == NULL ? GBA_ERR_NOMEM : predict_candidates(question, hosts, ranks, list);
    if (GBA_OK == status)
        status = answer(question, list, &report);
    report.measured = command.described && 0 == command.cluster.extrapolated;
    report.rate = command.rate;
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
        signal(SIGPIPE, SIG_IGN); /* a gnuplot that ends early */
        if (fflush(stdout) != 0 || ferror(stdout))
            end();
        status = predict_report_plot(&report, &search, command.plot);
        if (GBA_OK != status) {
            fprintf(stderr, "gba_predict: --plot %s: %s\n", command.plot,
                    GBA_ERR_IO == status ? "gnuplot failed" : gba_status_text(status));
            exit(1);
        }
    }
    free(list);
    end();
}
