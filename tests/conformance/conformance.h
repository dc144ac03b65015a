/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One suite for every backend: what gba/dev/dev_ops.h promises to the engine, on a device that
 * follows gba/spec/device.md. All members of a group are driven from this process.
 */
#ifndef GBA_TESTS_CONFORMANCE_H
#define GBA_TESTS_CONFORMANCE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "gba/dev/dev_ops.h"
#include "gba/spec/gba_regs.h"

/* What is judged. */
struct conf_backend {
    const char *name;
    const char *path;
    const struct gba_dev_ops *ops;
    /* Before and after each test; either may be NULL. The device is as after power-on, but that its
     * counters and generations may go on. */
    void (*start)(void);
    void (*stop)(void);
    /* Let the device do what hardware does by itself; NULL: it needs no help. */
    void (*run)(void);
};

extern const struct conf_backend conf_bare, conf_sim, conf_sim_slow, conf_cdev;

/* A test's device, open. */
struct conf {
    const struct conf_backend *backend;
    const struct gba_dev_ops *ops;
    struct gba_dev *dev;
};

/* A group with all its members: seat[i] is member i. */
struct conf_group {
    gba_ticket_t ticket;
    struct gba_seat *seat[GBA_MEMBERS_MAX];
};

struct conf_test {
    const char *name;
    void (*run)(struct conf *conf);
};

/* Each ends with a name of NULL. */
extern const struct conf_test conf_life_tests[], conf_round_tests[], conf_register_tests[];

/* What the tests share: bench.c. All of them fail the test if something goes wrong. */

gba_ticket_t conf_alloc(struct conf *conf, uint32_t members);
struct gba_seat *conf_join(struct conf *conf, const gba_ticket_t *ticket, uint32_t member);
/* Join, map, and write the first sequence to the flag, as the engine does. */
struct gba_seat *conf_seat(struct conf *conf, const gba_ticket_t *ticket, uint32_t member,
                           uint32_t sequence);
/* A whole group, armed. */
void conf_group_make(struct conf *conf, struct conf_group *group, uint32_t members,
                     uint32_t sequence);
void conf_group_leave(struct conf *conf, struct conf_group *group);

/* The member stores this to its doorbell; the device need not have taken it before conf_run. */
void conf_send(struct conf *conf, struct gba_seat *seat, uint64_t value);
void conf_run(struct conf *conf);
/* Both, for its arrival at that round. */
void conf_arrive(struct conf *conf, struct gba_seat *seat, uint32_t sequence);

/* Wait until the member is released from that round; a minute is an error. */
void conf_wait(struct conf *conf, struct gba_seat *seat, uint32_t sequence);
/* The member's flag now: 64 bits. */
uint64_t conf_flag(const struct gba_seat *seat);
/* A whole round of all members, the last one being `last`: nobody may leave before that. */
void conf_round(struct conf *conf, struct conf_group *group, uint32_t sequence, uint32_t last);

gba_device_info_t conf_info(struct conf *conf);
gba_group_state_t conf_inspect(struct conf *conf, struct gba_seat *seat);
/* The counter has grown by n since `before`. */
void conf_counted(struct conf *conf, const gba_device_info_t *before, uint32_t counter, uint64_t n);
/* Nothing that the members depend on differs: all of the state but error and status. */
void conf_same_round(const gba_group_state_t *a, const gba_group_state_t *b);

#endif
