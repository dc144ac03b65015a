/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of gba-switchd. */
#include "sim/switch/command_line.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "gba/base/command_line.h"
#include "gba/base/number.h"
#include "gba/base/switch_socket.h"
#include "gba/params.h"
#include "gba/types.h"
#include "sim/switch/core/protocol.h"
#include "sim/switch/net/trust.h"

static const char help[] =
    "Usage: gba-switchd [OPTION]...\n"
    "Run a simulated switch with a Global Barrier Accelerator for the hosts and jobs that connect\n"
    "to it. Runs in the foreground until SIGTERM or SIGINT. SIGHUP reads the key file again.\n"
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
    "                         times of the links and the switch, in ns or with a unit (1.5us): "
    "up,\n"
    "                         match, release, down, jitter; loss with % or ppm; seed. Default: 0\n"
    "  --vfio-user DIR        PCI devices for virtual machines: sockets 0, 1, ... in that "
    "directory,\n"
    "                         for the device vfio-user-pci of QEMU; each connection has a port\n"
    "  --vfio-user-devices N  number of these sockets, 1 to 708; default: 4\n"
    "  --log-level LEVEL      error, warning, info or debug; default: info\n"
    "  --help                 print this help\n"
    "  --version              print the version\n";

static bool complain(const char *option, const char *value, const char *allowed)
{
    char message[400];

    gba_refuse(message, sizeof(message), option, value, allowed);
    fprintf(stderr, "gba-switchd: %s\n", message);
    return false;
}

/* "HOST:PORT"; an IPv6 address in brackets. */
static bool parse_tcp(const char *text, struct gba_switchd_options *options)
{
    const char *colon = strrchr(text, ':');
    size_t length = colon == NULL ? 0 : (size_t)(colon - text);
    uint64_t port = GBA_SWITCH_TCP_PORT;

    if (colon == NULL || length >= sizeof(options->tcp_host))
        return complain("--tcp", text, "[HOST]:[PORT]");
    if (colon[1] != '\0' && !gba_count_parse(colon + 1, 0, 65535, &port))
        return complain("--tcp", text, "a port of 0 to 65535");
    if (length >= 2 && text[0] == '[' && text[length - 1] == ']') {
        text++;
        length -= 2;
    }
    memcpy(options->tcp_host, text, length);
    options->tcp_host[length] = '\0';
    if (length == 0)
        snprintf(options->tcp_host, sizeof(options->tcp_host), "127.0.0.1");
    snprintf(options->tcp_port, sizeof(options->tcp_port), "%u", (unsigned)port);
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

    gba_switchd_socket(path, sizeof(path));
    options->make_directory = true;
    return set_listen(path, options);
}

static bool parse_latency(const char *text, struct gba_switchd_options *options)
{
    char message[300];

    if (gba_switchd_latency_parse(text, &options->latency, message, sizeof(message)))
        return true;
    fprintf(stderr, "gba-switchd: --latency %.64s: %s\n", text, message);
    return false;
}

static bool set_log_level(const char *value, struct gba_switchd_options *options)
{
    return gba_switchd_log_parse(value, &options->log_level) ||
           complain("--log-level", value, "error, warning, info or debug");
}

/* An option: a number, a function that parses it, or a text. */
static const struct setting {
    const char *name;
    uint32_t least, most; /* of a number; most 0: no number */
    bool seconds;         /* the number is a time, which may have a unit */
    size_t offset;        /* of the number or text */
    bool (*set)(const char *value, struct gba_switchd_options *options);
} settings[] = {
#define AT(field) .offset = offsetof(struct gba_switchd_options, field)
    {"listen", .set = set_listen},
    {"group", AT(group)},
    {"tcp", .set = parse_tcp},
    {"key-file", AT(key_file)},
    {"groups", 1, GBA_GROUPS, false, AT(groups)},
    {"ports", 1, GBA_PORTS_MAX, false, AT(ports)},
    {"quota", 0, GBA_GROUPS, false, AT(quota)},
    {"user-quota", 0, GBA_GROUPS, false, AT(user_quota)},
    {"job-quota", 0, GBA_GROUPS, false, AT(job_quota)},
    {"user-ports", 0, GBA_PORTS_MAX, false, AT(user_ports)},
    {"job-ports", 0, GBA_PORTS_MAX, false, AT(job_ports)},
    {"client-timeout", 1, 3600, true, AT(client_timeout)},
    {"latency", .set = parse_latency},
    {"log-level", .set = set_log_level},
    {"vfio-user", AT(vfio_directory)},
    {"vfio-user-devices", 1, GBA_PORTS_MAX, false, AT(vfio_devices)},
};
#define SETTINGS (sizeof(settings) / sizeof(settings[0]))
#define FIRST    256 /* the number of the first one for getopt_long */

static bool set_number(const struct setting *setting, const char *name, const char *value,
                       struct gba_switchd_options *options)
{
    const gba_param_t number = {.name = name,
                                .type = GBA_PARAM_UINT,
                                .offset = setting->offset,
                                .min = setting->least,
                                .max = setting->most,
                                .unit = setting->seconds ? UINT64_C(1000000000) : 0};
    char allowed[128];

    if (gba_param_set(&number, options, value))
        return true;
    gba_param_allowed(&number, allowed, sizeof(allowed));
    return complain(name, value, allowed);
}

static bool set_option(const struct setting *setting, const char *value,
                       struct gba_switchd_options *options)
{
    void *field = (char *)options + setting->offset;
    char name[32];

    if (setting->set != NULL)
        return setting->set(value, options);
    snprintf(name, sizeof(name), "--%s", setting->name);
    if (setting->most != 0)
        return set_number(setting, name, value, options);
    *(const char **)field = value;
    return true;
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
    if (options->listen[0] == '\0' && options->tcp_host[0] == '\0' &&
        options->vfio_directory == NULL) {
        fprintf(stderr, "gba-switchd: --listen none needs --tcp or --vfio-user: "
                        "nobody could reach the switch\n");
        return false;
    }
    return true;
}

enum gba_switchd_action gba_switchd_options_parse(int argc, char **argv,
                                                  struct gba_switchd_options *options)
{
    struct option known[SETTINGS + 3] = {[SETTINGS] = {"help", no_argument, NULL, 'h'},
                                         {"version", no_argument, NULL, 'V'}};
    bool listen_given = false;
    char message[512];
    int option;

    *options = (struct gba_switchd_options){.groups = GBA_GROUPS,
                                            .ports = GBA_PORTS_MAX,
                                            .client_timeout = 30,
                                            .vfio_devices = 4,
                                            .log_level = GBA_SWITCHD_INFO};
    for (size_t i = 0; i < SETTINGS; i++)
        known[i] = (struct option){settings[i].name, required_argument, NULL, FIRST + (int)i};
    while ((option = gba_option_next(argc, argv, known, message, sizeof(message))) != -1) {
        if (option == '?') {
            fprintf(stderr, "gba-switchd: %s\n", message);
            return GBA_SWITCHD_EXIT_USAGE;
        }
        if (option == 'h') {
            fputs(help, stdout);
            return GBA_SWITCHD_EXIT_OK;
        }
        if (option == 'V') {
            printf("gba-switchd %d.%d.%d\n", GBA_VERSION_MAJOR, GBA_VERSION_MINOR,
                   GBA_VERSION_PATCH);
            return GBA_SWITCHD_EXIT_OK;
        }
        if (!set_option(&settings[option - FIRST], optarg, options))
            return GBA_SWITCHD_EXIT_USAGE;
        listen_given |= settings[option - FIRST].set == set_listen;
    }
    if (optind < argc) {
        fprintf(stderr, "gba-switchd: unexpected argument %s; see gba-switchd --help\n",
                argv[optind]);
        return GBA_SWITCHD_EXIT_USAGE;
    }
    return check(options, listen_given) ? GBA_SWITCHD_RUN : GBA_SWITCHD_EXIT_USAGE;
}
