/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated device: the model with its ports and its control unit, in a segment of shared
 * memory. The processes of a job, or of several jobs of one user on one host, map the segment. Each
 * process has a port, and runs the device itself, under the lock of the group that it accesses.
 * There is no daemon and no thread.
 *
 *   sim.c      the ops table: device and memberships
 *   alloc.c    allocates groups
 *   port.c     the ports of processes; takes back what dead processes held
 *   bus.c      the bus: arrivals, release stores, register accesses
 *   fault.c    latency, jitter and injected faults
 *   lock.c     robust locks: a process that is killed while it holds one has killed the device
 *   segment.c  makes the segment, or attaches to it
 *   find.c     finds the segment that another process has made
 */
#ifndef GBA_SIM_SHM_SIM_H
#define GBA_SIM_SHM_SIM_H

#include "gba/base/descriptor.h"
#include "sim/shm/layout.h"

struct gba_sim_dev {
    struct gba_dev dev;
    struct gba_sim_segment *segment;
    struct gba_descriptor file; /* the memfd: kept open, so that other processes find it */
    bool faulty;                /* an option changes arrivals or release stores */
    bool delayed;               /* an option needs the member's poll */
    bool created;               /* this open made the simulator */
    gba_word_t port; /* pid << 32 | holder, of the process that claimed it: see gba_sim_holder */
    uint64_t job;
};

struct gba_sim_membership {
    struct gba_membership membership;
    struct gba_sim_dev *dev;
    uint32_t port; /* that joined; another process may arrive through it, such as a child of fork */
};

/* A holder is 1 + a port. This one is nobody. */
#define GBA_SIM_NOBODY 0u

/* --- alloc.c --- */

gba_status_t gba_sim_alloc(struct gba_dev *dev, const gba_group_request_t *asked,
                           gba_group_handle_t *handle);

/* --- port.c --- */

/* Take down the ports of dead processes, with all memberships and allocations that they hold.
 * Thread-safe. No effect on a dead device. */
void gba_sim_reap(struct gba_sim_segment *segment);

/* The holder of the calling process; GBA_SIM_NOBODY: it has no port. A child of fork uses the
 * device that its parent opened, but not its port: the death of one must not count as the death of
 * the other. Thread-safe. */
uint32_t gba_sim_holder(const struct gba_sim_dev *dev);

/* gba_sim_holder, with a port claimed if the process has none. Returns GBA_OK, GBA_ERR_BUSY
 * (logged: all ports are in use) or GBA_ERR_DEAD. Thread-safe. Not under the lock of a group. */
gba_status_t gba_sim_port_claim(struct gba_sim_dev *dev, uint32_t *holder);

/* Take down the port of the calling process, if it has one. */
void gba_sim_port_release(struct gba_sim_dev *dev);

/* The process of a holder; 0: none. */
uint32_t gba_sim_holder_pid(struct gba_sim_segment *segment, uint32_t holder);

/* --- segment.c --- */

/*
 * Attach to the simulator of that name or job, or make it, but not for a name "@KEY". A dead one
 * is skipped if it has a name: another one is made, while others may still use the dead one. The
 * dead one of a job stays the one of that job. On GBA_OK sets dev->segment and dev->file. Returns
 * GBA_OK, GBA_ERR_NO_DEVICE (no simulator has the KEY), or (logged) GBA_ERR_BUSY (other options),
 * _VERSION, _NOMEM, _NO_FILES, _PERM or _IO. Blocks for 10 s at most, while another process makes
 * the simulator.
 */
gba_status_t gba_sim_segment_open(struct gba_sim_dev *dev, const struct gba_dev_path *path,
                                  const char *job);
void gba_sim_segment_close(struct gba_sim_dev *dev);

/* Whether the path gives the simulator a name of its own. */
static inline bool gba_sim_is_named(const struct gba_dev_path *path)
{
    return '\0' != path->name[0] && '@' != path->name[0];
}

/* The bus address of a slot, which is its offset in the segment; and the slot of an address, or
 * NULL. Pure. */
uint64_t gba_sim_slot_address(uint32_t group, uint32_t member);
struct gba_sim_slot *gba_sim_slot_at(struct gba_sim_segment *segment, uint64_t address);

/* --- bus.c --- */

void gba_sim_bus_arrive(struct gba_membership *membership, uint64_t value);
void gba_sim_bus_poll(struct gba_membership *membership);
gba_status_t gba_sim_bus_read(struct gba_dev *dev, uint32_t address, unsigned width,
                              uint64_t *value);
gba_status_t gba_sim_bus_write(struct gba_dev *dev, uint32_t address, unsigned width,
                               uint64_t value);

#endif
