/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The core of gba-switchd: one device (sim/model) with its ports, and the sessions that use them. A
 * session is a connection of a client (session.c) or a vfio-user device. It attaches to a free
 * port, makes accesses, and detaches, which takes the link down.
 *
 * No thread, no I/O, no own clock: the caller supplies the time and a timer. All functions are for
 * one thread, that of the event loop.
 *
 * The functions below call the operations of sessions. An operation may queue data, and mark the
 * session as ended. It must not call a function of this file, and must not free the session. No
 * operation of a detached session is called.
 */
#ifndef GBA_SIM_SWITCH_CORE_SWITCH_H
#define GBA_SIM_SWITCH_CORE_SWITCH_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/model/model.h"

/* The operations of a session, for the releases and interrupts of its port. */
struct gba_switch_session_ops {
    /* Make a release store: `sequence` to the flag at that address of the release table. group: of
     * the round. Releases of one port come in the order in which the device makes them. */
    void (*release)(void *session, uint64_t address, uint32_t group, uint32_t member,
                    uint32_t sequence);
    /* The device interrupts the port. IRQ_CAUSE and EVENTS of the port page have the reason. The
     * call follows all releases that the device made before the interrupt. */
    void (*interrupt)(void *session);
};

/* The user of a port, for quotas, the log and gba_diag. */
struct gba_switch_identity {
    char host[64];      /* name or address of the host; "": this one */
    char kind[12];      /* "unix", "tcp", "vfio-user" */
    uint32_t user;      /* UINT32_MAX: not known */
    uint32_t process;   /* 0: not known */
    uint64_t job;       /* 0: none */
    char batch_job[29]; /* its name in a batch system, "slurm:12"; "": none */
    bool local;         /* user and process are those of this host's kernel */
};

/* Whether a user of this host may know user, process and job of another port or group: those of the
 * same user. [DRV-20] viewer: NULL: the administrator, who may know all. */
bool gba_switch_sees(const struct gba_switch_identity *viewer,
                     const struct gba_switch_identity *other);

/* Times in ns, from 0 to 1,000,000,000. All 0: no delay, and no timer. */
struct gba_switch_latency {
    uint32_t up;      /* from the client's host to the switch */
    uint32_t match;   /* from the last arrival to the first release store */
    uint32_t release; /* between two release stores of a round; 0: multicast, all at once */
    uint32_t down;    /* from the switch to the client's host */
    uint32_t jitter;  /* random, 0 to this, added to up and to down; order of a port is kept */
    uint32_t loss;    /* arrivals and release stores that are lost, of 1,000,000 */
    uint32_t seed;    /* of jitter and loss */
};

struct gba_switch_config {
    uint32_t groups;     /* 1 to GBA_GROUPS */
    uint32_t ports;      /* 1 to GBA_PORTS_MAX */
    uint32_t quota;      /* groups that a port may hold; 0: no limit */
    uint32_t user_quota; /* groups that the ports of one user may hold together; 0: no limit */
    uint32_t job_quota;  /* the same for the ports of one job of a user; not for job 0 */
    uint32_t user_ports; /* ports that one user may use at a time; 0: no limit */
    uint32_t job_ports;  /* the same for one job of a user; not for job 0 */
    uint64_t uuid[2];    /* GBA_DEV_UUID */
    struct gba_switch_latency latency;
    /* The time in ns, monotonic. */
    uint64_t (*now)(void *context);
    /* Call gba_switch_run at time `due`, or as soon as possible after. Replaces the earlier
     * request.
     */
    void (*wake)(void *context, uint64_t due);
    /* A secret random number. */
    uint64_t (*random)(void *context);
    void *context;
};

struct gba_switch;

/* Make the device. config is copied. Returns NULL: out of memory. */
struct gba_switch *gba_switch_create(const struct gba_switch_config *config);
/* Free it. All sessions have detached. NULL: no effect. */
void gba_switch_destroy(struct gba_switch *device);

/* Results of gba_switch_attach that are no port. */
enum { GBA_SWITCH_NO_PORT = -1, GBA_SWITCH_PORT_QUOTA = -2 };

/* Attach a session to a free port. Returns the port, GBA_SWITCH_NO_PORT: all ports are in use, or
 * GBA_SWITCH_PORT_QUOTA: its user, or its job, uses as many as it may. The link comes up [PORT-3].
 * ops and identity are copied. session: passed to ops. */
int gba_switch_attach(struct gba_switch *device, const struct gba_switch_session_ops *ops,
                      void *session, const struct gba_switch_identity *identity);

/* The link of that port goes down: its members are withdrawn, and other ports get events [PORT-4].
 * Delayed items of its link are lost. */
void gba_switch_detach(struct gba_switch *device, uint32_t number);

/* Record that the link of that attached port to its host is lost, until a port of the same host has
 * its name (gba_switch_set_host). */
void gba_switch_lose(struct gba_switch *device, uint32_t number);
/* The host to which the port has lost its link; "": none. */
const char *gba_switch_lost(const struct gba_switch *device, uint32_t number);

/* Take the link of the port down and up again: as gba_switch_detach, and then gba_switch_attach of
 * the same session to the same port. For the reset of a PCI function [PCI-4]. */
void gba_switch_reset(struct gba_switch *device, uint32_t number);

/*
 * Make one access through that port, as a bus does: width 1, 2, 4 or 8; any address. Returns the
 * value of a read; 0 for a write. Delayed arrivals and releases of the port come first, so that a
 * read pushes them [HOST-6]. A write to a doorbell is delayed by the configured latency.
 */
uint64_t gba_switch_read(struct gba_switch *device, uint32_t port, uint32_t address,
                         unsigned width);
void gba_switch_write(struct gba_switch *device, uint32_t port, uint32_t address, unsigned width,
                      uint64_t value);

/* Write 64 bits to register GBA_BELL_* of a group's doorbell page. The fast path of
 * gba_switch_write. A group that does not exist is an error of the access, which the device counts.
 */
void gba_switch_ring(struct gba_switch *device, uint32_t port, uint32_t group, uint32_t bell,
                     uint64_t value);

/* The mailbox of a port. */
struct gba_switch_mailbox {
    uint32_t group, generation, member, value;
    uint64_t key;
};

/* Write the mailbox and execute GBA_CMD_*, in one step. The mailbox is set to its new contents.
 * Returns GBA_RESULT_*. */
uint32_t gba_switch_command(struct gba_switch *device, uint32_t port, uint32_t command,
                            struct gba_switch_mailbox *mailbox);

/* Make the delayed stores and arrivals that are due. */
void gba_switch_run(struct gba_switch *device);

/* Set the host, or the name of the job, of a port's identity, which a client may send after it has
 * attached. Truncated. */
void gba_switch_set_host(struct gba_switch *device, uint32_t port, const char *host);
void gba_switch_set_batch_job(struct gba_switch *device, uint32_t port, const char *job);

/* The state of the device, to read only. */
const struct gba_model *gba_switch_model(const struct gba_switch *device);

/* The user of a port; NULL: no session is attached. Valid until it detaches. */
const struct gba_switch_identity *gba_switch_user(const struct gba_switch *device, uint32_t port);

/* The user that allocated a group, which may have ended. group: of the device, not free. */
const struct gba_switch_identity *gba_switch_owner(const struct gba_switch *device, uint32_t group);

/* Time in ns since the first arrival in the current round of an allocated group; since its
 * allocation if no member has arrived. */
uint64_t gba_switch_waiting(const struct gba_switch *device, uint32_t group);

/* Why a membership has ended. */
enum gba_switch_end {
    GBA_SWITCH_NOT_ENDED,
    GBA_SWITCH_LEFT,     /* LEAVE */
    GBA_SWITCH_DIED,     /* LEAVE with GBA_LEAVE_DIED */
    GBA_SWITCH_LINK_DOWN /* its port went down */
};

/* A membership that has ended. Kept until its group is allocated again. */
struct gba_switch_former {
    uint32_t end;                    /* gba_switch_end */
    uint32_t port;                   /* of the member */
    struct gba_switch_identity user; /* of that port at that time */
};

/* A membership of the newest allocation of a group. group, member: of the device. */
const struct gba_switch_former *gba_switch_former(const struct gba_switch *device, uint32_t group,
                                                  uint32_t member);

#endif
