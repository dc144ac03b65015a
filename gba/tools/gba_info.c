/* SPDX-License-Identifier: BSD-3-Clause */
/* gba_info: show devices, test a device, and predict the path of a job. */
#include <stdio.h>
#include <string.h>

#include "gba/base/command_line.h"
#include "gba/tools/info.h"

static const char usage[] =
    "usage: gba_info [--json] [DEVICE]              show a device and its counters\n"
    "       gba_info --list [--json]                list devices, also those of running jobs\n"
    "       gba_info --jobs [--json]                list processes of jobs, and where they wait\n"
    "       gba_info --test [--json] [DEVICE]       make a barrier of one member\n"
    "       gba_info --health [--json] [DEVICE...]  whether devices are fit for jobs, a line each\n"
    "       gba_info --prometheus [DEVICE...]       metrics, for a textfile collector\n"
    "       gba_info --path N[xM] [--no-mpi] [--json] [DEVICE]\n"
    "                                               predict the path of a job of N hosts with M\n"
    "                                               ranks each (default 1), with the reason\n"
    "       gba_info --version\n"
    "       gba_info --help\n"
    "\n"
    "DEVICE: /dev/gbaN (default /dev/gba0), sim:NAME, switch:/PATH, switch://HOST:PORT, or a path\n"
    "that --list prints. --path takes the parameter device_path if there is no DEVICE. --no-mpi: "
    "of\n"
    "a program without MPI, which reads GBA_NAME for the parameter NAME. --json: JSON instead of\n"
    "lines.\n"
    "Exit status: 0; 1 no device, or it does not answer; 2 wrong arguments; 3 the test failed;\n"
    "4 not tested, because no group is free. --health: 0 healthy; 1 busy: no group is free, which\n"
    "is no fault; 2 degraded; 3 broken; 4 absent; 64 wrong arguments. 74: output was lost.\n";

enum mode {
    MODE_SHOW,
    MODE_LIST,
    MODE_JOBS,
    MODE_TEST,
    MODE_HEALTH,
    MODE_PROMETHEUS,
    MODE_PATH,
    MODE_VERSION,
    MODE_HELP
};

struct options {
    enum mode mode;
    const char *shape; /* of --path */
    bool no_mpi;
    char **devices;
    int count; /* of devices */
};

/* The exit status of wrong arguments. */
static enum info_exit bad(const struct options *options)
{
    return MODE_HEALTH == options->mode ? INFO_EXIT_USAGE_HEALTH : INFO_EXIT_USAGE;
}

/* Returns an exit status. */
static int options_parse(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {
        {"list", no_argument, NULL, MODE_LIST},
        {"jobs", no_argument, NULL, MODE_JOBS},
        {"test", no_argument, NULL, MODE_TEST},
        {"health", no_argument, NULL, MODE_HEALTH},
        {"prometheus", no_argument, NULL, MODE_PROMETHEUS},
        {"path", required_argument, NULL, MODE_PATH},
        {"version", no_argument, NULL, MODE_VERSION},
        {"help", no_argument, NULL, MODE_HELP},
        {"no-mpi", no_argument, NULL, 'n'},
        {"json", no_argument, NULL, 'j'},
        {NULL, 0, NULL, 0},
    };
    const char *first = NULL;
    char message[288];
    int option, devices;

    while (-1 != (option = gba_option_next(argc, argv, known, message, sizeof message))) {
        if ('?' == option)
            return report_error(bad(options), "%s%s", message,
                                MODE_PATH == (enum mode)optopt ? ": HOSTS or HOSTSxRANKS" : "");
        if ('j' == option) {
            report_json();
            continue;
        }
        if ('n' == option) {
            options->no_mpi = true;
            continue;
        }
        if (first != NULL)
            return report_error(bad(options),
                                "%s and %s do not go together; one of them is allowed", first,
                                argv[optind - 1]);
        first = argv[optind - (MODE_PATH == option && optarg == argv[optind - 1] ? 2 : 1)];
        options->mode = (enum mode)option;
        if (MODE_PATH == option)
            options->shape = optarg;
    }
    if (options->no_mpi && MODE_PATH != options->mode)
        return report_error(bad(options), "--no-mpi goes with --path alone");
    options->devices = argv + optind;
    options->count = argc - optind;
    devices =
        MODE_HEALTH == options->mode || MODE_PROMETHEUS == options->mode ? INT32_MAX
        : MODE_SHOW == options->mode || MODE_TEST == options->mode || MODE_PATH == options->mode
            ? 1
            : 0;
    if (options->count <= devices)
        return INFO_EXIT_OK;
    return report_error(bad(options), "%s is one argument too many; %s", argv[optind + devices],
                        0 == devices ? "no device is allowed here" : "one device is allowed");
}

/* Check the device that the user names. Returns an exit status: usage, for a wrong one. */
static int device_check(const char *path, const struct options *options)
{
    char message[288];

    if (GBA_OK != gba_device_path_check(path, message, sizeof message))
        return report_error(bad(options), "%s", message);
    if (MODE_PATH != options->mode && 0 == strcmp(path, "none"))
        return report_error(bad(options),
                            "\"none\" selects no device; give a device: /dev/gbaN or sim:NAME");
    return INFO_EXIT_OK;
}

/* Returns an exit status. */
static int run(int argc, char **argv)
{
    struct options options = {.mode = MODE_SHOW};
    const char *device;
    int code;

    code = options_parse(argc, argv, &options);
    for (int i = 0; INFO_EXIT_OK == code && i < options.count; i++)
        code = device_check(options.devices[i], &options);
    if (INFO_EXIT_OK != code)
        return code;
    device = 0 == options.count ? "/dev/gba0" : options.devices[0];
    switch (options.mode) {
    case MODE_LIST:
        return info_list();
    case MODE_JOBS:
        return info_jobs();
    case MODE_TEST:
        return info_test(device);
    case MODE_HEALTH:
        return info_health(options.devices, options.count);
    case MODE_PROMETHEUS:
        return info_prometheus(options.devices, options.count);
    case MODE_PATH:
        return info_path(options.shape, 0 == options.count ? NULL : device, options.no_mpi);
    case MODE_VERSION:
        printf("gba_info %s\n", gba_version());
        return INFO_EXIT_OK;
    case MODE_HELP:
        fputs(usage, stdout);
        return INFO_EXIT_OK;
    default:
        return info_show(device);
    }
}

int main(int argc, char **argv)
{
    gba_output_begin();
    return gba_output_end("gba_info", run(argc, argv), INFO_EXIT_LOST);
}
