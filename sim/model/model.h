/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device as a pure function: from its state and one access to the new state and the effects.
 *
 * No clock, no lock, no allocation, no I/O: the simulator, the fuzzer and the tests all run this
 * code. The rules in the comments are those of gba/spec/device.md.
 */
#ifndef GBA_SIM_MODEL_H
#define GBA_SIM_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "gba/spec/gba_regs.h"
#ifdef __cplusplus
typedef uint64_t gba_word_t; /* C++ has no _Atomic; a bench in C++ uses a model in one thread */
#else
#include "gba/base/order.h"
#endif

/* Words of a set of ports. */
#define GBA_MODEL_PORT_WORDS ((GBA_PORTS_MAX + 63u) / 64u)

/* The part of a group that one access can change, without the release table. */
struct gba_model_core {
    uint32_t member_count;
    uint32_t control; /* without RESET, which is not stored */
    uint32_t status;  /* COMPLETE and ERROR; READY and ACTIVE follow from other fields */
    uint32_t sequence;
    uint32_t arrived_count;
    uint32_t last_error;
    uint64_t member_mask[GBA_MASK_WORDS];
    uint64_t arrived_mask[GBA_MASK_WORDS];
    uint64_t counters[GBA_COUNTERS];
};

/* The state of a group in the control unit. */
enum gba_model_life { GBA_LIFE_FREE, GBA_LIFE_ALLOCATED, GBA_LIFE_ARMED };

/* What the control unit keeps about a group. The structures of the state have no padding, so that
 * two states can be compared as memory. */
struct gba_model_record {
    uint32_t life; /* GBA_LIFE_* */
    uint32_t generation;
    uint64_t key;
    uint32_t members;
    uint32_t present;  /* memberships JOINED */
    uint32_t joined;   /* 1 after the first JOIN: the members hold the group */
    uint32_t holder;   /* 1 + the port that allocated the group; 0: none */
    uint32_t notified; /* ports in `notify` */
    uint32_t reserved;
    uint64_t notify[GBA_MODEL_PORT_WORDS]; /* ports that get ROUND when this round is complete */
    uint8_t membership[GBA_MEMBERS_MAX];   /* EMPTY, JOINED, LEFT; MAPPED follows from the table */
    uint8_t events[GBA_PORTS_MAX];         /* GBA_IRQ_*, by port */
};

struct gba_model_group {
    struct gba_model_core core;
    uint64_t table[GBA_MEMBERS_MAX]; /* release addresses; 0 = none */
    uint16_t bound[GBA_MEMBERS_MAX]; /* 1 + the port of the member; 0 = none */
    struct gba_model_record record;
};

/* The bank of a port. */
struct gba_model_port {
    uint32_t up; /* 1: the link is up */
    uint32_t quota;
    uint32_t irq_mask;
    uint32_t group, generation, member, value, command, result; /* the mailbox */
    uint32_t reserved;
    uint64_t key;
};

struct gba_model {
    uint32_t groups; /* number of groups, 1 to GBA_GROUPS */
    uint32_t ports;  /* number of ports, 1 to GBA_PORTS_MAX */
    uint32_t version;
    uint32_t reserved;
    uint64_t uuid[2];
    gba_word_t bad_access; /* atomic: also counted under the locks of groups */
    struct gba_model_group group[GBA_GROUPS];
    struct gba_model_port port[GBA_PORTS_MAX];
};

/* One access on the bus. Widths other than 4 and 8 exist, too; the device counts them as errors. */
struct gba_model_access {
    bool write;
    uint8_t width; /* bytes: 1, 2, 4, 8 */
    uint16_t port; /* through which the access comes */
    uint32_t address;
    uint64_t value;  /* of a write */
    uint64_t random; /* fresh for each access, and secret: the key of an ALLOC */
};

/* A store of the device to the memory of a member. */
struct gba_model_release {
    uint64_t address;
    uint32_t member;
    uint32_t sequence;
    uint32_t port; /* through which the store leaves */
};

struct gba_model_effects {
    uint64_t value;    /* of a read; all ones of its width if refused */
    uint32_t error;    /* the error of this access, GBA_ERROR_* */
    bool interrupt;    /* the device interrupts the ports below */
    bool completed;    /* this access completed a round */
    uint32_t releases; /* entries of release[]; the caller stores them in this order */
    uint64_t interrupts[GBA_MODEL_PORT_WORDS]; /* a bit a port; the interrupts follow the stores */
    struct gba_model_release release[GBA_MEMBERS_MAX];
};

/*
 * Set the state at power-on; all ports are down. groups: 1 to GBA_GROUPS. ports: 1 to
 * GBA_PORTS_MAX. uuid: the value of GBA_DEV_UUID.
 */
void gba_model_init(struct gba_model *model, uint32_t groups, uint32_t ports,
                    const uint64_t uuid[2]);

/* The link of a port comes up. port: below `ports`, and down. quota: groups that it may hold; 0: no
 * limit. [PORT-3, CMD-2] */
void gba_model_port_up(struct gba_model *model, uint32_t port, uint32_t quota);

/* The link of a port goes down, or its host dies. effects: interrupts at other ports; there are no
 * release stores. It touches all groups. No effect on a port that is down. [PORT-3, PORT-4] */
void gba_model_port_down(struct gba_model *model, uint32_t port, struct gba_model_effects *effects);

/* The identity of the device as a driver gives it to processes: the bytes of GBA_DEV_UUID, little
 * endian, so that hosts of any byte order can compare them. */
void gba_model_uuid(const struct gba_model *model, uint8_t bytes[16]);

/* The group of an address (register page, table or doorbell); -1: none. */
int gba_model_group_of(const struct gba_model *model, uint32_t address);

/*
 * Make one access. It touches only the group of that address, or, without a group, only
 * model->bad_access. Accesses to different groups may therefore run at the same time, with two
 * exceptions: the port page belongs to no group, but a command touches its group, and ALLOC reads
 * all groups; and what a port does to a group that does not concern it counts in
 * model->bad_access, by an atomic addition.
 * effects: all fields are set, except release[] beyond `releases`.
 */
void gba_model_access(struct gba_model *model, const struct gba_model_access *access,
                      struct gba_model_effects *effects);

/* Make the access "64-bit store of value to the doorbell of group number id" through that port,
 * without address decoding. The group exists, and the port is up. effects: as for gba_model_access.
 */
void gba_model_arrive(struct gba_model *model, uint32_t id, uint32_t port, uint64_t value,
                      struct gba_model_effects *effects);

#endif
