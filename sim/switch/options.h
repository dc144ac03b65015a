/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of gba-switchd. */
#ifndef GBA_SIM_SWITCH_OPTIONS_H
#define GBA_SIM_SWITCH_OPTIONS_H

#include "sim/switch/log.h"
#include "sim/switch/switch.h"

/* Size of the path of a Unix socket, with the terminator. */
#define GBA_SWITCHD_PATH_MAX 108

/* The faults of --fault. */
enum gba_switchd_fault_kind {
    GBA_SWITCHD_DROP, /* lose arrival `number`, from 1 */
    GBA_SWITCHD_HOLD, /* port `number`: pass nothing for `duration` */
    GBA_SWITCHD_CUT,  /* port `number`: close the connection */
    GBA_SWITCHD_DIE   /* kill the daemon */
};

struct gba_switchd_fault {
    enum gba_switchd_fault_kind kind;
    uint64_t number;
    uint64_t time, duration; /* ns */
};

#define GBA_SWITCHD_FAULTS GBA_SWITCH_DROPS /* maximum number of faults of all kinds */

struct gba_switchd_options {
    char listen[GBA_SWITCHD_PATH_MAX]; /* Unix socket; "": none */
    bool make_directory;               /* of `listen`, which is the default */
    const char *group;                 /* of the socket file; NULL: that of the process */
    char tcp_host[256];                /* to bind; "": no TCP */
    char tcp_port[16];
    const char *key_file;  /* NULL: none */
    const char *auth;      /* of TCP: NULL: the key; or as for gba_switch_credential_check */
    uint32_t job_key_time; /* s; see job_keys.h */
    const char *trace;     /* NULL: none */
    uint32_t groups, ports;
    uint32_t quota, user_quota, job_quota; /* groups; 0: no limit */
    uint32_t user_ports, job_ports;        /* 0: no limit */
    uint32_t client_timeout;               /* s; see session.h */
    const char *vfio_directory;            /* NULL: no devices for virtual machines */
    uint32_t vfio_devices;
    bool vfio_msi;
    struct gba_switch_latency latency;
    struct gba_switchd_fault fault[GBA_SWITCHD_FAULTS];
    uint32_t faults;
    const char *log_file; /* NULL: standard error */
    enum gba_switchd_level log_level;
};

/* The caller's next step after parsing. */
enum gba_switchd_action { GBA_SWITCHD_RUN, GBA_SWITCHD_EXIT_OK, GBA_SWITCHD_EXIT_USAGE };

/* Parse the command line. Prints the help, the version, or an error. */
enum gba_switchd_action gba_switchd_options_parse(int argc, char **argv,
                                                  struct gba_switchd_options *options);

/* Parse the text of --latency, "up=1us,match=200ns". *latency keeps the values that the text does
 * not name. Returns NULL, or an error message, which can be in the caller's buffer. */
const char *gba_switchd_latency_parse(const char *text, struct gba_switch_latency *latency,
                                      char *message, unsigned long size);

/* Parse one fault, "hold=3@2s+500ms". Returns false, with *fault unspecified, if it is invalid. */
bool gba_switchd_fault_parse(const char *text, struct gba_switchd_fault *fault);

#endif
