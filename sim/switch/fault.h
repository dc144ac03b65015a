/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults that --fault requests, at a time or at an arrival. */
#ifndef GBA_SIM_SWITCH_FAULT_H
#define GBA_SIM_SWITCH_FAULT_H

#include "sim/switch/daemon.h"

struct gba_faults;

/*
 * Wait for the times of daemon->options->fault. Those of a port begin when the port comes up for
 * the first time, and the end of the daemon is counted from now on. Faults of arrivals are the
 * core's. Sets daemon->port_up. Returns NULL if memory is short.
 */
struct gba_faults *gba_faults_start(struct gba_switchd *daemon);

/* Forget them. NULL: no effect. */
void gba_faults_stop(struct gba_faults *faults);

#endif
