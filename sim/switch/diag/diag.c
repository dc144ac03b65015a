/* SPDX-License-Identifier: BSD-3-Clause */
/* gba_diag: shows the state of a gba-switchd. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gba/base/command_line.h"
#include "gba/base/switch_socket.h"
#include "gba/params.h"
#include "sim/switch/diag/diag.h"

/* Exit codes, for scripts and monitoring. */
enum { EXIT_ABSENT = 1, EXIT_USAGE = 2, EXIT_NO_SWITCH = 3 };

#define TIMEOUT_S 10u
#define DAY_S     86400u

static const char help[] =
    "Usage: gba_diag [OPTION]... [PATH]\n"
    "Show the groups of a running gba-switchd, and which members they wait for, and why.\n"
    "PATH: switch:SOCKET or switch://HOST[:PORT], as the daemon prints when it is ready. Default:\n"
    "the daemon's default socket.\n"
    "\n"
    "  --json            print all that the switch reports, as JSON\n"
    "  --late TIME       a member that is late by so much counts as absent; default: never.\n"
    "                    A time is seconds, or has a unit (5m)\n"
    "  --key-file FILE   file with the key of the switch, for TCP; default: the file in\n"
    "                    GBA_SWITCH_KEY_FILE of the environment\n"
    "  --timeout TIME    give up when there is no answer; 1 to 3600; default: 10\n"
    "  --help            print this help\n"
    "  --version         print the version\n"
    "\n"
    "Exit status: 0: no member is absent; 1: members are absent; 2: invalid usage; 3: no answer "
    "or\n"
    "output.\n";

/* --- Status --- */

/* Print the report. Prints nothing of one that does not come to its end. Returns false (printed).
 */
static bool print_report(int fd, uint64_t length)
{
    char *text = length > SIZE_MAX ? NULL : malloc((size_t)length);
    bool good = false;

    if (text == NULL)
        gba_diag_complain("the report of the switch: out of memory");
    else if (!gba_diag_receive_bytes(fd, text, (size_t)length))
        gba_diag_complain("the switch does not answer: connection closed");
    else
        good = fwrite(text, 1, (size_t)length, stdout) == length;
    free(text);
    return good;
}

static int show_status(const struct diag *diag)
{
    const struct gba_switch_message greeting = {.type = GBA_SWITCH_STATUS,
                                                .code = GBA_SWITCH_PROTOCOL,
                                                .tag = diag->json ? GBA_SWITCH_STATUS_JSON
                                                                  : GBA_SWITCH_STATUS_TEXT,
                                                .group = GBA_SWITCH_MAGIC,
                                                .value = diag->late * UINT64_C(1000)};
    struct gba_switch_message answer = {.type = 0};
    int code = EXIT_NO_SWITCH, fd = gba_diag_connect(diag, &greeting);

    if (fd < 0)
        return EXIT_NO_SWITCH;
    if (gba_diag_receive(fd, GBA_SWITCH_TEXT, &answer) && print_report(fd, answer.value))
        code = answer.member == 0 ? EXIT_SUCCESS : EXIT_ABSENT;
    close(fd);
    return code;
}

/* --- The command line --- */

#define SECONDS(field, most)                                                                 \
    .type = GBA_PARAM_UINT, .offset = offsetof(struct diag, field), .min = 1, .max = (most), \
    .unit = UINT64_C(1000000000)

enum { LATE, TIMEOUT, TIMES };

static const gba_param_t times[TIMES] = {[LATE] = {"--late", SECONDS(late, 30 * DAY_S)},
                                         [TIMEOUT] = {"--timeout", SECONDS(timeout, 3600)}};

static bool parse_time(const gba_param_t *time, const char *text, struct diag *diag)
{
    char message[300];

    if (gba_param_set(time, diag, text))
        return true;
    gba_param_refuse(time, time->name, text, message, sizeof(message));
    return gba_diag_complain("%s", message) == 0;
}

static bool parse_option(int option, struct diag *diag)
{
    switch (option) {
    case 'j':
        diag->json = true;
        gba_diag_keep();
        return true;
    case 'k':
        diag->key_file = optarg;
        return true;
    default:
        return parse_time(&times[option], optarg, diag);
    }
}

static bool parse(int argc, char **argv, struct diag *diag)
{
    static const struct option options[] = {{"json", no_argument, NULL, 'j'},
                                            {"late", required_argument, NULL, LATE},
                                            {"key-file", required_argument, NULL, 'k'},
                                            {"timeout", required_argument, NULL, TIMEOUT},
                                            {NULL, 0, NULL, 0}};
    char message[400];
    int option;

    while ((option = gba_option_next(argc, argv, options, message, sizeof(message))) != -1) {
        if (option == '?')
            return gba_diag_complain("%s", message) == 0;
        if (!parse_option(option, diag))
            return false;
    }
    if (optind < argc)
        diag->path = argv[optind++];
    if (optind < argc)
        return gba_diag_complain("%s: one path is allowed", argv[optind]) == 0;
    if (gba_dev_path_parse(diag->path, &diag->device, message, sizeof(message)) != GBA_OK)
        return gba_diag_complain("%s", message) == 0;
    if (diag->device.kind != GBA_DEV_SWITCH)
        return gba_diag_complain("%s is not a switch; allowed: switch:/SOCKET or "
                                 "switch://HOST[:PORT]",
                                 diag->path) == 0;
    return true;
}

/* Returns an exit status. */
static int run(int argc, char **argv)
{
    char path[4200];
    struct diag diag = {.path = path, .timeout = TIMEOUT_S};
    int code;

    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(help, stdout);
        return EXIT_SUCCESS;
    }
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("gba_diag %d.%d.%d\n", GBA_VERSION_MAJOR, GBA_VERSION_MINOR, GBA_VERSION_PATCH);
        return EXIT_SUCCESS;
    }
    strcpy(path, "switch:");
    gba_switchd_socket(path + strlen(path), sizeof(path) - strlen(path));
    if (!parse(argc, argv, &diag)) {
        gba_diag_print_kept(EXIT_USAGE);
        return EXIT_USAGE;
    }
    code = show_status(&diag);
    gba_diag_print_kept(code);
    return code;
}

int main(int argc, char **argv)
{
    gba_output_begin();
    return gba_output_end("gba_diag", run(argc, argv), EXIT_NO_SWITCH);
}
