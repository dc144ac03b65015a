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

/* The part of a group that one access can change, without the release table. It is small, so that a
 * caller can copy it in order to undo an access. */
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

struct gba_model_group {
    struct gba_model_core core;
    uint64_t table[GBA_MEMBERS_MAX]; /* release addresses; 0 = none */
};

struct gba_model {
    uint32_t groups; /* number of groups, 1 to GBA_GROUPS */
    uint32_t version;
    uint64_t uuid[2];
    uint64_t bad_access;
    struct gba_model_group group[GBA_GROUPS];
};

/* One access on the bus. Widths other than 4 and 8 exist, too; the device counts them as errors. */
struct gba_model_access {
    bool write;
    uint8_t width; /* bytes: 1, 2, 4, 8 */
    uint32_t address;
    uint64_t value; /* of a write */
};

/* A store of the device to the memory of a member. */
struct gba_model_release {
    uint64_t address;
    uint32_t member;
    uint32_t sequence;
};

struct gba_model_effects {
    uint64_t value;    /* of a read; all ones of its width if refused */
    uint32_t error;    /* the error of this access, GBA_ERROR_* */
    bool interrupt;    /* the device interrupts its driver */
    bool completed;    /* this access completed a round */
    uint32_t releases; /* entries of release[]; the caller stores them in this order */
    struct gba_model_release release[GBA_MEMBERS_MAX];
};

/* Set the state at power-on. groups: 1 to GBA_GROUPS. uuid: the value of GBA_DEV_UUID. */
void gba_model_init(struct gba_model *model, uint32_t groups, const uint64_t uuid[2]);

/* The identity of the device as a driver gives it to processes: the bytes of GBA_DEV_UUID, little
 * endian, so that hosts of any byte order can compare them. */
void gba_model_uuid(const struct gba_model *model, uint8_t bytes[16]);

/* The group of an address (register page, table or doorbell); -1: none. */
int gba_model_group_of(const struct gba_model *model, uint32_t address);

/*
 * Make one access. It touches only the group of that address, or, without a group, only
 * model->bad_access. Accesses to different groups may therefore run at the same time.
 * effects: all fields are set, except release[] beyond `releases`.
 */
void gba_model_access(struct gba_model *model, const struct gba_model_access *access,
                      struct gba_model_effects *effects);

/* Make the access "64-bit store of value to the doorbell of that group", without address decoding.
 * effects: as for gba_model_access. */
void gba_model_arrive(struct gba_model_group *group, uint64_t value,
                      struct gba_model_effects *effects);

/*
 * Write a register of one group as the driver does, in the register's width, without address
 * decoding. offset: of a writable register in the group's page, not ARRIVAL. Returns the error that
 * the device counted, or GBA_ERROR_NONE.
 */
uint32_t gba_model_write(struct gba_model_group *group, uint32_t offset, uint64_t value);

/* Write entry `member` of the release table as the driver does; address 0 withdraws the member.
 * Returns as gba_model_write. */
uint32_t gba_model_write_table(struct gba_model_group *group, uint32_t member, uint64_t address);

#endif
