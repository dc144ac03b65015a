/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of --fault, which are injected at a time or at an arrival. */
#ifndef GBA_SIM_SWITCH_FAULT_H
#define GBA_SIM_SWITCH_FAULT_H

#include "sim/switch/net/daemon.h"

struct gba_faults;

/*
 * Schedule the faults of daemon->options->fault. The time of a port's fault begins when the port
 * comes up for the first time, that of the daemon's end begins now. The core makes faults of
 * arrivals. Sets daemon->port_up. Returns NULL: out of memory.
 */
struct gba_faults *gba_faults_start(struct gba_switchd *daemon);

/* Cancel the faults. NULL: no effect. */
void gba_faults_stop(struct gba_faults *faults);

#endif
