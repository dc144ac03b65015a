/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libgba: barrier groups of a Global Barrier Accelerator, and teams that agree to use them.
 *
 * The layers, lowest first: a *device* (real, simulated), a *group* of it with this process as one
 * member, and a *team*: the members of a communicator or active set that decided together which
 * path their barriers take. A program with a runtime of its own needs only the parameters, the
 * global device and the team.
 *
 * Conventions. Functions return GBA_OK (0), GBA_INPROGRESS (1), GBA_MEET (2) or a negative
 * GBA_ERR_*; they write their outputs on GBA_OK only, unless it is said otherwise. "Collective"
 * means that all members call it, in the same order. Ranks, members and sizes are counts from 0. A
 * pointer argument may not be NULL unless it is said that it may.
 */
#ifndef GBA_H
#define GBA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface: what libgba.so was built with is gba_version(). */
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
 * What became of a call. The numbers travel between the members of a team when they agree, so they
 * are never renumbered. Where members fail for different reasons, the lowest number is the one that
 * is reported.
 */
typedef enum gba_status {
    GBA_OK = 0,
    GBA_INPROGRESS = 1,         /* not there yet: call again */
    GBA_MEET = 2,               /* of a barrier: it is over, and gba_team_revisit is due */
    GBA_ERR_PARAM = -1,         /* an argument, option or parameter out of its range */
    GBA_ERR_NOMEM = -2,         /* out of memory, /dev/shm or address space */
    GBA_ERR_NO_DEVICE = -3,     /* there is no device at that path, or none was asked for */
    GBA_ERR_PERM = -4,          /* the system does not permit it */
    GBA_ERR_NOT_GBA = -5,       /* the file is there, but it is no GBA */
    GBA_ERR_VERSION = -6,       /* a device or segment of another version */
    GBA_ERR_NO_GROUP = -7,      /* all groups of the device are taken */
    GBA_ERR_TOO_MANY = -8,      /* more members, or nodes, than a group can have (708) */
    GBA_ERR_STALE = -9,         /* the group was freed and allocated again in the meantime */
    GBA_ERR_BUSY = -10,         /* taken, or in the wrong state for this call */
    GBA_ERR_REFUSED = -11,      /* the device's administrator (or an injected fault) refused */
    GBA_ERR_OTHER_DEVICE = -12, /* not the leader's device: another host, switch or simulator */
    GBA_ERR_DEAD = -13,         /* the device no longer answers */
    GBA_ERR_IO = -14,           /* the driver or the system failed in a way not listed here */
    GBA_ERR_OOB = -15,          /* the exchange between the members failed */
    GBA_ERR_NO_PLUGIN = -16,    /* a member has no plugin, or has it disabled */
    GBA_ERR_MISMATCH = -17,     /* members have different values of a parameter that must agree */
    GBA_ERR_UNSUPPORTED = -18,  /* not for this kind of team or device */
    GBA_ERR_TIMEOUT = -19,      /* a bounded wait ran out */
    GBA_ERR_LIMIT = -20,        /* the job has as many groups as it may have */
    GBA_ERR_RECLAIMED = -21,    /* the group was taken back for a team that needs it more */
    GBA_ERR_COLD = -22          /* the team has not done `offload_after` barriers yet */
} gba_status_t;

/* The lowest status there is. */
#define GBA_STATUS_LAST GBA_ERR_COLD

/* The name of a status ("GBA_ERR_NO_GROUP"). Never NULL. Thread-safe. */
GBA_EXPORT const char *gba_status_name(gba_status_t status);

/* The status for people ("no barrier group is free"). Never NULL. Thread-safe. */
GBA_EXPORT const char *gba_status_text(gba_status_t status);

/* The version of the library as a string, "0.1.0". Thread-safe. */
GBA_EXPORT const char *gba_version(void);

/* ------------------------------------------------------------------------------------- log --- */

typedef enum gba_log_level {
    GBA_LOG_TEAM = 0,  /* the user must know, and this member speaks for all of its team */
    GBA_LOG_ERROR = 1, /* the user must know; perhaps all processes of a host say the same */
    GBA_LOG_WARN = 2,  /* the user asked for something and gets something else */
    GBA_LOG_INFO = 3,  /* what was lost and mended */
    GBA_LOG_DEBUG = 4  /* each step of devices and groups */
} gba_log_level_t;

/* Takes one line without a newline. Called from any thread, perhaps several at once. */
typedef void (*gba_log_fn_t)(void *ctx, gba_log_level_t level, const char *line);

/*
 * Send the log to fn; NULL stands for stderr with the prefix "gba: ". Lines above `level` are
 * dropped; at the start it is GBA_LOG_WARN. Not thread-safe: call it before any other function.
 */
GBA_EXPORT void gba_log_set(gba_log_fn_t fn, void *ctx, gba_log_level_t level);

/* ------------------------------------------------------------------------------ parameters --- */

/*
 * What a user can set, the same for every plugin. The table below tells a runtime how to offer them
 * (Open MPI: as MCA parameters), so there is one list of names, defaults, ranges and help texts.
 */
typedef struct gba_params {
    int priority;
    int disable;
    char *device_path;
    int min_comm_size;
    int verbose;
    int retry_after;
    int offload_after;
    int max_groups;
    int sw_enable;
    int sw_algorithm; /* gba_algorithm_choice_t */
    int sw_radix;
    int hierarchy; /* gba_hierarchy_t */
    int wait;      /* gba_wait_t */
    int stuck_after;
    unsigned int first_sequence;
} gba_params_t;

typedef enum gba_algorithm_choice {
    GBA_ALGORITHM_AUTO = 0,
    GBA_ALGORITHM_V1 = 1, /* dissemination */
    GBA_ALGORITHM_V2 = 2, /* radix-k dissemination */
    GBA_ALGORITHM_V3 = 3  /* centralized, by pull */
} gba_algorithm_choice_t;

typedef enum gba_hierarchy {
    GBA_HIERARCHY_AUTO = 0, /* in software node; on a device node if one group cannot serve all */
    GBA_HIERARCHY_FLAT = 1, /* one barrier of all members */
    GBA_HIERARCHY_NODE = 2  /* gather in the node, barrier of the leaders, release in the node */
} gba_hierarchy_t;

typedef enum gba_wait {
    GBA_WAIT_AUTO = 0,  /* spin while there is a core for each, else yield; sleep after a second */
    GBA_WAIT_SPIN = 1,  /* never give up the core */
    GBA_WAIT_YIELD = 2, /* let others run between two looks */
    GBA_WAIT_SLEEP = 3  /* sleep as soon as it takes longer than a few microseconds */
} gba_wait_t;

typedef enum gba_param_type {
    GBA_PARAM_INT,   /* int in [min, max] */
    GBA_PARAM_UINT,  /* unsigned int in [min, max] */
    GBA_PARAM_BOOL,  /* int, 0 or 1 */
    GBA_PARAM_ENUM,  /* int, one of the values */
    GBA_PARAM_STRING /* char *, never NULL */
} gba_param_type_t;

typedef struct gba_param_value {
    int value;
    const char *name; /* NULL ends the list */
} gba_param_value_t;

typedef struct gba_param {
    const char *name; /* without the prefix of the runtime: "priority"; NULL ends the table */
    gba_param_type_t type;
    size_t offset; /* of the field in gba_params_t */
    int64_t min, max;
    int64_t value_default;
    const char *string_default;
    const gba_param_value_t *values; /* GBA_PARAM_ENUM only, else NULL */
    int level;     /* of interest to: 1 to 3 users, 4 to 6 tuners, 7 to 9 developers */
    bool all_same; /* changes the path that is taken, so all members must have the same */
    bool hidden;   /* for tests: not offered in lists */
    const char *help;
} gba_param_t;

/* The table; it ends with a name of NULL. Thread-safe. */
GBA_EXPORT const gba_param_t *gba_params_table(void);

/*
 * Set all fields to their defaults. String fields then point to constants: the owner of the
 * structure replaces pointers, and frees what it allocated itself.
 */
GBA_EXPORT void gba_params_default(gba_params_t *params);

/*
 * Check every field against its range.
 * message: gets one line that names the first bad parameter, its value and what is allowed.
 * Returns GBA_OK, or GBA_ERR_PARAM with the message set (len bytes at most, terminated).
 * Thread-safe.
 */
GBA_EXPORT gba_status_t gba_params_check(const gba_params_t *params, char *message, size_t len);

/* --------------------------------------------------------------------------------- devices --- */

typedef struct gba_device gba_device_t;

#define GBA_UUID_SIZE     16
#define GBA_COUNTERS_SIZE 10 /* GBA_COUNTERS of gba_regs.h */

typedef struct gba_device_info {
    char backend[16];            /* "cdev", "sim" */
    char path[64];               /* as given, cut to fit */
    uint8_t uuid[GBA_UUID_SIZE]; /* of the switch unit, or of the simulator */
    uint32_t regs_version;       /* major << 16 | minor */
    uint32_t groups, groups_free, members_max;
    bool dead;
    uint64_t bad_access;
    uint64_t counters[GBA_COUNTERS_SIZE]; /* since power-on, all groups, by GBA_COUNTER_* */
    uint64_t reclaimed; /* groups taken back from teams so far; of a simulated device, else 0 */
} gba_device_info_t;

typedef struct gba_device_attr {
    /*
     * The name of the job, the same for all its processes: which simulator the path "sim" means.
     * NULL: each process has a simulator of its own.
     */
    const char *job;
} gba_device_attr_t;

/*
 * Check a device path without opening anything.
 * path: "/dev/gbaN" or another absolute path; "sim" or "sim:NAME", either with "?option=value&...";
 *       "none".
 * message: as for gba_params_check.
 * Returns GBA_OK or GBA_ERR_PARAM. Thread-safe.
 */
GBA_EXPORT gba_status_t gba_device_path_check(const char *path, char *message, size_t len);

/*
 * Open a device.
 * path: as for gba_device_path_check. attr: may be NULL.
 * Returns GBA_OK; GBA_ERR_PARAM (path); GBA_ERR_NO_DEVICE (no such file, or "none");
 * GBA_ERR_PERM; GBA_ERR_NOT_GBA; GBA_ERR_VERSION; GBA_ERR_NOMEM; GBA_ERR_BUSY (a simulator of that
 * name runs with other options); GBA_ERR_IO. All but "there is no such file" are logged here.
 * Thread-safe. Not collective.
 */
GBA_EXPORT gba_status_t gba_device_init(const char *path, const gba_device_attr_t *attr,
                                        gba_device_t **device);

/* Close it. All groups must have been freed. Not thread-safe on one device. NULL is allowed. */
GBA_EXPORT void gba_device_fini(gba_device_t *device);

/*
 * The device of the process for that path: opened by the first caller, closed by the last
 * gba_global_device_put. Two plugins in one process share a device in this way.
 * Returns as gba_device_init. Thread-safe. Not collective.
 */
GBA_EXPORT gba_status_t gba_global_device_get(const char *path, const gba_device_attr_t *attr,
                                              gba_device_t **device);
GBA_EXPORT void gba_global_device_put(gba_device_t *device);

/* Its identity, free groups and counters. Returns GBA_OK or GBA_ERR_IO. Thread-safe. */
GBA_EXPORT gba_status_t gba_device_query(gba_device_t *device, gba_device_info_t *info);

/*
 * Read or write a register, for diagnosis and conformance tests; needs the right to do so.
 * address: in the BAR, see gba_regs.h. width: 4 or 8 bytes. What the device refuses it counts; a
 * refused read gives ones, as in hardware.
 * Returns GBA_OK; GBA_ERR_PERM; GBA_ERR_PARAM (outside the BAR, or a width that the bus cannot do);
 * GBA_ERR_UNSUPPORTED. Thread-safe. A write is not ordered with anything else.
 */
GBA_EXPORT gba_status_t gba_reg_read(gba_device_t *device, uint32_t address, unsigned width,
                                     uint64_t *value);
GBA_EXPORT gba_status_t gba_reg_write(gba_device_t *device, uint32_t address, unsigned width,
                                      uint64_t value);

/* ---------------------------------------------------------------------------------- groups --- */

/* This process as one member of a barrier group. */
typedef struct gba_group gba_group_t;

/* What a process must show to join a group; the allocator sends it to the others. */
typedef struct gba_ticket {
    uint32_t group;
    uint32_t generation;
    uint64_t key;
    uint32_t members;
    uint32_t reserved;
    uint8_t uuid[GBA_UUID_SIZE]; /* of the device */
} gba_ticket_t;

/*
 * Take a free group.
 * members: 1 to 708.
 * Returns GBA_OK; GBA_ERR_TOO_MANY; GBA_ERR_PARAM (0 members); GBA_ERR_NO_GROUP; GBA_ERR_DEAD;
 * GBA_ERR_IO. The group lives until its last member left it, or until it is taken back; one that
 * nobody joins is given back by gba_free_ticket, or when this process ends.
 * The same as gba_request_group for that many members with no limit and no heat.
 * Thread-safe. Not collective: the leader calls it.
 */
GBA_EXPORT gba_status_t gba_allocate_group(gba_device_t *device, uint32_t members,
                                           gba_ticket_t *ticket);

/* Who asks for a group. */
typedef struct gba_group_request {
    uint32_t members;    /* 1 to 708 */
    uint32_t groups_max; /* that the job may hold at one time, this one included; 0: no limit */
    uint32_t heat;       /* barriers a second of who asks; 0: take nothing back for it */
} gba_group_request_t;

/*
 * Take a free group; if there is none, or if the job has groups_max already, one may be taken back
 * for it from a team that uses it much less [DRV-12]. The job is that of
 * gba_device_attr_t; without one, this process.
 * Returns as gba_allocate_group, and GBA_ERR_LIMIT: the job has groups_max groups.
 * Thread-safe. Not collective: the leader calls it.
 */
GBA_EXPORT gba_status_t gba_request_group(gba_device_t *device, const gba_group_request_t *request,
                                          gba_ticket_t *ticket);

/* Give back a group that was allocated here and that nobody has joined. Thread-safe. */
GBA_EXPORT void gba_free_ticket(gba_device_t *device, const gba_ticket_t *ticket);

/*
 * Join a group.
 * member: 0 to ticket->members - 1; each has one process.
 * Returns GBA_OK; GBA_ERR_OTHER_DEVICE (the ticket is of another device); GBA_ERR_STALE;
 * GBA_ERR_BUSY (the seat is taken); GBA_ERR_REFUSED; GBA_ERR_PARAM; GBA_ERR_NOMEM; GBA_ERR_DEAD;
 * GBA_ERR_UNSUPPORTED (a 32-bit process, and not a simulator); GBA_ERR_IO. Thread-safe. Not
 * collective.
 */
GBA_EXPORT gba_status_t gba_join_group(gba_device_t *device, const gba_ticket_t *ticket,
                                       uint32_t member, gba_group_t **group);

/*
 * Give the member its release flag: a word of host memory that the device can write.
 * Returns GBA_OK; GBA_ERR_BUSY (armed, or it has one); GBA_ERR_NOMEM; GBA_ERR_STALE; GBA_ERR_DEAD;
 * GBA_ERR_IO. Thread-safe on different groups.
 */
GBA_EXPORT gba_status_t gba_dma_map(gba_group_t *group);

/*
 * Arm the group, once all members have joined and mapped.
 * sequence: the first round is sequence + 1.
 * Returns GBA_OK; GBA_ERR_BUSY (a member is missing, or it is armed already); GBA_ERR_STALE;
 * GBA_ERR_DEAD; GBA_ERR_IO. Thread-safe. One member calls it.
 */
GBA_EXPORT gba_status_t gba_configure_group(gba_group_t *group, uint32_t sequence);

/*
 * Leave the group: the flag is withdrawn from the device before it is unmapped. The last member to
 * leave frees the group. Thread-safe on different groups. Not collective. NULL is allowed.
 */
GBA_EXPORT void gba_free_group(gba_group_t *group);

/* What the registers of a group say, for a watchdog. */
typedef struct gba_group_state {
    uint32_t sequence;      /* the last round that completed */
    uint32_t arrived_count; /* of the next round */
    uint32_t status;        /* GBA_STATUS_* */
    uint32_t last_error;    /* GBA_ERROR_* */
    uint32_t members;
    uint64_t arrived_mask[12];
} gba_group_state_t;

/* Returns GBA_OK; GBA_ERR_DEAD; GBA_ERR_STALE; GBA_ERR_RECLAIMED: the group was taken back, and its
 * rounds no longer end; GBA_ERR_IO. Thread-safe. Costs a system call. */
GBA_EXPORT gba_status_t gba_group_inspect(gba_group_t *group, gba_group_state_t *state);

/* What a member needs in order to arrive and to wait; in one cache line, set by ..._init. */
typedef struct gba_local_state gba_local_state_t;

/*
 * Make the state of a member that has its flag; before the group is armed, since the flag gets its
 * first value here.
 * sequence: what the group will be armed with.
 * Returns GBA_OK, GBA_ERR_NOMEM, or GBA_ERR_BUSY (no flag is mapped). Thread-safe.
 */
GBA_EXPORT gba_status_t gba_local_state_init(gba_group_t *group, uint32_t sequence,
                                             gba_local_state_t **state);
GBA_EXPORT void gba_local_state_fini(gba_local_state_t *state);

/*
 * Arrive at the next round. The round before must have been seen to end by gba_poll_release.
 * One thread at a time. Release: all that this thread wrote before is visible to a member that
 * leaves this round.
 */
GBA_EXPORT void gba_send_arrival(gba_local_state_t *state);

/*
 * Whether the round has ended: GBA_OK, else GBA_INPROGRESS. One thread at a time.
 * Acquire on GBA_OK: all that the members wrote before they arrived is visible.
 */
GBA_EXPORT gba_status_t gba_poll_release(gba_local_state_t *state);

/* Send the arrival of the current round again; harmless by rules ARR-4 and ARR-5. */
GBA_EXPORT void gba_resend_arrival(gba_local_state_t *state);

/* ----------------------------------------------------------------------------------- teams --- */

/*
 * How the members of a team exchange what they need to agree: collective calls over something that
 * works already. Each returns GBA_OK or GBA_ERR_OOB. They may block.
 */
typedef struct gba_oob {
    void *ctx;
    uint32_t rank, size;
    gba_status_t (*bcast)(void *ctx, void *buffer, size_t bytes, uint32_t root);
    gba_status_t (*allreduce_min)(void *ctx, int64_t mine, int64_t *least);
    /* in: bytes of this member; out: size * bytes, by rank */
    gba_status_t (*allgather)(void *ctx, const void *in, void *out, size_t bytes);
    gba_status_t (*barrier)(void *ctx);
    /* A member for people, "rank 3 on hostb"; may be called by one member alone. Not NULL. */
    void (*name_member)(void *ctx, uint32_t rank, char *text, size_t len);
} gba_oob_t;

/* What the barriers of a team go through, best first. */
typedef enum gba_path {
    GBA_PATH_DEVICE = 0, /* a barrier group of a switch */
    GBA_PATH_SIM = 1,    /* a barrier group of a simulated device */
    GBA_PATH_SOFT = 2,   /* one of our own software barriers */
    GBA_PATH_CALLER = 3  /* none of ours: the caller does as it did before */
} gba_path_t;

/* "device", "sim", "software", "fallback". Never NULL. Thread-safe. */
GBA_EXPORT const char *gba_path_name(gba_path_t path);

typedef struct gba_team gba_team_t;

/* Who is to exchange signals through the runtime's messages. */
typedef struct gba_remote_group {
    const uint32_t *ranks; /* [size] of the team, by number in this group; NULL: all, in order */
    uint32_t size, rank;   /* members of this group; this one's number among them */
    uint32_t radix;        /* the schedule of the signals, see gba/soft/sched.h */
    uint32_t sequence;     /* the first round is sequence + 1 */
    uint32_t channel;      /* 0 or 1: a team can have both at a time, and they are kept apart */
} gba_remote_group_t;

struct gba_signals; /* gba/signal/signal_ops.h, for runtimes in this tree */

/* What carries signals between hosts: the runtime's messages, or memory of others. */
typedef struct gba_remote {
    void *ctx;        /* only used during the call that it is given to */
    const char *name; /* for people; NULL: "messages" */
    bool pulls;       /* a member can read what another one has stored */
    /* GBA_OK, GBA_ERR_NOMEM or GBA_ERR_IO. Not collective: sends nothing. */
    gba_status_t (*open)(void *ctx, const gba_remote_group_t *group, struct gba_signals **signals);
} gba_remote_t;

typedef struct gba_team_attr {
    const char *name;           /* for people: the communicator's name; copied */
    const gba_params_t *params; /* only read during the call */
    gba_device_t *device;       /* NULL: this member has none */
    gba_status_t device_status; /* if there is none: why */
    const gba_remote_t *remote; /* NULL: no software barriers beyond one host */
    /* A member for people, as in gba_oob_t, for as long as the team lives; may be NULL. */
    void (*name_member)(void *ctx, uint32_t rank, char *text, size_t len);
    void *name_ctx;
    bool crowded; /* the job has more processes on this host than it has cores */
    /* Most barriers may be started without blocking: when the device is lost, those before the next
     * blocking one go over `remote`, which all members must have for that. The same on all. */
    bool nonblocking;
    /* Rank 0's counts: unlike that of any other team that a process of the job was ever in, and
     * another one in each call. 0: the runtime carries no notices (see gba_notice_t); then one
     * device must serve all members. */
    uint64_t id;
} gba_team_attr_t;

/*
 * Make a team: all members agree which path their barriers take. Nobody decides alone: what one
 * member cannot do, none does, and all know the reason.
 * Returns GBA_OK (the path may be GBA_PATH_CALLER), GBA_ERR_NOMEM or GBA_ERR_OOB.
 * Collective over oob. Thread-safe on different teams.
 */
GBA_EXPORT gba_status_t gba_team_create(const gba_team_attr_t *attr, const gba_oob_t *oob,
                                        gba_team_t **team);

/*
 * Leave the team. Not collective, sends nothing, does not block. No barrier may be under way.
 * NULL is allowed.
 */
GBA_EXPORT void gba_team_destroy(gba_team_t *team);

/* The path that the team takes now, the same on all members. */
GBA_EXPORT gba_path_t gba_team_path(const gba_team_t *team);

/* The status that led to this path: GBA_OK for a barrier group, else why there is none (the reason
 * of a software barrier, too). */
GBA_EXPORT gba_status_t gba_team_reason(const gba_team_t *team);

/*
 * Why it is that path: one line, such as "sim: group 3 of 32, 4 members", "sim: group 3 of 32 among
 * the leaders of 4 hosts, 9 members", "device: groups among the leaders of 900 hosts, v1 among the
 * 3 islands, 7200 members" or "fallback: no barrier group is free (rank 0 on hosta)". Never NULL;
 * lives as long as the team.
 */
GBA_EXPORT const char *gba_team_why(const gba_team_t *team);

typedef struct gba_team_stats {
    uint64_t rounds;          /* barriers completed by this member on our own paths */
    uint64_t retries_arrival; /* arrivals that were lost and sent again */
    uint64_t retries_release; /* releases that were lost and asked for again */
    uint64_t failovers;       /* the device died and the team went on in another way */
    uint64_t reclaims;        /* so it did when its group was taken back for another team */
    uint64_t meetings;        /* at which it asked for a group again */
} gba_team_stats_t;

GBA_EXPORT void gba_team_stats(const gba_team_t *team, gba_team_stats_t *stats);

/*
 * A barrier in steps, for a team whose path is not GBA_PATH_CALLER. One barrier at a time and one
 * thread at a time on a team; different teams are independent.
 *
 * start: arrive. Never blocks. Release, as gba_send_arrival.
 * test: GBA_OK when all have arrived, and again until the next start; else GBA_INPROGRESS. Never
 *       blocks, makes no system call.
 *       Acquire on GBA_OK, as gba_poll_release.
 * progress: what is too slow for test: call it every few microseconds or more seldom while test
 * says GBA_INPROGRESS. It looks at the clock, and after `retry_after` milliseconds at the registers
 *       of the device, and mends a lost arrival or release. Returns GBA_INPROGRESS, GBA_OK as test,
 *       GBA_ERR_DEAD: the device has died, or has taken the group back. A team with an id goes on
 * by notices (gba_notice_t), until test says GBA_OK; for one without it call gba_team_recover. Or
 * GBA_ERR_IO: the runtime lost a connection that a software barrier needs.
 */
GBA_EXPORT gba_status_t gba_barrier_start(gba_team_t *team);
GBA_EXPORT gba_status_t gba_barrier_test(gba_team_t *team);
GBA_EXPORT gba_status_t gba_barrier_progress(gba_team_t *team);

/*
 * Scarce groups. A team that got no group because none was free, because the job has as many as
 * `max_groups` allows, because of `offload_after`, or because it was taken back, asks again now and
 * then. That is done by all members together, at the end of a blocking barrier: gba_barrier_wait
 * says GBA_MEET; a runtime that makes its barriers in steps asks gba_team_meet_due when one that
 * may block is over. Until they meet the team goes on as it is, however many barriers it does.
 *
 * revisit: may change the path, from GBA_PATH_SOFT or GBA_PATH_CALLER to that of a device.
 * attr: as for gba_team_create. Returns GBA_OK; GBA_ERR_OOB: then members may differ in the path,
 * so the team cannot be used any more. Collective over oob.
 */
GBA_EXPORT gba_status_t gba_team_revisit(gba_team_t *team, const gba_team_attr_t *attr,
                                         const gba_oob_t *oob);

/* Whether that is due, the same on all members at the end of a barrier that may block. NULL is
 * allowed. By the thread that has the team's barrier. */
GBA_EXPORT bool gba_team_meet_due(const gba_team_t *team);

/*
 * A barrier of the members went past the team, as all do on GBA_PATH_CALLER: it counts as well. All
 * members tell all of them; of a nonblocking one when it starts. NULL is allowed.
 * Returns GBA_OK, or GBA_MEET: call gba_team_revisit, if it was a blocking one.
 */
GBA_EXPORT gba_status_t gba_team_count(gba_team_t *team);

/*
 * What members of a team whose device has died, or has taken the group back, tell each other, since
 * no collective call can end the round: others may have completed it, and wait for something else.
 * The argument is in recover.c. Plain bytes between processes of one build; the runtime carries
 * them, in any order.
 *
 * A runtime that gives its teams an id (gba_team_attr_t)
 * - sends gba_team_notice to all other members, once in each round in which gba_barrier_wait or
 *   gba_barrier_progress says GBA_ERR_DEAD, and then goes on with gba_barrier_test;
 * - takes in notices, in every process that is or was in such a team and whatever it is doing:
 *   gba_notice_take; if `over` is 0, gba_notice_answer now and then until it is GBA_OK, and sends
 *   that back to whom the notice came from;
 * - asks gba_team_recover_due at the end of each barrier that may block.
 */
typedef struct gba_notice {
    uint64_t team;   /* its id */
    uint64_t round;  /* counted from 1 */
    uint64_t since;  /* the first round that somebody began without the device; UINT64_MAX: none */
    uint32_t member; /* that has arrived at the round */
    uint32_t over;   /* 1: an answer: the round is over */
} gba_notice_t;

/*
 * What this member has to tell the others in the round under way.
 * Returns GBA_OK, or GBA_ERR_BUSY: nothing; no round is under way, the device has not died, or the
 * round goes over messages (gba_team_attr_t.nonblocking).
 * Not collective. By the thread that has the team's barrier.
 */
GBA_EXPORT gba_status_t gba_team_notice(const gba_team_t *team, gba_notice_t *notice);

/*
 * Note what another member tells. Returns GBA_OK; GBA_ERR_STALE: this process has no such team any
 * more; GBA_ERR_PARAM: no notice of that team. Thread-safe. Never blocks.
 * Release: pairs with gba_barrier_test of the thread that has the team's barrier.
 */
GBA_EXPORT gba_status_t gba_notice_take(const gba_notice_t *notice);

/*
 * The answer to another member's notice. Returns GBA_OK, or GBA_INPROGRESS: the round is not over
 * here either. Thread-safe. Never blocks.
 */
GBA_EXPORT gba_status_t gba_notice_answer(const gba_notice_t *notice, gba_notice_t *answer);

/*
 * Whether the barrier that has just ended is the one at whose end all members call
 * gba_team_recover: the same on all of them. Until that is done the team goes on by notices, or
 * over messages (gba_team_attr_t.nonblocking). By the thread that has the team's barrier.
 */
GBA_EXPORT bool gba_team_recover_due(const gba_team_t *team);

/*
 * The device died, or has taken the group back: agree with all members how the round ends, and on
 * the path from then on. To be called when gba_team_recover_due says so, between two rounds, and
 * then done is false; or by a runtime without notices as soon as a barrier says GBA_ERR_DEAD. On
 * return the team's path is GBA_PATH_SOFT or GBA_PATH_CALLER, the same on all members: for good if
 * the device died, else until gba_team_revisit. attr: as for gba_team_create; the device in it is
 * not used. done: true: all members had arrived, and the barrier is complete; false: run this round
 * again on the new path. All members must come. One that was released from the last round, when the
 * device died before it released the others, comes at its next barrier of this team; if it has
 * none, or first makes another collective call over what oob goes over, the others wait here, or
 * meet that call. The same holds for a device that is dead for one host only: the members of other
 * hosts, which still wait for an arrival, do not learn of it. Returns GBA_OK, GBA_ERR_NOMEM or
 * GBA_ERR_OOB. Collective over oob.
 */
GBA_EXPORT gba_status_t gba_team_recover(gba_team_t *team, const gba_team_attr_t *attr,
                                         const gba_oob_t *oob, bool *done);

/*
 * Whole barrier: start, then wait. progress is called now and then with its argument, so that the
 * runtime's other work goes on; it may be NULL.
 * Returns GBA_OK, GBA_MEET (then call gba_team_revisit; on GBA_PATH_SOFT only), GBA_ERR_DEAD (then
 * call gba_team_recover) or GBA_ERR_IO. Collective. Release on entry, acquire on return.
 */
GBA_EXPORT gba_status_t gba_barrier_wait(gba_team_t *team, void (*progress)(void *), void *arg);

#ifdef __cplusplus
}
#endif

#endif
