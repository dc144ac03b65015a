/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A kernel with a GBA driver, inside the test: the system calls of gba/dev/cdev.h on the models of
 * the device and of its driver. Each open file is a process for the driver, as gba_ioctl.h
 * specifies.
 *
 * Doorbells and registers are ordinary memory, so a store to them triggers nothing. The device
 * works when the test calls fake_kernel_run. The fake kernel detects forbidden calls of the library
 * and counts them as violations; it stores the text of the first one.
 */
#ifndef GBA_TESTS_FAKE_KERNEL_H
#define GBA_TESTS_FAKE_KERNEL_H

#include "gba/dev/cdev.h"
#include "gba/spec/gba_ioctl.h"

#define FAKE_KERNEL_PATH "/dev/gba0"

/* The call of the library to which a planned error applies; ioctls are named by their request. */
#define FAKE_OPEN     1ul
#define FAKE_FSTAT    2ul
#define FAKE_MMAP     3ul /* of a doorbell or of the registers */
#define FAKE_MMAP_MEM 4ul /* of memory */
#define FAKE_MADVISE  5ul

/* The settings of a test, after fake_kernel_start. */
struct fake_kernel {
    uint32_t abi_version, regs_version, groups, members_max; /* as QUERY returns them */
    uint64_t doorbell_offset, doorbell_size; /* as JOIN returns them; 0: the real ones */
    uint32_t refuse_member;                  /* 1 + the member whose JOIN is refused; 0: none */
    bool no_device;                          /* open: ENOENT */
    bool plain_file;                         /* fstat: no character device */
    bool no_rawio;                           /* the process lacks CAP_SYS_RAWIO */
    bool dead;                               /* the device stopped answering */
    uint32_t uid;                            /* of the caller */
    uint64_t now;                            /* of the caller */
    /* The record of events. */
    uint32_t violations;
    char violation[160];
    uint32_t open_files, doorbells, memory, pinned; /* existing now; memory: mappings */
    uint32_t ioctls;                                /* created so far */
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

/*
 * The backend on the fake kernel, with a device that also answers accesses to the mapped registers:
 * gba_dev_cdev with other reg_read and reg_write. A write of the library to other bytes than
 * requested is a violation. Values may not contain bytes of 0xA5, which mark bytes that are not
 * written.
 */
extern struct gba_dev_ops fake_kernel_ops;

#endif
