/* SPDX-License-Identifier: BSD-3-Clause */
/* The identity of a process, and whether it is alive. */
#ifndef GBA_SIM_SHM_PROCESS_H
#define GBA_SIM_SHM_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* The identity of a process. The start time distinguishes two processes with the same number. */
struct gba_sim_process {
    uint64_t pid;
    uint64_t start; /* 0: the system does not report it */
};

/* The identity of this process. */
struct gba_sim_process gba_sim_process_self(void);
/* Whether that process is alive; true if in doubt. */
bool gba_sim_process_alive(struct gba_sim_process process);
/* CLOCK_MONOTONIC in ns, the same for all processes of the host. */
uint64_t gba_sim_clock_ns(void);

#endif
