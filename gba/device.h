/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices, and barrier groups, of which this process is one member. No function of this header is
 * collective. */
#ifndef GBA_DEVICE_H
#define GBA_DEVICE_H

#include "gba/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------------------------- devices --- */

/* A device that gba_device_init or gba_global_device_get opened. */
typedef struct gba_device gba_device_t;

#define GBA_UUID_SIZE     16
#define GBA_COUNTERS_SIZE 10 /* GBA_COUNTERS of gba_regs.h */

/* What gba_device_query finds out about a device. */
typedef struct gba_device_info {
    char backend[16];            /* "cdev", "sim", "switch" */
    char path[64];               /* as given, truncated */
    uint8_t uuid[GBA_UUID_SIZE]; /* of the switch unit or of the simulator */
    uint32_t regs_version;       /* major << 16 | minor */
    uint32_t groups, groups_free, members_max;
    bool dead;
    bool created; /* gba_device_init made this simulated device */
    uint64_t bad_access;
    uint64_t counters[GBA_COUNTERS_SIZE]; /* since power-on, sums of all groups, by GBA_COUNTER_* */
    /* Of a gba-switchd, the first port whose link to its host is lost, and that host: "3 to hostb";
     * "": none. */
    char lost[32];
} gba_device_info_t;

/* Attributes of a device to open. */
typedef struct gba_device_attr {
    /*
     * The name of the job, the same in all its processes. It selects the simulator for the path
     * "sim". NULL: each process has its own simulator.
     */
    const char *job;
    /* The file with the key of a gba-switchd that is reached over TCP. NULL, "" or "none": the file
     * that GBA_SWITCH_KEY_FILE in the environment names. */
    const char *key_file;
    /* Time in ms for which the call waits for a gba-switchd to answer, without the time of the
     * resolver: 1 to 10,000. 0: 10,000. */
    uint32_t timeout_ms;
} gba_device_attr_t;

/*
 * Check a device path without opening anything.
 * path: "/dev/gbaN" or another absolute path; "switch:/path", "switch:/path?owner=user",
 * "switch://host:port", a gba-switchd; "sim" or "sim:NAME",
 * either with "?option=value&..."; "sim:@NUMBER", an existing simulator as gba_device_list names
 * it; "none". message, len: as for gba_params_check. Returns GBA_OK or GBA_ERR_PARAM. Thread-safe.
 */
GBA_EXPORT gba_status_t gba_device_path_check(const char *path, char *message, size_t len);

/*
 * Open a device. If it is a gba-switchd and the connection is lost, the device is dead: only a
 * device that is opened again, such as by a later job, uses a restarted daemon.
 * path: as for gba_device_path_check. attr: may be NULL. device: set on GBA_OK.
 * Returns GBA_OK; GBA_ERR_PARAM (path); GBA_ERR_NO_DEVICE (no such file, or "none"); GBA_ERR_PERM;
 * GBA_ERR_NOT_GBA; GBA_ERR_VERSION; GBA_ERR_NOMEM; GBA_ERR_NO_FILES; GBA_ERR_BUSY (a simulator of
 * that name runs with other options, or all ports of the device are in use); GBA_ERR_AWAY (a
 * gba-switchd that does not answer); GBA_ERR_IO.
 * Thread-safe. Logs every error in one line with the path and the cause, except a missing file.
 */
GBA_EXPORT gba_status_t gba_device_init(const char *path, const gba_device_attr_t *attr,
                                        gba_device_t **device);

/*
 * Print advice for the user about a device that gba_device_init refused.
 * path, status: of that call. text, len: set to one sentence without a full stop, or to "" if there
 * is no advice (len bytes at most, terminated). It may name the group of the file. Not thread-safe:
 * it uses getgrgid. Reads the file's mode.
 */
GBA_EXPORT void gba_device_advice(const char *path, gba_status_t status, char *text, size_t len);

/* Close a device. The caller has freed all its groups. device: of gba_device_init; may be NULL. Not
 * thread-safe on one device. */
GBA_EXPORT void gba_device_fini(gba_device_t *device);

/* Get the device of this process for that path and job. The first caller opens it; the last
 * gba_global_device_put closes it. Two plugins in one process share a device in this way. path,
 * attr, device: as for gba_device_init. Returns the same as gba_device_init. Thread-safe. */
GBA_EXPORT gba_status_t gba_global_device_get(const char *path, const gba_device_attr_t *attr,
                                              gba_device_t **device);

/* Give back a device. The last caller closes it, and has freed all its groups. device: of
 * gba_global_device_get; may be NULL. Thread-safe. */
GBA_EXPORT void gba_global_device_put(gba_device_t *device);

#define GBA_FOUND_PIDS 8

/* A device of this host, see gba_device_list. */
typedef struct gba_device_found {
    char path[64];                /* for gba_device_init */
    uint32_t processes;           /* that have it open, without those of other users */
    int32_t pids[GBA_FOUND_PIDS]; /* the first of them */
} gba_device_found_t;

/*
 * List the devices of this host: each /dev/gbaN, by number, the simulated devices of this user's
 * running jobs, and the gba-switchd at the default sockets of root and this user, without its
 * processes. It opens no device. Root sees which processes of other users have a /dev/gbaN open.
 * Reads the open files of all processes, which takes milliseconds. list: set on GBA_OK to an array
 * that the caller frees with free(), or to NULL. count: its length. Returns GBA_OK; GBA_ERR_NOMEM;
 * GBA_ERR_NO_FILES (logged); GBA_ERR_PERM or GBA_ERR_IO: /dev or /proc cannot be read (logged).
 * Thread-safe.
 */
GBA_EXPORT gba_status_t gba_device_list(gba_device_found_t **list, size_t *count);

/* Query the identity, the free groups and the counters of a device. info: set on GBA_OK. Returns
 * GBA_OK or GBA_ERR_IO. Thread-safe. */
GBA_EXPORT gba_status_t gba_device_query(gba_device_t *device, gba_device_info_t *info);

/* The owner of a group in use: the process that allocated it. */
typedef struct gba_group_owner {
    uint32_t group;
    uint32_t members; /* that the group is for */
    uint32_t present; /* that have joined, and have not left */
    uint32_t user;    /* UINT32_MAX: not known */
    uint32_t process; /* it may have ended; 0: not known */
    bool local;       /* the user and the process are those of this host */
    uint64_t job;     /* number of its job, among those of the user; 0: none */
    /* Its job in a batch system: "slurm:12", "pbs:12.server", "lsf:12" or "flux:f2oLk"; "": none,
     * or not known. */
    char batch_job[29];
} gba_group_owner_t;

/*
 * List the owners of the groups in use: of a simulator, of a switch, and of /dev/gbaN. A switch
 * reports those of the caller's user; all to root, to its own user, and to a process with its key
 * file. The driver of /dev/gbaN reports those of the caller's user on this host; with CAP_SYS_ADMIN
 * all of this host.
 * list: set on GBA_OK, by group. max: groups that it has room for; 32 is enough for any device.
 * count: set on GBA_OK to their number, at most max.
 * Returns GBA_OK; GBA_ERR_UNSUPPORTED: the driver is older; GBA_ERR_DEAD; GBA_ERR_NOMEM;
 * GBA_ERR_IO. Thread-safe. Not collective.
 */
GBA_EXPORT gba_status_t gba_device_owners(gba_device_t *device, gba_group_owner_t *list,
                                          uint32_t max, uint32_t *count);

/* Find out whether a process of this host serves the device: a gba-switchd on this host. It needs a
 * core beside those of the job, see gba_team_attr_t.oversubscribed. Returns true or false.
 * Thread-safe. Not collective. */
GBA_EXPORT bool gba_device_served_here(const gba_device_t *device);

/*
 * Read or write a register, for diagnosis and conformance tests. Needs the right to do so.
 * The device counts an access that it refuses. A refused read returns all ones, as in hardware.
 * address: in the BAR, see gba_regs.h. width: 4 or 8 bytes. value: in the byte order of the CPU.
 * Returns GBA_OK; GBA_ERR_PERM; GBA_ERR_PARAM (outside the BAR, or a width that the bus does not
 * support); GBA_ERR_UNSUPPORTED; GBA_ERR_IO. Thread-safe. Orders nothing: neither a read nor a
 * write is ordered with anything else.
 */
GBA_EXPORT gba_status_t gba_reg_read(gba_device_t *device, uint32_t address, unsigned width,
                                     uint64_t *value);
GBA_EXPORT gba_status_t gba_reg_write(gba_device_t *device, uint32_t address, unsigned width,
                                      uint64_t value);

/* ------------------------------------------------------------- the choice among several devices */

#define GBA_DEVICE_CHOICES_MAX 16
#define GBA_DEVICE_PATH_MAX    128

/* How far a device is from the cores of a process, nearest first. The names are those of other
 * tools for the topology of PCI; here one end is a core. */
typedef enum gba_distance {
    GBA_DISTANCE_PIX = 0,  /* at the NUMA node of the cores, behind at most one PCI bridge */
    GBA_DISTANCE_PXB = 1,  /* at the NUMA node of the cores, behind several bridges */
    GBA_DISTANCE_PHB = 2,  /* at the NUMA node of some of the cores */
    GBA_DISTANCE_NODE = 3, /* at another NUMA node of a package of the cores */
    GBA_DISTANCE_SYS = 4   /* at another package, or not known */
} gba_distance_t;

/* Name a distance. Returns "PIX", "PXB", "PHB", "NODE" or "SYS"; never NULL. Thread-safe. */
GBA_EXPORT const char *gba_distance_name(gba_distance_t distance);

/* The devices among which the processes of a host choose, found by gba_device_choices_find. */
typedef struct gba_device_choices {
    uint32_t count;
    struct {
        char path[GBA_DEVICE_PATH_MAX]; /* for gba_device_init */
        gba_distance_t distance;        /* to this process */
    } list[GBA_DEVICE_CHOICES_MAX];
} gba_device_choices_t;

/*
 * Find the choices: with the list "all" each of /dev/gba0 to /dev/gba15 that exists; else the
 * devices of the list, without files that do not exist. Files that the caller may not read and
 * write are choices only if there is no other one. The distances of a single choice are not
 * measured: GBA_DISTANCE_SYS. With several it takes milliseconds. Opens no device.
 * list: valid. choices: set; its count may be 0. Thread-safe. Not collective.
 */
GBA_EXPORT void gba_device_choices_find(const char *list, gba_device_choices_t *choices);

/*
 * The device of a process before it chooses among several. path, list: device_path and device_list,
 * if the user set them, else NULL. choices: set as by gba_device_choices_find; none with a path.
 * Returns the path; or the first choice; or "none", if no device of the user's list exists; NULL:
 * the default device_path. The text lives as long as the arguments. Thread-safe. Not collective.
 */
GBA_EXPORT const char *gba_device_choices_first(const char *path, const char *list,
                                                gba_device_choices_t *choices);

/*
 * Open the choices beside the device of this process. Other processes may wait for this one, so all
 * of them have one limit: each has an equal part of the time that is left, and a device that does
 * not answer leaves time for the next one.
 * choices: any number. chosen: the path of the device that is passed over. attr: as for
 * gba_device_init, but not NULL, and without timeout_ms. limit_ms: for all; 0: 10000, the time that
 * one device has.
 * devices: [GBA_DEVICE_CHOICES_MAX], by choice: set where one is opened, for gba_global_device_put.
 * Thread-safe. Not collective. Blocks.
 */
GBA_EXPORT void gba_device_choices_open(const gba_device_choices_t *choices, const char *chosen,
                                        const gba_device_attr_t *attr, uint32_t limit_ms,
                                        gba_device_t **devices);

/* Pack the distances of this process into one word, for the exchange with the other processes of
 * the host. Returns the word, never 0. Thread-safe. */
GBA_EXPORT uint64_t gba_device_choices_word(const gba_device_choices_t *choices);

/*
 * Choose the device of this process: by the map; without a map, or if it names no choice, the
 * nearest one. Processes for which several are equally near are balanced over these. All processes
 * of the host that pass the same words and the same map compute the same choice for all of them. A
 * choice from other words, for example of a process with other choices, costs only balance.
 * choices: at least one. map: valid. words: [processes] of gba_device_choices_word by process, 0
 * for a process whose word is not known; such a process counts as one with the distances of this
 * one. processes: of the host, at least 1. self: this process, below `processes`. index: set on
 * GBA_OK. why, len: set on GBA_OK to one line (len bytes at most, terminated). Returns GBA_OK or
 * GBA_ERR_NOMEM. Thread-safe.
 */
GBA_EXPORT gba_status_t gba_device_choose(const gba_device_choices_t *choices, const char *map,
                                          const uint64_t *words, uint32_t processes, uint32_t self,
                                          uint32_t *index, char *why, size_t len);

/* ---------------------------------------------------------------------------------- groups --- */

/* This process as one member of a barrier group, from gba_join_group. */
typedef struct gba_group gba_group_t;

/* A group handle: the data that a process needs to join a group. The allocator sends it to the
 * other members. */
typedef struct gba_group_handle {
    uint32_t group;
    uint32_t generation;
    uint64_t key;
    uint32_t members;
    uint32_t reserved;
    uint8_t uuid[GBA_UUID_SIZE]; /* of the device */
} gba_group_handle_t;

/*
 * Allocate a free group. The same as gba_request_group for that many members with no limit.
 * The group lives until its last member has left it. Before the first join gba_free_handle or the
 * end of this process gives it back. members: 1 to 708. handle: set on GBA_OK. Returns GBA_OK;
 * GBA_ERR_TOO_MANY; GBA_ERR_PARAM (0 members); GBA_ERR_NO_GROUP; GBA_ERR_QUOTA; GBA_ERR_DEAD;
 * GBA_ERR_NOMEM; GBA_ERR_IO. Thread-safe. The leader calls it.
 */
GBA_EXPORT gba_status_t gba_allocate_group(gba_device_t *device, uint32_t members,
                                           gba_group_handle_t *handle);

/* A request for a group. */
typedef struct gba_group_request {
    uint32_t members;    /* 1 to 708 */
    uint32_t groups_max; /* most groups that the job may hold, this one included; 0: no limit */
} gba_group_request_t;

/*
 * Allocate a group. The job is that of gba_device_attr_t, or without one this process.
 * handle: set on GBA_OK.
 * Returns the same as gba_allocate_group, or GBA_ERR_LIMIT: the job holds groups_max groups.
 * Thread-safe. The leader calls it.
 */
GBA_EXPORT gba_status_t gba_request_group(gba_device_t *device, const gba_group_request_t *request,
                                          gba_group_handle_t *handle);

/* Find out whether the job can use the device. The job is that of gba_device_attr_t, or without one
 * this process. Returns true if the job holds a group, or if a group is free at this moment; false
 * also if the device does not answer. Thread-safe. Makes one or two system calls. */
GBA_EXPORT bool gba_device_usable(gba_device_t *device);

/* Give back a group that this process has allocated and no process has joined. Does nothing if the
 * group was joined. handle: of gba_allocate_group or gba_request_group. Thread-safe. */
GBA_EXPORT void gba_free_handle(gba_device_t *device, const gba_group_handle_t *handle);

/*
 * Join a group.
 * handle: as the allocator sent it. member: 0 to handle->members - 1; each for one process. group:
 * set on GBA_OK.
 * Returns GBA_OK; GBA_ERR_OTHER_DEVICE (the handle is of another device); GBA_ERR_STALE;
 * GBA_ERR_BUSY (the membership is taken); GBA_ERR_REFUSED; GBA_ERR_PERM; GBA_ERR_QUOTA (too many
 * memberships); GBA_ERR_PARAM; GBA_ERR_NOMEM; GBA_ERR_DEAD; GBA_ERR_UNSUPPORTED (a 32-bit process,
 * and not a simulator); GBA_ERR_IO. Thread-safe.
 */
GBA_EXPORT gba_status_t gba_join_group(gba_device_t *device, const gba_group_handle_t *handle,
                                       uint32_t member, gba_group_t **group);

/* Map the release flag of the member: a word of host memory that the device can write. Returns
 * GBA_OK; GBA_ERR_BUSY (the group is armed, or the member has a flag); GBA_ERR_NOMEM;
 * GBA_ERR_STALE; GBA_ERR_DEAD; GBA_ERR_IO. Thread-safe on different groups. */
GBA_EXPORT gba_status_t gba_dma_map(gba_group_t *group);

/*
 * Arm the group, after all members have joined it and mapped their flags.
 * sequence: 0 to 2^32 - 1; the first round is sequence + 1.
 * Returns GBA_OK; GBA_ERR_BUSY (a member is missing, or the group is armed already); GBA_ERR_STALE;
 * GBA_ERR_DEAD; GBA_ERR_IO. Thread-safe. One member calls it.
 */
GBA_EXPORT gba_status_t gba_configure_group(gba_group_t *group, uint32_t sequence);

/* Leave the group. The device withdraws the flag before it is unmapped. The last member to leave
 * frees the group. group: may be NULL. Thread-safe on different groups. */
GBA_EXPORT void gba_free_group(gba_group_t *group);

/* The registers of a group, for a watchdog. */
typedef struct gba_group_state {
    uint32_t sequence;      /* the last round that completed */
    uint32_t arrived_count; /* arrivals at the next round */
    uint32_t status;        /* GBA_STATUS_* */
    uint32_t last_error;    /* GBA_ERROR_* */
    uint32_t members;
    uint64_t arrived_mask[12];
} gba_group_state_t;

/* Read the registers of a group. state: set on GBA_OK. Returns GBA_OK; GBA_ERR_DEAD; GBA_ERR_STALE;
 * GBA_ERR_IO; GBA_INPROGRESS: the device has not answered within a millisecond; call again later.
 * Thread-safe on different groups. Makes system calls. Orders nothing. */
GBA_EXPORT gba_status_t gba_group_inspect(gba_group_t *group, gba_group_state_t *state);

/* The state with which a member arrives and polls, in one cache line. Initialised by
 * gba_local_state_init. */
typedef struct gba_local_state gba_local_state_t;

/*
 * Make the state of a member that has mapped its flag, before the group is armed: this call stores
 * the first value of the flag.
 * sequence: as for gba_configure_group. state: set on GBA_OK.
 * Returns GBA_OK, GBA_ERR_NOMEM, or GBA_ERR_BUSY (no flag is mapped). Thread-safe.
 * Orders nothing: the exchange that precedes gba_configure_group orders the store before any
 * release.
 */
GBA_EXPORT gba_status_t gba_local_state_init(gba_group_t *group, uint32_t sequence,
                                             gba_local_state_t **state);

/* Free the state of a member, after its last round. state: may be NULL. Thread-safe on different
 * states. */
GBA_EXPORT void gba_local_state_fini(gba_local_state_t *state);

/* Arrive at the next round. gba_poll_release must have returned GBA_OK for the round before. One
 * thread at a time. Never blocks. Release: all earlier writes of this thread are visible to a
 * member that leaves this round. */
GBA_EXPORT void gba_send_arrival(gba_local_state_t *state);

/* Find out whether the round has ended. Returns GBA_OK: all members have arrived; GBA_INPROGRESS:
 * some have not, or the release has not reached this member. One thread at a time. Never blocks.
 * Acquire on GBA_OK: all writes of the members before they arrived are visible. Pairs with
 * gba_send_arrival of the other members. */
GBA_EXPORT gba_status_t gba_poll_release(gba_local_state_t *state);

/* Send the arrival of the current round again. Harmless by rules ARR-4 and ARR-5. One thread at a
 * time. Release, as gba_send_arrival. */
GBA_EXPORT void gba_resend_arrival(gba_local_state_t *state);

#ifdef __cplusplus
}
#endif

#endif
