/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses to memory and eventfds that another process can make impossible at any time. A virtual
 * machine shares its memory as a file. It can truncate the file after the daemon has mapped it, or
 * the file system of the file can be full. A store then raises SIGBUS, and the functions below turn
 * the signal into an error.
 *
 * The store is an ordinary one. A check of the file's size before each store would race with a
 * truncation. pwrite does not guarantee that a reader sees all 8 bytes at once, which device.md
 * requires [HOST-4], and does not work on hugetlbfs.
 */
#ifndef GBA_SIM_SWITCH_VFIO_GUARD_H
#define GBA_SIM_SWITCH_VFIO_GUARD_H

#include <stdbool.h>

#include "gba/base/order.h"

/*
 * Install the handlers of SIGBUS and SIGALRM. Call it in a process before the first access. Such a
 * signal that no access raised still ends the process. Returns 0 or an errno value.
 */
int gba_vfio_guard_install(void);

/*
 * Store `value` to a release flag, little endian, as gba_flag_store_release. flag: aligned to 8
 * bytes, in a shared mapping. Returns false if the memory is gone; then nothing is stored. For one
 * thread of the process at a time.
 */
bool gba_vfio_guard_store(gba_flag_t *flag, uint64_t value);

/* Time after which a write to an eventfd is ended, in us. */
#define GBA_VFIO_GUARD_US 1000

/*
 * Add 1 to an eventfd. Its owner can fill the count and clear O_NONBLOCK at any time, also between
 * a check and the write, so the write has a time limit: the timer ITIMER_REAL, which is set to its
 * earlier value afterwards. Without the handlers there is no limit. Returns 0; EAGAIN: the count is
 * full; EINTR: the write blocked, for about GBA_VFIO_GUARD_US; or another error of write. Nothing
 * is added then. For one thread of the process at a time.
 */
int gba_vfio_guard_signal(int fd);

#endif
