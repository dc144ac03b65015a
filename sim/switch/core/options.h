/* SPDX-License-Identifier: BSD-3-Clause */
/* What the command line of gba-switchd sets. */
#ifndef GBA_SIM_SWITCH_CORE_OPTIONS_H
#define GBA_SIM_SWITCH_CORE_OPTIONS_H

#include "sim/switch/core/log.h"
#include "sim/switch/core/switch.h"

/* Size of the path of a Unix socket, with the terminator. */
#define GBA_SWITCHD_PATH_MAX 108

struct gba_switchd_options {
    char listen[GBA_SWITCHD_PATH_MAX]; /* Unix socket; "": none */
    bool make_directory;               /* of `listen`, which is the default */
    const char *group;                 /* of the socket file; NULL: that of the process */
    char tcp_host[256];                /* to bind; "": no TCP */
    char tcp_port[16];
    const char *key_file; /* NULL: none */
    uint32_t groups, ports;
    uint32_t quota, user_quota, job_quota; /* groups; 0: no limit */
    uint32_t user_ports, job_ports;        /* 0: no limit */
    uint32_t client_timeout;               /* s; see session.h */
    const char *vfio_directory;            /* NULL: no devices for virtual machines */
    uint32_t vfio_devices;
    struct gba_switch_latency latency;
    enum gba_switchd_level log_level;
};

#endif
