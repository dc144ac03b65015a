/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The conformance suite: the guarantees of gba/dev/dev_ops.h, on a device that follows
 * gba/spec/device.md. The same tests run on every backend. This process drives all members of a
 * group.
 */
#ifndef GBA_TESTS_CONFORMANCE_H
#define GBA_TESTS_CONFORMANCE_H

#include "gba/dev/dev_ops.h"
#include "gba/spec/gba_regs.h"
#include "tests/suite.h"

/* A backend under test. */
struct conf_backend {
    const char *name;
    const char *path;
    const struct gba_dev_ops *ops;
    /* Called before and after each test; either may be NULL. start leaves the device as after
     * power-on, except its counters and generations. */
    void (*start)(void);
    void (*stop)(void);
    bool flag_at_join; /* a join gives the device the flag, and map_flag only maps it */
    /* Run the steps that hardware does by itself; NULL: the backend needs no call. */
    void (*run)(void);
    /* It gives user space no access to its registers, so tests of registers are left out. */
    bool no_registers;
    bool daemon; /* a gba-switchd: any process is a client, and has the mailbox of its port */
};

/* The backends that a program tests; NULL ends the list. conf_prepare returns an exit status for
 * the program if they cannot be had here, else 0. */
extern const struct conf_backend *const conf_backends[];
int conf_prepare(void);

/* The open device of a test. */
struct conf {
    const struct conf_backend *backend;
    const struct gba_dev_ops *ops;
    struct gba_dev *dev;
};

/* A group with all its members: membership[i] is member i. */
struct conf_group {
    gba_group_handle_t handle;
    struct gba_membership *membership[GBA_MEMBERS_MAX];
};

struct conf_test {
    const char *name;
    void (*run)(struct conf *conf);
};

/* The tests. An entry with a name of NULL ends each list. */
extern const struct conf_test conf_life_tests[], conf_round_tests[], conf_register_tests[];

/* bench.c: the functions that the tests share. Each fails the test on an error. */

gba_group_handle_t conf_alloc(struct conf *conf, uint32_t members);
struct gba_membership *conf_join(struct conf *conf, const gba_group_handle_t *handle,
                                 uint32_t member);
/* Join, map the flag, and write the first sequence to it, as the engine does. */
struct gba_membership *conf_membership(struct conf *conf, const gba_group_handle_t *handle,
                                       uint32_t member, uint32_t sequence);
/* Make a group with all its members, armed. */
void conf_group_make(struct conf *conf, struct conf_group *group, uint32_t members,
                     uint32_t sequence);
void conf_group_leave(struct conf *conf, struct conf_group *group);

/* Store a value to the doorbell of the member. The device takes it at conf_run at the latest. */
void conf_send(struct conf *conf, struct gba_membership *membership, uint64_t value);
void conf_run(struct conf *conf);
/* conf_send of the member's arrival at that round, then conf_run. */
void conf_arrive(struct conf *conf, struct gba_membership *membership, uint32_t sequence);

/* Wait until the member is released from that round, at most for a minute. */
void conf_wait(struct conf *conf, struct gba_membership *membership, uint32_t sequence);
/* The member's flag now, all 64 bits. */
uint64_t conf_flag(const struct gba_membership *membership);
/* Run a round in which `last` arrives last: no member may leave before that. */
void conf_round(struct conf *conf, struct conf_group *group, uint32_t sequence, uint32_t last);

gba_device_info_t conf_info(struct conf *conf);
gba_group_state_t conf_inspect(struct conf *conf, struct gba_membership *membership);
/* Check that the counter has increased by n since `before`. */
void conf_counted(struct conf *conf, const gba_device_info_t *before, uint32_t counter, uint64_t n);
/* Check that two states agree in all but last_error and status. */
void conf_same_round(const gba_group_state_t *a, const gba_group_state_t *b);

#endif
