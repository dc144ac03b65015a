/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device as a pure function from its state and one access to its new state and the effects.
 *
 * No clock, no lock, no allocation, no I/O: the simulator, the fuzzer and the tests all drive this
 * same code. The names of rules in the comments are those of gba/spec/device.md.
 */
#ifndef GBA_SIM_MODEL_H
#define GBA_SIM_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "gba/spec/gba_regs.h"

/* What one access can change in a group, but for the release table: small, so that whoever must be
 * able to take an access back can copy it. */
struct gba_model_core {
    uint32_t member_count;
    uint32_t control; /* without RESET, which is never stored */
    uint32_t status;  /* COMPLETE and ERROR; READY and ACTIVE follow from the rest */
    uint32_t sequence;
    uint32_t arrived_count;
    uint32_t last_error;
    uint64_t member_mask[GBA_MASK_WORDS];
    uint64_t arrived_mask[GBA_MASK_WORDS];
    uint64_t counters[GBA_COUNTERS];
};

struct gba_model_group {
    struct gba_model_core core;
    uint64_t table[GBA_MEMBERS_MAX]; /* release addresses; 0 = none */
};

struct gba_model {
    uint32_t groups; /* that exist, 1 to GBA_GROUPS */
    uint32_t version;
    uint64_t uuid[2];
    uint64_t bad_access;
    struct gba_model_group group[GBA_GROUPS];
};

/* One access of the bus. Widths other than 4 and 8 exist, too: the device counts them as errors. */
struct gba_model_access {
    bool write;
    uint8_t width; /* bytes: 1, 2, 4, 8 */
    uint32_t address;
    uint64_t value; /* of a write */
};

/* A store that the device makes in the memory of a member. */
struct gba_model_release {
    uint64_t address;
    uint32_t member;
    uint32_t sequence;
};

struct gba_model_effects {
    uint64_t value;    /* of a read; a refused one reads all ones of its width */
    uint32_t error;    /* GBA_ERROR_* that this access was, or GBA_ERROR_NONE */
    bool interrupt;    /* the device interrupts its driver */
    bool completed;    /* this access completed a round */
    uint32_t releases; /* entries of release[], to be stored in this order */
    struct gba_model_release release[GBA_MEMBERS_MAX];
};

/* The state at power-on. groups: 1 to GBA_GROUPS. */
void gba_model_init(struct gba_model *model, uint32_t groups, const uint64_t uuid[2]);

/* The group that an address belongs to (register page, table or doorbell), or -1: none. */
int gba_model_group_of(const struct gba_model *model, uint32_t address);

/*
 * One access. Touches only the group of that address, or, where there is none, only
 * model->bad_access: so that accesses to different groups may run at the same time.
 * effects: all fields are set but those release[] behind `releases`.
 */
void gba_model_access(struct gba_model *model, const struct gba_model_access *access,
                      struct gba_model_effects *effects);

/* The access "64-bit store of value to the doorbell of that group", without decoding an address. */
void gba_model_arrive(struct gba_model_group *group, uint64_t value,
                      struct gba_model_effects *effects);

/*
 * A write of the driver to a register of one group, in the register's width, without decoding an
 * address. offset: of a register that can be written, in the group's page; not ARRIVAL.
 * Returns the error that the device counted for it, or GBA_ERROR_NONE.
 */
uint32_t gba_model_write(struct gba_model_group *group, uint32_t offset, uint64_t value);

/* The same for entry `member` of the release table; address 0 withdraws the member. */
uint32_t gba_model_write_table(struct gba_model_group *group, uint32_t member, uint64_t address);

#endif
