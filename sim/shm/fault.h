/* SPDX-License-Identifier: BSD-3-Clause */
/* Latency, jitter and injected faults. */
#ifndef GBA_SIM_SHM_FAULT_H
#define GBA_SIM_SHM_FAULT_H

#include "sim/shm/layout.h"

/* Count one event of the whole device. Return whether the fault takes place. Thread-safe. */
bool gba_sim_fault_lose_arrival(struct gba_sim_segment *segment);
bool gba_sim_fault_die_arrival(struct gba_sim_segment *segment);
bool gba_sim_fault_die(struct gba_sim_segment *segment);
void gba_sim_fault_call(struct gba_sim_segment *segment);
/* The delay of the release store of that number, in ns: latency and jitter. Pure. */
uint64_t gba_sim_fault_delay(const struct gba_sim_options *set, uint64_t count);
/* Make one release store, or inject the fault of the options instead. Under the group's lock. */
void gba_sim_fault_release(struct gba_sim_segment *segment, struct gba_sim_slot *slot,
                           uint32_t sequence);
/* Make the stores that are due now. Under the group's lock. */
void gba_sim_fault_deliver(struct gba_sim_slot *slot);
/* Whether gba_sim_fault_deliver has a store to make. Needs no lock. Acquire: pairs with the release
 * in gba_sim_fault_release. */
bool gba_sim_fault_due(struct gba_sim_slot *slot);

#endif
