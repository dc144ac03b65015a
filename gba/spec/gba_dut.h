/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device as a table of C functions: what a design under test offers to the suite of
 * `make conformance-rtl` (hardware.md, chapter "A design before there is a card"), and what the
 * model of this repository offers to a test bench in C or C++. A shared library exports gba_dut().
 *
 * Nothing happens by itself, and no call waits: a call offers an access, or changes what the hosts
 * do, and advance() lets the design work. What the design does is an event, and events wait until
 * they are taken, in their order. So any number of accesses of all ports overlap, while ports go up
 * and down and take no stores. No function is called while another one of the same device runs.
 */
#ifndef GBA_DUT_H
#define GBA_DUT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GBA_DUT_VERSION 2u

struct gba_dut_access {
    uint32_t port;  /* through which the access comes */
    uint32_t write; /* 1: a write */
    uint32_t width; /* bytes: 1, 2, 4, 8 */
    uint32_t address;
    uint64_t value; /* of a write */
    /* The random number that the device uses if this access is a command that needs one: the key of
     * an ALLOC. So two devices can be compared. */
    uint64_t random;
};

/* What the design has done. */
#define GBA_DUT_TAKEN     0u /* the oldest access of the port that was offered takes effect */
#define GBA_DUT_ANSWERED  1u /* the oldest one that took effect has ended; value: of a read */
#define GBA_DUT_STORE     2u /* a release store has left through the port: address, value */
#define GBA_DUT_INTERRUPT 3u /* the port is interrupted */
#define GBA_DUT_LINK      4u /* the link of the port has gone up or down; value: 1 for up */

struct gba_dut_event {
    uint32_t kind; /* GBA_DUT_* */
    uint32_t port;
    uint64_t address;
    uint64_t value; /* of a store: 8 bytes, little endian in memory [REL-3] */
};

/* Bounds of TIME-1. T_LOST: how long a host takes no store until its link counts as down; 0: for
 * ever. */
enum {
    GBA_DUT_T_ACCEPT,
    GBA_DUT_T_MATCH,
    GBA_DUT_T_RELEASE,
    GBA_DUT_T_CLEAR,
    GBA_DUT_T_LOST,
    GBA_DUT_BOUNDS
};

struct gba_dut {
    uint32_t version;                /* GBA_DUT_VERSION */
    uint32_t bounds[GBA_DUT_BOUNDS]; /* in cycles; all 0: a design without cycles */

    /* A device after power-on, with all ports down [CFG-8, PORT-3]. groups: 1 to GBA_GROUPS. ports:
     * 1 to GBA_PORTS_MAX. uuid: the value of GBA_DEV_UUID. NULL: it cannot be had. */
    void *(*create)(uint32_t groups, uint32_t ports, const uint64_t uuid[2]);
    void (*destroy)(void *device);

    /* Reset the device, as at power-on, for one cycle. What is under way is lost, also events that
     * were not taken. */
    void (*reset)(void *device);

    /* Offer an access. The accesses of one port take effect in their order. */
    void (*access)(void *device, const struct gba_dut_access *access);

    /* The link of a port goes up or down. quota: the value of GBA_PORT_QUOTA, if it goes up. */
    void (*link)(void *device, uint32_t port, uint32_t up, uint32_t quota);

    /* Whether the host of a port takes release stores from now on. It does after power-on. */
    void (*ready)(void *device, uint32_t port, uint32_t ready);

    /* Let the design work for that many cycles, or until it has nothing left to do. A cycle may be
     * longer while the control unit executes a command. Returns 1 if nothing is left, else 0. */
    int (*advance)(void *device, uint32_t cycles);

    /* Take the next event; 0 if there is none. */
    int (*event)(void *device, struct gba_dut_event *event);
};

const struct gba_dut *gba_dut(void);

#ifdef __cplusplus
}
#endif

#endif
