/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of gba_info. */
#ifndef GBA_TOOLS_INFO_H
#define GBA_TOOLS_INFO_H

#include <inttypes.h>

#include "gba/gba.h"

/* Exit statuses. A script can distinguish a missing device from wrong arguments. */
enum info_exit {
    INFO_EXIT_OK = 0,
    INFO_EXIT_NO_DEVICE = 1, /* no such device, or it cannot be opened or does not answer */
    INFO_EXIT_USAGE = 2,
    INFO_EXIT_FAILED = 3, /* the test of --test failed */
    INFO_EXIT_BUSY = 4,   /* --test: no group is free */
    INFO_EXIT_USAGE_HEALTH = 64,
    INFO_EXIT_LOST = 74 /* output was lost */
};

/* Exit statuses of --health, from good to bad. */
enum info_health {
    INFO_HEALTH_OK = 0,
    INFO_HEALTH_BUSY = 1,     /* all groups are in use */
    INFO_HEALTH_DEGRADED = 2, /* barriers work, but messages are lost, or errors grow */
    INFO_HEALTH_BROKEN = 3,
    INFO_HEALTH_ABSENT = 4
};

/* --- info_report.c: output, as lines of text or as one JSON value --- */

/* Choose JSON. Text is the default. Call it before the first output. */
void report_json(void);
bool report_is_json(void);

/* A field: "name    value" or "name": "value". In JSON the blanks of a name become underscores. A
 * text is printed as by gba_printable, and in JSON with escapes. */
void report_text(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
void report_number(const char *name, uint64_t value);
void report_bool(const char *name, bool value); /* yes, no */

/* Structure. In text an object of a list ends with an empty line, and other structure is not
 * visible. name: NULL in a list and at the top. */
void report_begin(const char *name, char bracket); /* '{' or '[' */
void report_end(void);

/*
 * Report an error and return `code`. Text: "gba_info: ..." on stderr. JSON: the fields "error" and
 * "status" in an object of their own if no object is open.
 */
int report_error(enum info_exit code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- info_device.c --- */

/*
 * Open a device. On failure returns NULL, with the cause and advice in `cause`. If cause is NULL
 * the library and this function print them.
 */
gba_device_t *info_device_open(const char *path, gba_status_t *status, char *cause, size_t len);

/* The modes. Each returns an exit status. */
int info_show(const char *path);
int info_test(const char *path);

/*
 * The life of a group with this process as its one member. handle: set. resent: NULL: an arrival
 * that is not answered is an error; else it is sent again, and this is set to how often. step: set
 * to the call that failed.
 */
gba_status_t info_test_group(gba_device_t *device, gba_group_handle_t *handle, unsigned *resent,
                             const char **step);

/* Whether that status of a test means that the device is in use, and not faulty. */
bool info_is_busy(gba_status_t status);

/* --- info_health.c --- */

/* Report the health of devices: those of info_devices_default if count is 0. Returns the worst
 * enum info_health. */
int info_health(char *const *devices, int count);

/* --- info_prometheus.c --- */

/* Print the metrics of devices, each path once, as info_health. Returns an exit status. */
int info_prometheus(char *const *devices, int count);

/* --- info_list.c --- */
int info_list(void);

/* --- info_jobs.c --- */
int info_jobs(void);

/* --- info_params.c --- */

/* Set all parameters of libgba as Open MPI would read them for a job that is started here: from the
 * environment, from files, or by default. Returns GBA_OK, or GBA_ERR_PARAM (the first bad value or
 * misspelt name is reported): the other parameters are set all the same. */
gba_status_t info_params_get(gba_params_t *params);

/* Whether the list of components, the parameter coll, has the component. list: set if not. */
#define INFO_LIST 256u
bool info_params_selected(char list[INFO_LIST]);

/* Read them from now on as a program without MPI does: GBA_NAME in the environment. */
void info_params_no_mpi(void);

/* Whether the user has set that parameter of the coll component. */
bool info_params_is_set(const char *name);

/* --- info_path.c --- */

/*
 * The device that a process like this one would use: that of the parameter device_path, or the
 * choice among several devices. choices: set to these devices, or to none if there is no choice.
 * why: the reason of a choice, else "" (len bytes at most, terminated). Returns its path, which
 * lives as long as the arguments.
 */
const char *info_choose(const gba_params_t *params, gba_device_choices_t *choices, char *why,
                        size_t len);

/* The devices of this host: that of the parameter device_path if the user has set it and it names
 * one, else each /dev/gbaN, or /dev/gba0 if there is none. */
void info_devices_default(gba_device_choices_t *choices);

/* shape: "N" or "NxM". path: of the device; NULL: that of the parameter device_path.
 * no_mpi: of a program without MPI. */
int info_path(const char *shape, const char *path, bool no_mpi);

#endif
