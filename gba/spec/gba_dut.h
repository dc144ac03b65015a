/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device as a table of C functions: what a design under test offers to the suite of
 * `make conformance-rtl` (hardware.md, chapter "A design before there is a card"), and what the
 * model of this repository offers to a test bench in C or C++. A shared library exports gba_dut().
 *
 * Nothing happens by itself: a call makes its access, or begins it, and advance() lets the design
 * work. The stores and interrupts that the design makes wait in it until they are taken, in their
 * order. No function is called while another one of the same device runs.
 */
#ifndef GBA_DUT_H
#define GBA_DUT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GBA_DUT_VERSION 1u

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

struct gba_dut_store {
    uint32_t port; /* through which the store leaves */
    uint32_t reserved;
    uint64_t address;
    uint64_t value; /* 8 bytes, little endian in memory [REL-3] */
};

struct gba_dut {
    uint32_t version; /* GBA_DUT_VERSION */
    uint32_t reserved;

    /* A device after power-on, with all ports down [CFG-8, PORT-3]. groups: 1 to GBA_GROUPS. ports:
     * 1 to GBA_PORTS_MAX. uuid: the value of GBA_DEV_UUID. NULL: it cannot be had. */
    void *(*create)(uint32_t groups, uint32_t ports, const uint64_t uuid[2]);
    void (*destroy)(void *device);

    /* Make an access. Returns the value of a read; the value for a write does not matter. A write
     * may still be under way at the return. */
    uint64_t (*access)(void *device, const struct gba_dut_access *access);

    /* The write of that value to the doorbell of a group that exists, through a port that is up:
     * the same as access(), but may be faster. */
    void (*arrive)(void *device, uint32_t group, uint32_t port, uint64_t value);

    /* The link of a port goes up or down. quota: the value of GBA_PORT_QUOTA. */
    void (*port_up)(void *device, uint32_t port, uint32_t quota);
    void (*port_down)(void *device, uint32_t port);

    /* Let the design work for that many cycles at most. Returns 1 when it has nothing left to do,
     * else 0. */
    int (*advance)(void *device, uint32_t cycles);

    /* Take the next release store, or the next port that is interrupted; 0 if there is none. */
    int (*store)(void *device, struct gba_dut_store *store);
    int (*interrupt)(void *device, uint32_t *port);
};

const struct gba_dut *gba_dut(void);

#ifdef __cplusplus
}
#endif

#endif
