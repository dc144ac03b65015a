/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the simulator that another process has made. */
#ifndef GBA_SIM_SHM_FIND_H
#define GBA_SIM_SHM_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "gba/dev/device_path.h"

/* Size of an id (gba_sim_id): five hexadecimal numbers of 8 digits, a name, separators and the
 * terminator. */
#define GBA_SIM_ID_MAX 92

/*
 * Make the id that distinguishes simulators: user, host (namespaces), and name or job. name and job
 * both NULL: the id of a simulator for this process alone. A name "@KEY" is that of struct
 * gba_dev_path. Returns GBA_OK, or GBA_ERR_IO (logged: no usable /proc). Thread-safe.
 */
gba_status_t gba_sim_id(char id[GBA_SIM_ID_MAX], const char *name, const char *job);

/* The number of the time namespace. Processes with equal numbers read the same clocks, and the same
 * start times of processes. 0: the kernel has no time namespaces. */
uint32_t gba_sim_clock_id(void);

/* The name of the memfd of a simulator, with its id, without the kernel's prefix. */
#define GBA_SIM_FILE_NAME "gba-sim:%s"

/*
 * Pass each open file of that name to `take`. pid: of that process; 0: of all. take returns GBA_OK:
 * it keeps the file; GBA_INPROGRESS: not the right file; an error ends the search. Returns the last
 * status of `take`; GBA_INPROGRESS if there was no such file; or (logged) GBA_ERR_NO_FILES, _NOMEM,
 * _PERM or _IO: there may be one.
 * A search of all reads the links of all processes of this user, which takes milliseconds.
 */
gba_status_t gba_sim_find(const char *id, pid_t pid, gba_status_t (*take)(void *ctx, int file),
                          void *ctx);

/* The device path of the simulator with that open file, for gba_device_init. link: the target of a
 * link in /proc/PID/fd. Returns false if the file is no simulator of this user and host. Pure, but
 * for the namespaces of this process. Thread-safe. */
bool gba_sim_identify(const char *link, char *path, size_t len);

/*
 * Take the right to make that simulator. One process has it at a time, until it closes the returned
 * descriptor or dies. holder: set, if another process has the right, to a descriptor for
 * gba_sim_maker_wait; else to -1. The caller closes it. Never blocks. Returns -1 on failure: with
 * errno EADDRINUSE another process has the right.
 */
int gba_sim_maker_lock(const char *id, int *holder);

/* Wait until the holder gives the right up, ms at most. Returns its process, which may have the
 * simulator open; 0: not yet, or unknown. */
pid_t gba_sim_maker_wait(int holder, int ms);

#endif
