/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A kernel with the GBA driver, inside the test: the system calls of gba/dev/cdev.h on the files of
 * contrib/driver and the model of the device. Each open file is a process for the driver, as
 * gba_ioctl.h specifies.
 *
 * Doorbells are ordinary memory, so a store to them triggers nothing. The device works when the
 * test calls fake_kernel_run, and in WAIT. The fake kernel detects forbidden calls of the library
 * and counts them as violations; it stores the text of the first one.
 */
#ifndef GBA_TESTS_FAKE_KERNEL_H
#define GBA_TESTS_FAKE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gba/spec/gba_ioctl.h"

#define FAKE_KERNEL_PATH    "/dev/gba0"
#define FAKE_REGISTERS_PATH "/sys/kernel/debug/gba/gba0/registers"

/* The call of the library to which a planned error applies; ioctls are named by their request. */
#define FAKE_OPEN      1ul
#define FAKE_FSTAT     2ul
#define FAKE_MMAP      3ul /* of a doorbell */
#define FAKE_MMAP_FLAG 4ul /* of a page of flags */
#define FAKE_OPEN_REGS 5ul
#define FAKE_REGS      6ul /* access to a register */

/* The settings of a test, after fake_kernel_start. */
struct fake_kernel {
    uint32_t abi_version, regs_version, groups, members_max; /* as QUERY returns them */
    uint64_t features;
    void (*forge_join)(struct gba_ioc_join *join); /* changes what JOIN returns; NULL: nothing */
    void (*on_sleep)(void);                        /* called where WAIT sleeps; NULL: time passes */
    uint32_t user_groups_max;                      /* of each user; 0: no limit */
    bool no_device;                                /* open: ENOENT */
    bool plain_file;                               /* fstat: no character device */
    bool old_driver; /* of version 2: knows only the QUERY of that version */
    bool replaced;   /* the program has closed the device, and given its number to a file */
    uint32_t uid;    /* of the caller */
    bool admin;      /* the caller has CAP_SYS_ADMIN */
    bool dead;       /* by fake_kernel_die: not to be set */
    struct {
        uint32_t violations;
        char violation[160];
        uint32_t open_files, doorbells, pages; /* existing now; pages: mappings of flag pages */
        uint32_t ioctls, waits;                /* so far; waits: sleeps of WAIT */
    } seen;
};
extern struct fake_kernel fake_kernel;

/* Power on with 1 to 32 groups, and replace the library's system calls; stop restores them. */
void fake_kernel_start(uint32_t groups);
void fake_kernel_stop(void);

/* The next `times` calls of that kind fail with this errno. One plan at a time. */
void fake_kernel_fail(unsigned long call, int error, unsigned times);

/* The device processes all arrivals in doorbells and makes its release stores. Returns the number
 * of arrivals. */
uint32_t fake_kernel_run(void);

/* The device dies, or is unplugged: the driver revokes all memberships. [DRV-17] Then it is as
 * after power-on again. */
void fake_kernel_die(void);
void fake_kernel_revive(void);

/* The release flags of the driver's memberships. */
uint32_t fake_kernel_slots(void);

#endif
