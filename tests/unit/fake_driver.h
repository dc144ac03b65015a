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

/* --- fake_driver.c --- */

void fake_driver_start(uint32_t groups);

/* One ioctl. Returns 0 or an errno. */
int fake_driver_ioctl(int file, unsigned long request, void *argument);

/* The last close of the file: take back the memberships that were made through it. [DRV-10] */
void fake_driver_release(int file);

/* The group whose doorbell this file may map there, and the life of that group; or -1. [DRV-9] */
int fake_driver_doorbell(int file, uint64_t offset, uint64_t size, uint32_t *generation);

/* That memory is unmapped: no flag of the device may be in it. */
void fake_driver_unmapped(uintptr_t first, size_t size);

/* Store through a doorbell that was mapped in that life of the group. */
void fake_driver_arrive(uint32_t group, uint32_t generation, uint64_t value);
uint64_t fake_driver_access(uint32_t address, unsigned width, bool write, uint64_t value);

#endif
