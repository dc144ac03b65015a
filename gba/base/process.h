/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a process of this host, as /proc shows it. */
#ifndef GBA_BASE_PROCESS_H
#define GBA_BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

enum gba_process_state {
    GBA_PROCESS_UNKNOWN,
    GBA_PROCESS_RUNNING,
    GBA_PROCESS_STOPPED, /* by a signal or a debugger */
    GBA_PROCESS_GONE
};

struct gba_process {
    enum gba_process_state state;
    /* Time since the boot of the host, in clock ticks of the system; 0: /proc has no file of the
     * process. */
    uint64_t start;
};

/*
 * Read the state of the process with that number. A number above INT32_MAX, or 0, is of no process:
 * the state is unknown. A process without a readable file in /proc is gone only if the kernel has
 * no process of that number, because the mount option hidepid hides processes of other users.
 * Allocates memory and opens a file for a moment. Does not block. Thread-safe.
 */
void gba_process_read(uint32_t number, struct gba_process *process);

/*
 * The number of a thread of a process that has not ended: that of the process, or, when its first
 * thread has ended before others, that of another thread. /proc has no files, no environment and no
 * state of the process under the number of an ended thread; under that of a running one it has. If
 * there is none, or in doubt, returns `number`. As gba_process_read otherwise.
 */
uint32_t gba_process_thread(uint32_t number);

/* Whether the process of that number and start is alive; true if in doubt. start: 0: not known. A
 * start time distinguishes two processes that had the same number while the host runs, for all that
 * read it in the same time namespace. As gba_process_read otherwise. */
bool gba_process_alive(uint32_t number, uint64_t start);

#endif
