/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A vfio-user client, a device and a port in one process. The port is a fake one, with one
 * register.
 */
#ifndef GBA_TESTS_VFIO_BENCH_H
#define GBA_TESTS_VFIO_BENCH_H

#include "sim/switch/vfio/connection.h"
#include "tests/switch/vfio_test.h"

struct vfio_bench {
    struct gba_vfio_device device;
    struct gba_vfio_connection server;
    struct vfio_test client;
    int memory, vector; /* of the guest; -1: none */
    /* The fake port: the newest access, and the number of resets. */
    uint32_t address;
    unsigned width, resets;
    uint64_t value;
};

extern struct vfio_bench bench;

/* Set-up of a test: a connection, and one whose guest has booted. Tear-down of both. */
int vfio_bench_bare(void **state);
int vfio_bench_booted(void **state);
int vfio_bench_end(void **state);

/* Whether the device stores `sequence` to an offset of the guest's memory. */
bool vfio_bench_released(uint64_t offset, uint32_t sequence);

#endif
