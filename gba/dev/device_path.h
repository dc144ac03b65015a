/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text that names a device: "/dev/gba0", "switch:/path", "switch:/path?owner=user",
 * "switch://host:port", "sim", "sim:NAME?option=value&option=value", "none".
 */
#ifndef GBA_DEV_DEVICE_PATH_H
#define GBA_DEV_DEVICE_PATH_H

#include "gba/gba.h"

#define GBA_SIM_NAME_MAX 48 /* fits the kernel's limits on names of memfd and abstract sockets */

#define GBA_SIM_KEY_JOB 16 /* digits of a job's number; a process has at most 10 */

/* Longest path of a Unix socket: the size of sun_path, without the end. */
#define GBA_SWITCH_FILE_MAX 107

/* Longest name of the user who runs a gba-switchd. */
#define GBA_SWITCH_OWNER_MAX 32

/* Longest name or address of a host. */
#define GBA_SWITCH_HOST_MAX 253

enum gba_dev_kind { GBA_DEV_NONE, GBA_DEV_CDEV, GBA_DEV_SIM, GBA_DEV_SWITCH };

/*
 * Options of the simulator. An option that is not given is 0. A fault with "every nth" is off at 0.
 * All fields are u32, so that the structure has no padding: a process that attaches to a simulator
 * compares it as bytes.
 */
struct gba_sim_options {
    uint32_t latency;      /* ns from the last arrival to the release, 0 to 1,000,000,000 */
    uint32_t jitter;       /* random ns added to each release, at most this; same range */
    uint32_t seed;         /* of jitter */
    uint32_t lose_arrival; /* every nth arrival is lost before the device */
    uint32_t lose_release; /* every nth release store is not made */
    uint32_t die_after; /* the device completes n rounds and dies as the next one would complete */
    uint32_t die_arrival; /* the device dies as the nth arrival at any group reaches it */
    uint32_t die_release; /* the device dies in round die_after + 1, as with die_after, but after n
                             of its release stores; 0: before any */
    uint32_t die_call;    /* the device dies as the nth call of the driver about a group begins:
                             allocate, join, map a flag, arm, leave */
    uint32_t groups;      /* number of groups of the device, 1 to 32; 0 means 32 */
    uint32_t full;        /* 1: every group is in use */
    uint32_t refuse_rank; /* 1 + the member whose join is refused; 0: none ("refuse_rank=0" in the
                             text is rank 0, stored as 1) */
};

struct gba_dev_path {
    enum gba_dev_kind kind;
    /* GBA_DEV_CDEV; or GBA_DEV_SWITCH: the Unix socket of gba-switchd, "" for TCP. */
    char file[256];
    char owner[GBA_SWITCH_OWNER_MAX + 1]; /* GBA_DEV_SWITCH: of the Unix socket; "": not given */
    /* GBA_DEV_SWITCH: name or address of the host, without brackets, "" for a Unix socket; and the
     * port number of TCP, 0: the default one. */
    char host[GBA_SWITCH_HOST_MAX + 1];
    uint32_t port;
    /* GBA_DEV_SIM; "" = the simulator of the job; "@KEY" = the existing simulator of the job with
     * that number (GBA_SIM_KEY_JOB hexadecimal digits) or of the process with that number. */
    char name[GBA_SIM_NAME_MAX + 1];
    struct gba_sim_options sim;
};

/* The number of a job (gba_device_attr_t.job): equal in all its processes. NULL: the number of this
 * process. Thread-safe. */
uint64_t gba_dev_job(const char *job);

/*
 * Parse a device path.
 * path: set on GBA_OK.
 * message: on GBA_ERR_PARAM set to one line with the error and the allowed values (len bytes at
 * most, terminated).
 * Returns GBA_OK or GBA_ERR_PARAM. Thread-safe. Allocates nothing.
 */
gba_status_t gba_dev_path_parse(const char *text, struct gba_dev_path *path, char *message,
                                size_t len);

/* Print the options as spelled in a path, "?groups=3&seed=7", without those at their defaults; "no
 * options" if none remain. Truncated to len. */
void gba_sim_options_print(const struct gba_sim_options *set, char *text, size_t len);

/*
 * Set the message about an invalid value of a parameter, "PARAMETER=TEXT: " and the cause; without
 * "PARAMETER=" if it is "". One line, of len bytes at most, in which a long text is cut. Returns
 * GBA_ERR_PARAM. Thread-safe.
 */
gba_status_t gba_dev_refuse(const char *parameter, const char *text, char *message, size_t len,
                            const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
