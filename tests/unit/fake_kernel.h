/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A kernel with a GBA driver, in the test: the system calls of gba/dev/cdev.h on the models of the
 * device and of its driver. Each open file is a process to the driver, as gba_ioctl.h has it.
 *
 * Doorbells and registers are ordinary memory, so a store to them triggers nothing: the device does
 * its work when the test calls fake_kernel_run. What the library may not do, the fake kernel finds
 * and counts as a violation; the text of the first one is kept.
 */
#ifndef GBA_TESTS_FAKE_KERNEL_H
#define GBA_TESTS_FAKE_KERNEL_H

#include "gba/dev/cdev.h"
#include "gba/spec/gba_ioctl.h"

#define FAKE_KERNEL_PATH "/dev/gba0"

/* Which call of the library a planned error is for; ioctls are named by their request. */
#define FAKE_OPEN     1ul
#define FAKE_FSTAT    2ul
#define FAKE_MMAP     3ul /* of a doorbell or of the registers */
#define FAKE_MMAP_MEM 4ul /* of memory */
#define FAKE_MADVISE  5ul

/* What a test can set, after fake_kernel_start. */
struct fake_kernel {
    uint32_t abi_version, regs_version, groups, members_max; /* as QUERY tells them */
    uint64_t doorbell_offset, doorbell_size; /* as JOIN tells them; 0: where it is, one page */
    uint32_t refuse_member;                  /* 1 + the member whose JOIN is refused; 0: none */
    bool no_device;                          /* open: ENOENT */
    bool plain_file;                         /* fstat: no character device */
    bool no_rawio;                           /* the process lacks CAP_SYS_RAWIO */
    bool dead;                               /* the device no longer answers */
    uint32_t uid;                            /* of who calls */
    uint64_t now;                            /* the kernel's clock, ns */
    /* What happened. */
    uint32_t violations;
    char violation[160];
    uint32_t open_files, doorbells, memory, pinned; /* that exist now; memory: mappings */
    uint32_t ioctls;                                /* made so far */
};
extern struct fake_kernel fake_kernel;

/* Power on with 1 to 32 groups, and take the library's system calls over; stop gives them back. */
void fake_kernel_start(uint32_t groups);
void fake_kernel_stop(void);

/* The next `times` calls of that kind fail with this errno. One plan at a time. */
void fake_kernel_fail(unsigned long call, int error, unsigned times);

/* The device takes all arrivals that stand in doorbells and makes its release stores. Returns how
 * many arrivals there were. */
uint32_t fake_kernel_run(void);

/*
 * The backend on the fake kernel, with a device that also answers accesses to the mapped registers:
 * gba_dev_cdev, but for reg_read and reg_write. A write that the library makes of other bytes than
 * it was asked to is a violation. Values may not hold bytes of 0xA5, which say "not written".
 */
extern struct gba_dev_ops fake_kernel_ops;

#endif
