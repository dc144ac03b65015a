/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of gba-switchd. */
#include "sim/switch/command_line.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/base/switch_socket.h"
#include "gba/types.h"
#include "sim/switch/core/protocol.h"
#include "sim/switch/net/trust.h"

enum {
    OPT_LISTEN = 256,
    OPT_GROUP,
    OPT_TCP,
    OPT_KEY_FILE,
    OPT_JOB_KEY_TIME,
    OPT_GROUPS,
    OPT_PORTS,
    OPT_QUOTA,
    OPT_USER_QUOTA,
    OPT_JOB_QUOTA,
    OPT_USER_PORTS,
    OPT_JOB_PORTS,
    OPT_CLIENT_TIMEOUT,
    OPT_LATENCY,
    OPT_FAULT,
    OPT_LOG_FILE,
    OPT_LOG_LEVEL,
    OPT_TRACE,
    OPT_VFIO_USER,
    OPT_VFIO_DEVICES,
    OPT_VFIO_MSI
};

static const struct option long_options[] = {
    {"listen", required_argument, NULL, OPT_LISTEN},
    {"group", required_argument, NULL, OPT_GROUP},
    {"tcp", required_argument, NULL, OPT_TCP},
    {"key-file", required_argument, NULL, OPT_KEY_FILE},
    {"job-key-time", required_argument, NULL, OPT_JOB_KEY_TIME},
    {"groups", required_argument, NULL, OPT_GROUPS},
    {"ports", required_argument, NULL, OPT_PORTS},
    {"quota", required_argument, NULL, OPT_QUOTA},
    {"user-quota", required_argument, NULL, OPT_USER_QUOTA},
    {"job-quota", required_argument, NULL, OPT_JOB_QUOTA},
    {"user-ports", required_argument, NULL, OPT_USER_PORTS},
    {"job-ports", required_argument, NULL, OPT_JOB_PORTS},
    {"client-timeout", required_argument, NULL, OPT_CLIENT_TIMEOUT},
    {"latency", required_argument, NULL, OPT_LATENCY},
    {"fault", required_argument, NULL, OPT_FAULT},
    {"trace", required_argument, NULL, OPT_TRACE},
    {"log-file", required_argument, NULL, OPT_LOG_FILE},
    {"log-level", required_argument, NULL, OPT_LOG_LEVEL},
    {"vfio-user", required_argument, NULL, OPT_VFIO_USER},
    {"vfio-user-devices", required_argument, NULL, OPT_VFIO_DEVICES},
    {"vfio-user-msi", no_argument, NULL, OPT_VFIO_MSI},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

static const char help[] =
    "Usage: gba-switchd [OPTION]...\n"
    "Run a simulated switch with a Global Barrier Accelerator for the hosts and jobs that connect\n"
    "to it. Runs in the foreground until SIGTERM or SIGINT. SIGHUP reads the key file again, and\n"
    "reopens the log file.\n"
    "\n"
    "  --listen PATH          Unix socket; none: no Unix socket. Default:\n"
    "                         $XDG_RUNTIME_DIR/gba-switchd.sock, without that variable\n"
    "                         $HOME/.gba/switch.sock; root: /run/gba/switch.sock. The default's\n"
    "                         directory is made\n"
    "  --group GROUP          group whose members may connect to the Unix socket;\n"
    "                         default: the group of this process\n"
    "  --tcp [HOST]:[PORT]    also listen on TCP; needs --key-file. Default host: loopback;\n"
    "                         default port: 7114; port 0: any free one\n"
    "  --key-file FILE        file with the key of TCP clients, 32 hexadecimal digits; readable\n"
    "                         by its owner alone, or a credential of systemd\n"
    "  --job-key-time S       seconds that the key of a job is valid after the connection of the\n"
    "                         process that asked for it has ended; 0 to 3600; default: 60\n"
    "  --groups N             barrier groups, 1 to 32; default: 32\n"
    "  --ports N              ports, one for each connection, 1 to 708; default: 708\n"
    "  --quota N              groups that a port may hold; 0: no limit; default: 0\n"
    "  --user-quota N         groups that all ports of a user may hold; 0: no limit; default: 0\n"
    "  --job-quota N          groups that all ports of a job may hold; 0: no limit; default: 0\n"
    "  --user-ports N         ports that a user may use at a time; 0: no limit; default: 0\n"
    "  --job-ports N          ports that a job may use at a time; 0: no limit; default: 0\n"
    "  --client-timeout S     seconds after which a client that reads nothing is dropped;\n"
    "                         1 to 3600; default: 30\n"
    "  --latency NAME=VALUE,...\n"
    "                         times of the links and the switch, with a unit (ns, us, ms, s): up,\n"
    "                         match, release, down, jitter; loss with % or ppm; seed. Default: 0\n"
    "  --fault FAULT          drop=N: lose the Nth arrival; cut=PORT@TIME, hold=PORT@TIME+TIME:\n"
    "                         close or hold a connection at a time after it came up; die=TIME:\n"
    "                         end as if killed. Each fault happens once\n"
    "  --vfio-user DIR        PCI devices for virtual machines: sockets 0, 1, ... in that "
    "directory,\n"
    "                         for the device vfio-user-pci of QEMU; each connection has a port\n"
    "  --vfio-user-devices N  number of these sockets, 1 to 708; default: 4\n"
    "  --vfio-user-msi        these devices have MSI instead of MSI-X\n"
    "  --trace FILE           write arrivals, rounds and releases to a file for Perfetto\n"
    "  --log-file FILE        append the log to a file instead of standard error\n"
    "  --log-level LEVEL      error, warning, info or debug; default: info\n"
    "  --help                 print this help\n"
    "  --version              print the version\n";

static bool complain(const char *option, const char *value, const char *allowed)
{
    fprintf(stderr, "gba-switchd: %s %s: not valid; allowed: %s\n", option, value, allowed);
    return false;
}

static bool parse_number(const char *option, const char *text, uint32_t least, uint32_t most,
                         uint32_t *number)
{
    unsigned long long value;
    char *end, allowed[64];

    value = strtoull(text, &end, 10);
    /* strtoull also accepts signs and spaces. */
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || value < least || value > most) {
        snprintf(allowed, sizeof(allowed), "%u to %u", least, most);
        return complain(option, text, allowed);
    }
    *number = (uint32_t)value;
    return true;
}

/* "HOST:PORT"; an IPv6 address in brackets. */
static bool parse_tcp(const char *text, struct gba_switchd_options *options)
{
    const char *colon = strrchr(text, ':');
    size_t length = colon == NULL ? 0 : (size_t)(colon - text);
    uint32_t port = GBA_SWITCH_TCP_PORT;

    if (colon == NULL || length >= sizeof(options->tcp_host))
        return complain("--tcp", text, "[HOST]:[PORT]");
    if (colon[1] != '\0' && !parse_number("--tcp: port", colon + 1, 0, 65535, &port))
        return false;
    if (length >= 2 && text[0] == '[' && text[length - 1] == ']') {
        text++;
        length -= 2;
    }
    memcpy(options->tcp_host, text, length);
    options->tcp_host[length] = '\0';
    if (length == 0)
        snprintf(options->tcp_host, sizeof(options->tcp_host), "127.0.0.1");
    snprintf(options->tcp_port, sizeof(options->tcp_port), "%u", port);
    return true;
}

static bool set_listen(const char *path, struct gba_switchd_options *options)
{
    if (strcmp(path, "none") == 0)
        path = "";
    else if (path[0] != '/')
        return complain("--listen", path, "an absolute path, or none");
    if ((size_t)snprintf(options->listen, sizeof(options->listen), "%s", path) >=
        sizeof(options->listen))
        return complain("--listen", path, "a path of 107 bytes at most");
    return true;
}

static bool set_default_listen(struct gba_switchd_options *options)
{
    char path[4200];

    gba_switch_socket(path, sizeof(path));
    options->make_directory = true;
    return set_listen(path, options);
}

static bool parse_latency(const char *text, struct gba_switchd_options *options)
{
    char message[200];
    const char *wrong =
        gba_switchd_latency_parse(text, &options->latency, message, sizeof(message));

    if (wrong == NULL)
        return true;
    fprintf(stderr, "gba-switchd: --latency %s: %s\n", text, wrong);
    return false;
}

static bool add_fault(const char *text, struct gba_switchd_options *options)
{
    if (options->faults == GBA_SWITCHD_FAULTS)
        return complain("--fault", text, "32 faults");
    return gba_switchd_fault_parse(text, &options->fault[options->faults++]) ||
           complain("--fault", text,
                    "drop=N, hold=PORT@TIME+TIME, cut=PORT@TIME, die=TIME; a time has a unit: "
                    "ns, us, ms or s");
}

static bool set_option(int option, const char *value, struct gba_switchd_options *options)
{
    switch (option) {
    case OPT_LISTEN:
        return set_listen(value, options);
    case OPT_GROUP:
        options->group = value;
        return true;
    case OPT_TCP:
        return parse_tcp(value, options);
    case OPT_KEY_FILE:
        options->key_file = value;
        return true;
    case OPT_JOB_KEY_TIME:
        return parse_number("--job-key-time", value, 0, 3600, &options->job_key_time);
    case OPT_GROUPS:
        return parse_number("--groups", value, 1, GBA_GROUPS, &options->groups);
    case OPT_PORTS:
        return parse_number("--ports", value, 1, GBA_PORTS_MAX, &options->ports);
    case OPT_QUOTA:
        return parse_number("--quota", value, 0, GBA_GROUPS, &options->quota);
    case OPT_USER_QUOTA:
        return parse_number("--user-quota", value, 0, GBA_GROUPS, &options->user_quota);
    case OPT_JOB_QUOTA:
        return parse_number("--job-quota", value, 0, GBA_GROUPS, &options->job_quota);
    case OPT_USER_PORTS:
        return parse_number("--user-ports", value, 0, GBA_PORTS_MAX, &options->user_ports);
    case OPT_JOB_PORTS:
        return parse_number("--job-ports", value, 0, GBA_PORTS_MAX, &options->job_ports);
    case OPT_CLIENT_TIMEOUT:
        return parse_number("--client-timeout", value, 1, 3600, &options->client_timeout);
    case OPT_TRACE:
        options->trace = value;
        return true;
    case OPT_LATENCY:
        return parse_latency(value, options);
    case OPT_FAULT:
        return add_fault(value, options);
    case OPT_VFIO_USER:
        options->vfio_directory = value;
        return true;
    case OPT_VFIO_DEVICES:
        return parse_number("--vfio-user-devices", value, 1, GBA_PORTS_MAX, &options->vfio_devices);
    case OPT_VFIO_MSI:
        options->vfio_msi = true;
        return true;
    case OPT_LOG_FILE:
        options->log_file = value;
        return true;
    case OPT_LOG_LEVEL:
        return gba_switchd_log_parse(value, &options->log_level) ||
               complain("--log-level", value, "error, warning, info or debug");
    default: /* getopt_long has printed the error */
        return false;
    }
}

static bool check(struct gba_switchd_options *options, bool listen_given)
{
    if (!listen_given && !set_default_listen(options))
        return false;
    if (options->tcp_host[0] != '\0' && options->key_file == NULL) {
        fprintf(stderr, "gba-switchd: --tcp needs --key-file: without it every "
                        "process that reaches the port could use the switch\n");
        return false;
    }
    return true;
}

enum gba_switchd_action gba_switchd_options_parse(int argc, char **argv,
                                                  struct gba_switchd_options *options)
{
    bool listen_given = false;
    int option;

    *options = (struct gba_switchd_options){.groups = GBA_GROUPS,
                                            .ports = GBA_PORTS_MAX,
                                            .client_timeout = 30,
                                            .job_key_time = 60,
                                            .vfio_devices = 4,
                                            .log_level = GBA_SWITCHD_INFO};
    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        if (option == 'h') {
            fputs(help, stdout);
            return GBA_SWITCHD_EXIT_OK;
        }
        if (option == 'V') {
            printf("gba-switchd %d.%d.%d\n", GBA_VERSION_MAJOR, GBA_VERSION_MINOR,
                   GBA_VERSION_PATCH);
            return GBA_SWITCHD_EXIT_OK;
        }
        listen_given |= option == OPT_LISTEN;
        if (!set_option(option, optarg, options))
            return GBA_SWITCHD_EXIT_USAGE;
    }
    if (optind < argc) {
        fprintf(stderr, "gba-switchd: unexpected argument %s; see gba-switchd --help\n",
                argv[optind]);
        return GBA_SWITCHD_EXIT_USAGE;
    }
    return check(options, listen_given) ? GBA_SWITCHD_RUN : GBA_SWITCHD_EXIT_USAGE;
}
