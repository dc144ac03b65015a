/* SPDX-License-Identifier: BSD-3-Clause */
/* The driver in the fake kernel: gba_ioctl.h on the models, with all the checks that it specifies.
 */
#ifndef GBA_TESTS_FAKE_DRIVER_H
#define GBA_TESTS_FAKE_DRIVER_H

#include "tests/unit/fake_kernel.h"

/* --- fake_kernel.c --- */

/* Record a forbidden call of the library. */
void fake_violation(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether the test has planned an error for this call; errno is then set. */
bool fake_planned(unsigned long call);

/* --- fake_memory.c: memberships with their doorbell and their flag --- */

/* A membership of an open file. */
struct fake_seat {
    int file; /* 0: the entry is not used */
    uint32_t group, generation, member;
    uint64_t doorbell, page; /* offsets for mmap */
    uint32_t position;       /* of the slot in its page */
    gba_flag_t *flag;        /* the kernel's mapping of the slot */
    void *mapping;           /* of the doorbell in user space, or NULL */
    bool left;               /* only the mapping remains */
    bool revoked;            /* stores to the doorbell have no effect */
    uint32_t events, last_error;
};

void fake_memory_start(void);
void fake_memory_stop(void);

/* A new membership, with a flag of 0. Returns NULL: out of memory. */
struct fake_seat *fake_seat_new(int file, uint32_t group, uint32_t generation, uint32_t member);

/* The membership, unless it was left; or NULL. */
struct fake_seat *fake_seat_find(int file, uint32_t group, uint32_t generation, uint32_t member);

/* The membership number i that has not been left, of all files; NULL: there are no more. i: 0 at
 * first; advanced by each call. */
struct fake_seat *fake_seat_next(size_t *i);

/* Revoke the doorbell, and store the reason for the member: GBA_REVOKED_*. [DRV-17] */
void fake_seat_revoke(struct fake_seat *seat, uint32_t reason);

/* The membership is left: its doorbell has no effect any more, and its slot is free. */
void fake_seat_leave(struct fake_seat *seat);

/* The last close of a file whose memberships are left: the kernel frees its pages. */
void fake_memory_release(int file);

/* mmap and munmap of the driver's pages. */
void *fake_memory_map(int file, size_t size, int protection, uint64_t offset);
int fake_memory_unmap(void *address, size_t size);

/* --- fake_abi.c --- */

/* One ioctl. Returns 0 or an errno. */
int fake_driver_ioctl(int file, unsigned long request, void *argument);

/* --- fake_driver.c --- */

void fake_driver_start(uint32_t groups);

/* The calls, each with its structure. Return 0 or an errno. */
int fake_query(int file, void *argument);
int fake_alloc(int file, void *argument);
int fake_free(int file, void *argument);
int fake_join(int file, void *argument);
int fake_configure(int file, void *argument);
int fake_leave(int file, void *argument);
int fake_inspect(int file, void *argument);
int fake_wait(int file, void *argument);
int fake_owner(int file, void *argument);

/* The owner has closed the file: take back what it holds. [DRV-10] */
void fake_driver_release(int file);

/* Store through a doorbell of that group. */
void fake_driver_arrive(uint32_t group, uint64_t value);
uint64_t fake_driver_access(uint32_t address, unsigned width, bool write, uint64_t value);

#endif
