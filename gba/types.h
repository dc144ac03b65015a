/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Versions, status codes and the log of libgba.
 */
#ifndef GBA_TYPES_H
#define GBA_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. gba_version() is that of the loaded libgba.so. */
#define GBA_VERSION_MAJOR 0
#define GBA_VERSION_MINOR 1
#define GBA_VERSION_PATCH 0

#if defined(__GNUC__)
#define GBA_EXPORT __attribute__((visibility("default")))
#else
#define GBA_EXPORT
#endif

/* ---------------------------------------------------------------------------------- status --- */

/*
 * The result of a call. Members send these numbers to each other when they agree, so they are never
 * renumbered; -21 is not used. If members fail for different reasons, the lowest number is
 * reported.
 */
typedef enum gba_status {
    GBA_OK = 0,
    GBA_INPROGRESS = 1,     /* not complete yet: call again */
    GBA_UNFINISHED = 2,     /* of a barrier: call gba_barrier_end */
    GBA_ERR_PARAM = -1,     /* an argument, option or parameter is out of its range */
    GBA_ERR_NOMEM = -2,     /* out of memory, /dev/shm or address space */
    GBA_ERR_NO_DEVICE = -3, /* no device at that path, or none was requested */
    GBA_ERR_PERM = -4,      /* permission denied by the system */
    GBA_ERR_NOT_GBA = -5,   /* the file exists, but is not a GBA */
    GBA_ERR_VERSION = -6,   /* a device or segment has another version */
    GBA_ERR_NO_GROUP = -7,  /* all groups of the device are in use */
    GBA_ERR_TOO_MANY = -8,  /* more members or nodes than a group can have (708) */
    GBA_ERR_STALE = -9,     /* the group was freed, and perhaps allocated again, in the meantime */
    GBA_ERR_BUSY = -10,     /* in use, or in the wrong state for this call */
    GBA_ERR_REFUSED = -11,  /* the device's administrator (or an injected fault) refused */
    GBA_ERR_OTHER_DEVICE = -12, /* a different device (host, switch or simulator) than the leader */
    GBA_ERR_DEAD = -13,         /* the device stopped answering */
    GBA_ERR_IO = -14,           /* the driver or the system failed in another way */
    GBA_ERR_OOB = -15,          /* the exchange between the members failed */
    GBA_ERR_NO_PLUGIN = -16,    /* a member lacks the plugin or has it disabled */
    GBA_ERR_MISMATCH = -17,     /* members have different values of a parameter (all_same) */
    GBA_ERR_UNSUPPORTED = -18,  /* not supported for this kind of team or device */
    GBA_ERR_TIMEOUT = -19,      /* a bounded wait timed out */
    GBA_ERR_LIMIT = -20,        /* the job holds as many groups as `max_groups` allows */
    GBA_ERR_DEFERRED = -22,     /* the team has made fewer barriers than `offload_after` */
    GBA_ERR_DISABLED = -23,     /* a member has `sw_enable` 0: no software barrier of libgba */
    GBA_ERR_NO_TRANSPORT = -24, /* no transport between the members' hosts */
    GBA_ERR_TOO_FEW = -25,      /* fewer members than `min_comm_size` */
    GBA_ERR_QUOTA = -26,        /* the administrator's limit for the user or the host is reached */
    GBA_ERR_NOT_WANTED = -27,   /* `offload` is never */
    GBA_ERR_FEW_HOSTS = -28,    /* fewer hosts than `min_hosts` */
    GBA_ERR_SLOWER = -29,       /* another barrier is measured or expected to be faster */
    GBA_ERR_NO_FILES = -30,     /* the process or the host can open no more files (ulimit -n) */
    GBA_ERR_AWAY = -31          /* the gba-switchd does not answer */
} gba_status_t;

/* The lowest status. */
#define GBA_STATUS_LAST GBA_ERR_AWAY

/* Name a status. status: any number. Returns the name of the constant, "GBA_ERR_NO_GROUP"; never
 * NULL. Thread-safe. Not collective. */
GBA_EXPORT const char *gba_status_name(gba_status_t status);

/* Describe a status for messages. status: any number. Returns a text without a full stop, "no
 * barrier group is free"; never NULL. Thread-safe. Not collective. */
GBA_EXPORT const char *gba_status_text(gba_status_t status);

/* Get the version of the loaded library. Returns a string, "0.1.0"; never NULL. Thread-safe. Not
 * collective. */
GBA_EXPORT const char *gba_version(void);

/* ------------------------------------------------------------------------------------- log --- */

/* The level of a line of the log, most important first. */
typedef enum gba_log_level {
    GBA_LOG_TEAM = 0,  /* for the user; one member reports it for its whole team */
    GBA_LOG_ERROR = 1, /* for the user; all processes of a host may report the same */
    GBA_LOG_WARN = 2,  /* a request of the user that is not met */
    GBA_LOG_INFO = 3,  /* losses that were recovered */
    GBA_LOG_DEBUG = 4  /* each step of devices and groups */
} gba_log_level_t;

/* A log function. It receives one line without a newline. Called from any thread, possibly from
 * several at once. */
typedef void (*gba_log_fn_t)(void *ctx, gba_log_level_t level, const char *line);

/*
 * Send the log to a function. fn: receives each line; NULL: print to stderr with the prefix "gba:
 * ". ctx: passed to fn. level: lines above it are dropped; initially GBA_LOG_WARN. Not thread-safe:
 * call it before any other function. Not collective.
 */
GBA_EXPORT void gba_log_set(gba_log_fn_t fn, void *ctx, gba_log_level_t level);

/* Send a line to the log, for the libraries beside libgba. line: without a newline. Thread-safe if
 * the function of gba_log_set is. Not collective. */
GBA_EXPORT void gba_log_text(gba_log_level_t level, const char *line);

#ifdef __cplusplus
}
#endif

#endif
