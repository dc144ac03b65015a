/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated device: the model with its ports and its control unit, in a segment of shared
 * memory. The processes of a job, or of several jobs of one user on one host, map the segment. Each
 * process has a port, and runs the device itself, under the lock of the group that it accesses.
 * There is no daemon and no thread.
 *
 *   sim.c      the ops table: device and memberships
 *   alloc.c    allocates groups, and takes them back from idle teams
 *   port.c     the ports of processes; takes back what dead processes held
 *   bus.c      the bus: arrivals, release stores, register accesses
 *   fault.c    latency, jitter and injected faults
 *   lock.c     robust locks, and the journal that undoes the unfinished change of a killed process
 *   segment.c  makes the segment, or attaches to it
 *   find.c     finds the segment that another process has made
 *   process.c  the identity of a process, and whether it is alive
 */
#ifndef GBA_DEV_SIM_H
#define GBA_DEV_SIM_H

#include <pthread.h>
#include <stddef.h>

#include "gba/base/descriptor.h"
#include "gba/base/order.h"
#include "gba/base/park.h"
#include "gba/dev/dev_ops.h"
#include "sim/model/model.h"
#include "sim/model/reclaim.h"

/* "GBAsim" and a number, little endian. Written last, when the segment is ready for use. */
#define GBA_SIM_MAGIC 0x00316d6973414247ull
/* Incremented with every change of the structures below that keeps their size, and of the journal's
 * use. */
#define GBA_SIM_LAYOUT 9u

/* Size of an id (gba_sim_id): five hexadecimal numbers of 8 digits, a name, separators and the
 * terminator. */
#define GBA_SIM_ID_MAX 92

struct gba_sim_header {
    gba_word_t magic;
    uint32_t layout;
    uint32_t size; /* of struct gba_sim_segment; also differs between 32-bit and 64-bit processes */
    char id[GBA_SIM_ID_MAX];
    uint32_t clock;                 /* gba_sim_clock_id, for which an id has no room */
    struct gba_sim_options options; /* options of the maker */
};

/* The journal: a copy of all that a change may touch, from before the change, for an undo. */
struct gba_sim_journal {
    gba_word_t what;   /* GBA_SIM_JOURNAL_*; 0: no change is in progress */
    uint32_t place;    /* of the team that loses the group, for GBA_SIM_JOURNAL_RECLAIM */
    uint32_t next;     /* the group's next place */
    uint32_t reclaims; /* the group's count of reclaims after it */
    struct gba_model_group group;
};

#define GBA_SIM_JOURNAL_CORE    1u /* group.core; an arrival changes no more */
#define GBA_SIM_JOURNAL_GROUP   2u /* group; a command of the control unit */
#define GBA_SIM_JOURNAL_RECLAIM 4u /* an undo completes it: members may have seen the loss */

/* One group. The lock guards the rest, the model's group of the same number, and the places that
 * belong to this group. */
struct gba_sim_group {
    _Alignas(128) pthread_mutex_t lock;
    uint32_t place;    /* of its members' flags; beside the lock, because an arrival reads both */
    uint32_t reclaims; /* how often the group was taken back */
    struct gba_usage usage;
    struct gba_sim_journal journal;
};

/* The release flag of one member, and the delayed stores to it. Written under the lock of the
 * group. The member reads it without the lock. */
struct gba_sim_slot {
    gba_flag_t flag;
    gba_word_t sleeper;  /* count of sleepers, for gba_flag_park and gba/team/wait.c */
    uint64_t line[6];    /* padding: the member polls the line of the flag */
    gba_word_t pending;  /* GBA_SIM_SLOT_FULL | sequence, 0 = none */
    gba_word_t due;      /* time at which `pending` is stored: CLOCK_MONOTONIC, ns */
    gba_word_t repeated; /* stored once more when it is stale; as pending */
    gba_word_t awaited;  /* the round that the member awaits, written by the member */
    uint64_t unused[4];
};
#define GBA_SIM_SLOT_FULL (1ull << 32)
_Static_assert(sizeof(struct gba_sim_slot) == GBA_FLAG_STRIDE, "one slot per stride");
_Static_assert(offsetof(struct gba_sim_slot, sleeper) == sizeof(gba_flag_t), "behind the flag");

/* The release store of the device. It wakes a sleeping member, which hardware cannot do. */
static inline void gba_sim_flag_store(struct gba_sim_slot *slot, uint32_t sequence)
{
    gba_flag_store_release(&slot->flag, sequence);
    gba_flag_unpark(&slot->flag, &slot->sleeper);
}

/* The members of a team that lost its group. Of no meaning in the current place of a group. */
struct gba_sim_lost {
    uint32_t generation;            /* of the allocation that was taken back */
    uint16_t port[GBA_MEMBERS_MAX]; /* 1 + the port of a member that has not left; 0: none */
};

/*
 * A place: the flags of the members of one allocation of a group. When a group is taken back, it
 * moves to another place. The old place stays unchanged until the last of its members has left or
 * died. Such a member may still read its flag, and the rounds of the next team would release it
 * from its own round.
 */
struct gba_sim_place {
    struct gba_sim_lost lost;
    _Alignas(4096) struct gba_sim_slot slot[GBA_MEMBERS_MAX];
};

/* The number of places: one for each group, and one for each team that has lost its group and has
 * not left it yet. A team leaves at its next barrier, but an idle team may never have one. If no
 * place is free, no group is taken back. */
#define GBA_SIM_PLACES 256u

/* The identity of a process. The start time distinguishes two processes with the same number. */
struct gba_sim_process {
    uint64_t pid;
    uint64_t start; /* 0: the system does not report it */
};

/* The process that has a port of the model. Claimed and freed under the device's lock. */
struct gba_sim_port {
    gba_word_t pid; /* of its process; 0: the port is free */
    gba_word_t start;
};

/*
 * The segment: 26 MB of address space. The part before `place`, 0.6 MB, is reserved at creation. Of
 * a place only the pages with flags in use are reserved, and one page more: 8 KB for a group of 32
 * members. A simulator with a few groups therefore takes less than 1 MB.
 */
struct gba_sim_segment {
    struct gba_sim_header header;
    gba_word_t dead;     /* 1: the device stopped answering */
    gba_word_t arrivals; /* counts of the "every nth" faults and of the death, up to `calls` */
    gba_word_t stores;
    gba_word_t rounds;
    gba_word_t taken;
    gba_word_t calls;
    /* Guards ports and allocation. Taken before the lock of a group. A process has more than one
     * lock of a group only under this lock. */
    _Alignas(128) pthread_mutex_t lock;
    _Alignas(128) struct gba_model model;
    struct gba_sim_group group[GBA_GROUPS];
    /* 1 + the group that a place belongs to; 0: the place is free. Taken under the locks of the
     * device and of the group; freed under the lock of the group. */
    gba_word_t home[GBA_SIM_PLACES];
    struct gba_sim_port port[GBA_PORTS_MAX];
    _Alignas(4096) struct gba_sim_place place[GBA_SIM_PLACES];
};

struct gba_sim_dev {
    struct gba_dev dev;
    struct gba_sim_segment *segment;
    struct gba_descriptor file; /* the memfd: kept open, so that other processes find it */
    bool faulty;                /* an option changes arrivals or release stores */
    bool delayed;               /* an option needs the member's poll */
    bool lack_reported;         /* see gba_sim_place_reserve */
    bool created;               /* this open made the simulator */
    gba_word_t port; /* pid << 32 | holder, of the process that claimed it: see gba_sim_holder */
    uint64_t job;
};

struct gba_sim_membership {
    struct gba_membership membership;
    struct gba_sim_dev *dev;
    uint32_t place;
    uint32_t port; /* that joined; another process may arrive through it, such as a child of fork */
};

/* Whether the device is dead. A dead device stays dead. Any process may set this at any time: load
 * it under the lock of a group where an action must not follow the death. */
static inline bool gba_sim_dead(struct gba_sim_segment *segment)
{
    return 0 != gba_word_load_relaxed(&segment->dead);
}

/* A holder is 1 + a port. This one is nobody. */
#define GBA_SIM_NOBODY 0u

/* --- alloc.c --- */

gba_status_t gba_sim_alloc(struct gba_dev *dev, const gba_group_request_t *asked,
                           gba_group_handle_t *handle);

/* --- port.c --- */

/* Take down the ports of dead processes, with all memberships and allocations that they hold. A
 * port stays if a group cannot be locked. reap: thread-safe. reap_locked: under the device's lock.
 */
void gba_sim_reap(struct gba_sim_dev *dev);
void gba_sim_reap_locked(struct gba_sim_segment *segment);

/* The holder of the calling process; GBA_SIM_NOBODY: it has no port. A child of fork uses the
 * device that its parent opened, but not its port: the death of one must not count as the death of
 * the other. Thread-safe. */
uint32_t gba_sim_holder(const struct gba_sim_dev *dev);

/* gba_sim_holder, with a port claimed if the process has none. Returns GBA_OK, GBA_ERR_BUSY
 * (logged: all ports are in use) or GBA_ERR_IO. Thread-safe. Not under the device's lock. */
gba_status_t gba_sim_port_claim(struct gba_sim_dev *dev, uint32_t *holder);

/* Take down the port of the calling process, if it has one. */
void gba_sim_port_release(struct gba_sim_dev *dev);

/* Free a place if all its members have left and no group uses it any more. Under the lock of the
 * group to which the place belongs. */
void gba_sim_place_put(struct gba_sim_segment *segment, uint32_t group, uint32_t place);

/* The process of a holder; 0: none. */
uint32_t gba_sim_holder_pid(struct gba_sim_segment *segment, uint32_t holder);

/* --- segment.c --- */

/*
 * Attach to the simulator of that name or job, or make it, but not for a name "@KEY". On GBA_OK
 * sets dev->segment and dev->file. Returns GBA_OK, GBA_ERR_NO_DEVICE (no simulator has the KEY), or
 * (logged) GBA_ERR_BUSY (other options), _VERSION, _NOMEM, _PERM or
 * _IO. Blocks for 10 s at most, while another process makes the simulator.
 */
gba_status_t gba_sim_segment_open(struct gba_sim_dev *dev, const struct gba_dev_path *path,
                                  const char *job);
void gba_sim_segment_close(struct gba_sim_dev *dev);

/* Reserve the memory of a place without its slots, or of a member's slot. Returns GBA_OK, or
 * GBA_ERR_NOMEM (logged; for a place only once, because its team repeats the request). For a place:
 * under the device's lock. */
gba_status_t gba_sim_place_reserve(struct gba_sim_dev *dev, uint32_t place);
gba_status_t gba_sim_slot_reserve(struct gba_sim_dev *dev, uint32_t place, uint32_t member);

/* The bus address of a slot, which is its offset in the segment; and the slot of an address, or
 * NULL. Pure. */
uint64_t gba_sim_slot_address(uint32_t place, uint32_t member);
struct gba_sim_slot *gba_sim_slot_at(struct gba_sim_segment *segment, uint64_t address);

/* --- find.c --- */

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
 * Pass each open file of that name to `take`. take returns GBA_OK: it keeps the file;
 * GBA_INPROGRESS: not the right file; an error ends the search. Returns the last status of `take`;
 * GBA_INPROGRESS if there was no such file; GBA_ERR_IO or GBA_ERR_NOMEM (logged).
 * scope: a search in all processes reads thousands of links, which takes milliseconds. A search in
 * the nearest processes is enough where another process has just made the file.
 */
enum gba_sim_scope { GBA_SIM_NEAR, GBA_SIM_ALL };
gba_status_t gba_sim_find(const char *id, enum gba_sim_scope scope,
                          gba_status_t (*take)(void *ctx, int file), void *ctx);

/* The device path of the simulator with that open file, for gba_device_init. link: the target of a
 * link in /proc/PID/fd. Returns false if the file is no simulator of this user and host. Pure, but
 * for the namespaces of this process. Thread-safe. */
bool gba_sim_identify(const char *link, char *path, size_t len);

/*
 * Take the right to make that simulator. One process has it at a time, until it closes the returned
 * descriptor or dies. Never blocks. Returns -1 on failure: with errno EADDRINUSE another process
 * has the right.
 */
int gba_sim_maker_lock(const char *id);

/* --- lock.c --- */

/* Initialise a robust lock that processes share. Returns 0 or an errno. */
int gba_sim_lock_init(pthread_mutex_t *lock);

/*
 * Lock a group. If the last holder was killed, its unfinished change is undone first. Acquire;
 * pairs with the unlock by the previous holder. Returns GBA_OK or GBA_ERR_IO (logged: the segment
 * is damaged).
 */
gba_status_t gba_sim_group_lock(struct gba_sim_segment *segment, uint32_t group);
/* gba_sim_group_lock, for a call that needs a live device. Returns GBA_ERR_DEAD, without the lock,
 * if the device is dead. */
gba_status_t gba_sim_group_lock_alive(struct gba_sim_segment *segment, uint32_t group);
void gba_sim_group_unlock(struct gba_sim_segment *segment, uint32_t group);

gba_status_t gba_sim_device_lock(struct gba_sim_segment *segment);
void gba_sim_device_unlock(struct gba_sim_segment *segment);

/*
 * The journal of a group. begin: from here on changes can be undone. end: commit them. undo: undo
 * them. what: GBA_SIM_JOURNAL_*, or 0 if nothing changes. Under the group's lock.
 */
void gba_sim_journal_begin(struct gba_sim_segment *segment, uint32_t group, uint32_t what);
/* begin, for taking the group back and moving it to the place `next`. An undo completes that. */
void gba_sim_journal_reclaim(struct gba_sim_segment *segment, uint32_t group, uint32_t next);
void gba_sim_journal_end(struct gba_sim_segment *segment, uint32_t group);
void gba_sim_journal_undo(struct gba_sim_segment *segment, uint32_t group);

/* Take a group back from its members, as its journal describes. Restartable. Under the group's
 * lock. */
void gba_sim_reclaim(struct gba_sim_segment *segment, uint32_t group);

/* --- bus.c --- */

void gba_sim_bus_arrive(struct gba_membership *membership, uint64_t value);
void gba_sim_bus_poll(struct gba_membership *membership);
gba_status_t gba_sim_bus_read(struct gba_dev *dev, uint32_t address, unsigned width,
                              uint64_t *value);
gba_status_t gba_sim_bus_write(struct gba_dev *dev, uint32_t address, unsigned width,
                               uint64_t value);

/* --- fault.c --- */

/* Whether two sets of options differ. Pure. */
bool gba_sim_options_differ(const struct gba_sim_options *a, const struct gba_sim_options *b);
/* Print the options as spelled in a path, "?groups=3&seed=7", without those at their defaults; "no
 * options" if none remain. Truncated to len. */
void gba_sim_options_print(const struct gba_sim_options *set, char *text, size_t len);

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
/* Make all pending stores, due or not: none follows later. Under the group's lock. */
void gba_sim_fault_flush(struct gba_sim_slot *slot);
/* Whether gba_sim_fault_deliver has a store to make. Needs no lock. Acquire: pairs with the release
 * in gba_sim_fault_release. */
bool gba_sim_fault_due(struct gba_sim_slot *slot);

/* --- process.c --- */

/* The identity of this process. */
struct gba_sim_process gba_sim_process_self(void);
/* Whether that process is alive; true if in doubt. */
bool gba_sim_process_alive(struct gba_sim_process process);
/* CLOCK_MONOTONIC in ns, the same for all processes of the host. */
uint64_t gba_sim_clock_ns(void);

#endif
