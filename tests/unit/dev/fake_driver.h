/* SPDX-License-Identifier: BSD-3-Clause */
/* The Linux driver in the fake kernel: its files (contrib/driver), of the host at port 0 of a
 * device with two ports. A test is the host at port 1. */
#ifndef GBA_TESTS_FAKE_DRIVER_H
#define GBA_TESTS_FAKE_DRIVER_H

#include "tests/unit/dev/fake_kernel.h"

#define FILES      64
#define FIRST_FILE 1000 /* so that no descriptor of the test equals one of the system */

/* --- fake_kernel.c --- */

/* Record a forbidden call of the library. */
void fake_violation(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether the test has planned an error for this call; errno is then set. */
bool fake_planned(unsigned long call);

/* --- fake_driver.c --- */

void fake_driver_start(uint32_t groups);

/* The calls of the driver. Return 0 or an errno. close: of the only descriptor; its mappings stay.
 */
int fake_driver_open(int file);
void fake_driver_close(int file);
int fake_driver_ioctl(int file, unsigned long request, void *argument);

/* mmap and munmap of the driver's pages. */
void *fake_driver_map(int file, size_t size, int protection, uint64_t offset);
int fake_driver_unmap(void *address, size_t size);

/* The process that owns the file ends: the driver takes back what it holds. [DRV-10] */
void fake_driver_end(int file);

/* Every membership gets the event of a death. */
void fake_driver_post_died(void);

/* One access to a register through that port. Returns the value of a read. */
uint64_t fake_driver_access(uint16_t port, uint32_t address, unsigned width, bool write,
                            uint64_t value);

#endif
