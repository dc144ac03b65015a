/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of the two halves of the shadow: the data path, and the control unit with its
 * ports. */
#ifndef GBA_TESTS_FUZZ_SHADOW_STATE_H
#define GBA_TESTS_FUZZ_SHADOW_STATE_H

#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/shadow.h"

enum shadow_life { SHADOW_FREE, SHADOW_ALLOCATED, SHADOW_ARMED, SHADOW_TAKEN };

struct shadow {
    bool member[GBA_MASK_WORDS * 64];
    bool arrived[GBA_MASK_WORDS * 64]; /* arrived at the round sequence + 1 */
    uint64_t address[GBA_MEMBERS_MAX]; /* 0: none, or withdrawn */
    uint32_t count, control, sequence, last_error;
    bool complete, error;
    uint64_t counters[GBA_COUNTERS];
    uint64_t in_rounds; /* arrivals at completed rounds */
    uint64_t abandoned; /* arrivals at rounds that never completed */
    /* The record of the control unit. */
    enum shadow_life life;
    uint32_t generation, size, holder; /* holder: 1 + port, 0: none */
    uint64_t key;
    bool anyone;                     /* a member has joined since ALLOC */
    uint32_t owner[GBA_MEMBERS_MAX]; /* 1 + port of a member that has joined and not left */
    bool left[GBA_MEMBERS_MAX];
    bool asks[SHADOW_PORTS]; /* has requested ROUND */
    uint32_t events[SHADOW_PORTS];
};

struct shadow_bank {
    bool up;
    uint32_t quota, mask, group, generation, member, value, command, result;
    uint64_t key;
};

extern struct shadow shadows[GBA_GROUPS];
extern struct shadow_bank shadow_banks[SHADOW_PORTS];
extern uint32_t shadow_groups, shadow_ports;

#define CHECK(cond, rule)                                                \
    do {                                                                 \
        if (!(cond)) {                                                   \
            fprintf(stderr, "shadow: %s violated: %s\n", (rule), #cond); \
            abort();                                                     \
        }                                                                \
    } while (0)

/* --- shadow.c --- */
void shadow_abandon(struct shadow *s);
void shadow_reset(struct shadow *s);
bool shadow_whole(const struct shadow *s);

/* --- shadow_control.c --- */
/* Clear the interrupts and the command of the last step. */
void shadow_begin(void);
/* An event that is due, or on a device without ports the interrupt. */
void shadow_event(struct shadow *s, uint32_t port, uint32_t events);
bool shadow_concerns(const struct shadow *s, uint32_t port);
/* An access to the port page. Returns the error. */
uint32_t shadow_port_page(const struct gba_model_access *access, uint32_t offset, uint64_t *value);
/* The group that the last command or acknowledgement touched, or NULL. */
struct shadow *shadow_commanded(void);
void shadow_port_changes(uint32_t port, bool up, uint32_t quota);
void shadow_check_record(const struct shadow *s, const struct gba_model_group *group);
void shadow_check_ports(const struct gba_model_effects *effects, const struct gba_model *after);

#endif
