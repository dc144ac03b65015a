/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internal state of the core of gba-switchd, and the functions that switch.c calls. link.c carries
 * accesses to the device, and stores and interrupts to the sessions, with the latency. account.c
 * checks the quotas of users and jobs, and records why memberships ended. For the thread of
 * switch.h.
 */
#ifndef GBA_SIM_SWITCH_CORE_STATE_H
#define GBA_SIM_SWITCH_CORE_STATE_H

#include "sim/switch/core/fifo.h"
#include "sim/switch/core/switch.h"

struct gba_switch_port {
    bool attached;
    struct gba_switch_session_ops ops;
    void *session;
    struct gba_switch_identity identity;
    struct gba_switch_fifo up, down; /* to the device, to the session */
};

struct gba_switch {
    struct gba_switch_config config;
    bool delayed;        /* some latency is not 0 */
    uint64_t random;     /* state of the random numbers of jitter and loss */
    uint64_t armed;      /* time of the wake-up that was requested; UINT64_MAX: none */
    uint32_t ports_used; /* 1 + the highest port that was ever attached */
    struct gba_model model;
    struct gba_model_effects effects; /* of the last access */
    struct gba_switch_port port[GBA_PORTS_MAX];
    struct gba_switch_former former[GBA_GROUPS][GBA_MEMBERS_MAX];
    /* The allocator of each group that is not free. The device clears the port when its link goes
     * down, but the group counts for its user and job until it is free. */
    struct gba_switch_identity owner[GBA_GROUPS];
    /* The host of each port whose link to it was lost; "": none. */
    char lost[GBA_PORTS_MAX][sizeof(((struct gba_switch_identity *)NULL)->host)];
    /* Time of the first arrival in the current round, or of the allocation if there was none. */
    uint64_t waiting_since[GBA_GROUPS];
};

/* --- link.c --- */

/* Make one access now, and send the resulting releases and interrupts. Returns the value of a read.
 */
uint64_t gba_switch_make(struct gba_switch *device, const struct gba_model_access *access);

/* Send the releases and interrupts of device->effects, with the latency. group: of the access; any
 * if there are no releases. */
void gba_switch_emit(struct gba_switch *device, uint32_t group);

/* Make all delayed writes of a port now, because a later access of the port never overtakes
 * them. */
void gba_switch_push_up(struct gba_switch *device, uint32_t port);

/* Deliver all delayed items to the session of a port now, because an answer never overtakes
 * them. */
void gba_switch_push_down(struct gba_switch *device, uint32_t port);

/* --- account.c --- */

/* Whether the user of the port, or its job, holds as many groups as its quota allows. The model
 * checks the quota of the port itself. */
bool gba_switch_at_limit(const struct gba_switch *device, uint32_t port);

/* Whether this user, or its job, uses as many ports as it may. */
bool gba_switch_at_port_limit(const struct gba_switch *device,
                              const struct gba_switch_identity *identity);

/* Record which memberships the command in the mailbox of that port will end. If the command fails,
 * it ends none; the records of memberships that have not ended are not read. */
void gba_switch_note_command(struct gba_switch *device, uint32_t port, uint32_t command);

/* Record that all memberships of the port end because its link goes down. */
void gba_switch_note_down(struct gba_switch *device, uint32_t port);

/* Record that the port has allocated a group, and clear the records of its earlier members. */
void gba_switch_note_alloc(struct gba_switch *device, uint32_t port, uint32_t group);

#endif
