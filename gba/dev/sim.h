/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated device: the model and the driver's records in a segment of shared memory that the
 * processes of a job, or several jobs of one user on one host, map. Each process runs the device
 * itself, under the lock of the group that it touches; there is no daemon and no thread.
 *
 *   sim.c          the ops table: device and seats
 *   sim_alloc.c    who gets a group, and what is taken back from the dead and from idle teams
 *   sim_bus.c      what happens on the bus: arrivals, release stores, register accesses
 *   sim_fault.c    latency, jitter and injected faults
 *   sim_lock.c     robust locks, and the journal for what a killed process left half done
 *   sim_segment.c  makes the segment, or attaches to it
 *   sim_find.c     finds what others have made
 *   sim_process.c  which process, and whether it still lives
 */
#ifndef GBA_DEV_SIM_H
#define GBA_DEV_SIM_H

#include <pthread.h>
#include <stddef.h>

#include "gba/base/order.h"
#include "gba/base/park.h"
#include "gba/dev/dev_ops.h"
#include "sim/model/driver.h"
#include "sim/model/model.h"

/* "GBAsim" and a number, little endian; in place when the segment is ready to be used. */
#define GBA_SIM_MAGIC 0x00316d6973414247ull
/* Counts up with every change of the structures below that does not change their size. */
#define GBA_SIM_LAYOUT 5u

/* See gba_sim_id: five hexadecimal numbers of 8 digits, a name, and what is between them. */
#define GBA_SIM_ID_MAX 92

struct gba_sim_header {
    gba_word_t magic;
    uint32_t layout;
    uint32_t size; /* of struct gba_sim_segment: also tells 32-bit from 64-bit processes */
    char id[GBA_SIM_ID_MAX];
    uint32_t clock;                 /* gba_sim_clock_id: what an id has no room for */
    struct gba_sim_options options; /* the creator's */
};

/* What a call may change, as it was before, so that it can be taken back. */
struct gba_sim_journal {
    gba_word_t what; /* GBA_SIM_JOURNAL_*; 0: nothing is under way */
    uint32_t place;  /* of head and seat */
    uint32_t member;
    uint32_t next;     /* the group's next place, for GBA_SIM_JOURNAL_RECLAIM */
    uint32_t reclaims; /* its count then */
    struct gba_model_core core;
    struct gba_driver_head head;
    struct gba_driver_seat seat;
    uint64_t address; /* entry of the release table */
};

#define GBA_SIM_JOURNAL_CORE    1u  /* core */
#define GBA_SIM_JOURNAL_HEAD    2u  /* head */
#define GBA_SIM_JOURNAL_SEAT    4u  /* seat and release address of `member` */
#define GBA_SIM_JOURNAL_RESET   8u  /* a RESET: it is completed and not taken back */
#define GBA_SIM_JOURNAL_RECLAIM 16u /* likewise: members may have seen that they lost the group */
#define GBA_SIM_JOURNAL_GROUP   (GBA_SIM_JOURNAL_CORE | GBA_SIM_JOURNAL_HEAD)

/* The lock guards the journal, the model's group of the same number, and the places that have their
 * home here. */
struct gba_sim_group {
    _Alignas(128) pthread_mutex_t lock;
    uint32_t place;    /* of the group's record; an arrival reads it, so it is beside the lock */
    uint32_t reclaims; /* how often the group was taken back */
    struct gba_sim_journal journal;
};

/* The release flag of one member, and the stores to it that are still on their way. Written under
 * the lock of the group; read by the member without. */
struct gba_sim_slot {
    gba_word_t flag;
    gba_word_t sleeper;  /* counts who sleeps, see gba_word_park; gba/wait.c: behind it */
    uint64_t line[6];    /* the member polls the flag: nothing else in its line */
    gba_word_t pending;  /* GBA_SIM_SLOT_FULL | sequence, 0 = none */
    gba_word_t due;      /* of pending: CLOCK_MONOTONIC, ns */
    gba_word_t repeated; /* to be stored once more when it is stale; as pending */
    gba_word_t awaited;  /* the round that the member waits for, noted by itself */
    uint64_t unused[4];
};
#define GBA_SIM_SLOT_FULL (1ull << 32)
_Static_assert(sizeof(struct gba_sim_slot) == GBA_FLAG_STRIDE, "one slot per stride");
_Static_assert(offsetof(struct gba_sim_slot, sleeper) == sizeof(gba_word_t), "behind the flag");

/* The release store of the device; it wakes a member that sleeps, which hardware cannot. */
static inline void gba_sim_flag_store(struct gba_sim_slot *slot, uint32_t sequence)
{
    gba_word_store_release(&slot->flag, sequence);
    gba_word_unpark(&slot->flag, &slot->sleeper);
}

/*
 * One life of a group: the driver's record of it, and the flags of its members. A group that is
 * taken back moves to another place, and the old one stays as it is until the last of its members
 * has left or died: it may still look at its flag, and the next team's rounds would let it out of
 * its own.
 */
struct gba_sim_place {
    struct gba_driver_record record;
    _Alignas(4096) struct gba_sim_slot slot[GBA_MEMBERS_MAX];
};

/* One for each group, and one for each team that has lost its group and not left it yet: it leaves
 * when it next has a barrier, but an idle one may never have. Is there no place, no group is taken
 * back. */
#define GBA_SIM_PLACES 256u

/*
 * 30 MB of address space. The part before `place`, 0.2 MB, is reserved at creation; of a place only
 * the pages with seats and flags in use are, 8 KB for a group of 32 members, so a simulator with a
 * few groups costs under 1 MB.
 */
struct gba_sim_segment {
    struct gba_sim_header header;
    gba_word_t dead;     /* 1: the device no longer answers */
    gba_word_t arrivals; /* what the "every nth" faults and the death have counted so far */
    gba_word_t stores;
    gba_word_t rounds;
    gba_word_t taken;
    gba_word_t calls;
    /* Of the device page (model.bad_access), and of who allocates: taken before that of a group. */
    _Alignas(128) pthread_mutex_t lock;
    _Alignas(128) struct gba_model model;
    struct gba_sim_group group[GBA_GROUPS];
    /* 1 + the group that a place belongs to, 0: it is free. Taken under the locks of the device and
     * of the group, given back under that of the group. */
    gba_word_t home[GBA_SIM_PLACES];
    _Alignas(4096) struct gba_sim_place place[GBA_SIM_PLACES];
};

struct gba_sim_dev {
    struct gba_dev dev;
    struct gba_sim_segment *segment;
    int file;                     /* the memfd: kept open, since that is how others find it */
    bool faulty;                  /* an option changes what becomes of arrivals or release stores */
    bool delayed;                 /* an option needs the member's poll */
    bool lack_told;               /* see gba_sim_record_reserve */
    struct gba_driver_owner self; /* who opened it */
    uint64_t job;
};

struct gba_sim_seat {
    struct gba_seat seat;
    struct gba_sim_dev *dev;
    uint32_t place;
};

/* For good, and any process may have found it so: looked at under the lock of a group if something
 * there must not happen after it. */
static inline bool gba_sim_dead(struct gba_sim_segment *segment)
{
    return 0 != gba_word_load_relaxed(&segment->dead);
}

static inline struct gba_driver_record *gba_sim_record(struct gba_sim_segment *segment,
                                                       uint32_t group)
{
    return &segment->place[segment->group[group].place].record;
}

/* --- sim.c --- */

/* Who calls. A child of fork uses the device that its parent opened, but it is not its parent, and
 * must not be taken for it when either of them dies. */
struct gba_driver_owner gba_sim_caller(const struct gba_sim_dev *dev);

/* --- sim_alloc.c --- */

/* Take back what dead processes hold; what could not be locked keeps it. */
void gba_sim_reap(struct gba_sim_dev *dev);

gba_status_t gba_sim_alloc(struct gba_dev *dev, const gba_group_request_t *asked,
                           gba_ticket_t *ticket);

/* Give a place back if all have left it and no group has it any more. Under the lock of the group
 * where it has its home. */
void gba_sim_place_put(struct gba_sim_segment *segment, uint32_t group, uint32_t place);

/* Take a group back from its members, as its journal says; may be begun anew. Under its lock. */
void gba_sim_reclaim(struct gba_sim_segment *segment, uint32_t group);

/* --- sim_segment.c --- */

/*
 * Attach to the simulator of that name or job, or make it. On GBA_OK sets dev->segment and
 * dev->file. GBA_ERR_BUSY (other options), _VERSION, _NOMEM, _PERM, _IO: logged.
 */
gba_status_t gba_sim_segment_open(struct gba_sim_dev *dev, const struct gba_dev_path *path,
                                  const char *job);
void gba_sim_segment_close(struct gba_sim_dev *dev);

/* Reserve the memory of a record for so many members, or of a member's slot. GBA_OK,
 * GBA_ERR_NOMEM (logged; for a record once, since its team asks again and again). Of a record:
 * under the device's lock. */
gba_status_t gba_sim_record_reserve(struct gba_sim_dev *dev, uint32_t place, uint32_t members);
gba_status_t gba_sim_slot_reserve(struct gba_sim_dev *dev, uint32_t place, uint32_t member);

/* The bus address of a slot is its offset in the segment; back again, NULL for any other address.
 */
uint64_t gba_sim_slot_address(uint32_t place, uint32_t member);
struct gba_sim_slot *gba_sim_slot_at(struct gba_sim_segment *segment, uint64_t address);

/* --- sim_find.c --- */

/*
 * What tells one simulator from another: user, host (namespaces) and name or job. Both NULL: it is
 * for this process alone. GBA_OK, GBA_ERR_IO (logged: no usable /proc).
 */
gba_status_t gba_sim_id(char id[GBA_SIM_ID_MAX], const char *name, const char *job);

/* Which clocks this process reads, and the start times of processes with them: processes of equal
 * numbers read the same. 0: there is but one kind here. */
uint32_t gba_sim_clock_id(void);

/* The name of the memfd of that simulator, without the prefix of the kernel. */
#define GBA_SIM_FILE_NAME "gba-sim:%s"

/*
 * Offer each open file of that name to `take`: GBA_OK it keeps the file, GBA_INPROGRESS it is not
 * the one; an error ends the search. Returns what `take` said last, GBA_INPROGRESS if there was
 * nothing, or GBA_ERR_IO (logged).
 */
gba_status_t gba_sim_find(const char *id, gba_status_t (*take)(void *ctx, int file), void *ctx);

/*
 * The right to make that simulator: one process has it at a time, until it closes the file or dies.
 * Never waits. -1: not now, errno is EADDRINUSE, or not at all.
 */
int gba_sim_maker_lock(const char *id);

/* --- sim_lock.c --- */

/* A lock that outlives its holder and is shared between processes. 0 or an errno. */
int gba_sim_lock_init(pthread_mutex_t *lock);

/*
 * Lock a group. If its last holder was killed, what he left half done is taken back first.
 * Acquire; pairs with the unlock of the holder before. Returns GBA_OK or GBA_ERR_IO (logged: the
 * segment is damaged).
 */
gba_status_t gba_sim_group_lock(struct gba_sim_segment *segment, uint32_t group);
/* The same for what the device must live for: GBA_ERR_DEAD, and not locked, if it does not. */
gba_status_t gba_sim_group_lock_alive(struct gba_sim_segment *segment, uint32_t group);
void gba_sim_group_unlock(struct gba_sim_segment *segment, uint32_t group);

gba_status_t gba_sim_device_lock(struct gba_sim_segment *segment);
void gba_sim_device_unlock(struct gba_sim_segment *segment);

/*
 * begin: from here on a change can be taken back. what: GBA_SIM_JOURNAL_*; place, member: where the
 * record is that is touched, and whose seat, if there is one. end: it stands. undo: take it back.
 * Under the group's lock.
 */
void gba_sim_journal_begin(struct gba_sim_segment *segment, uint32_t group, uint32_t what,
                           uint32_t place, uint32_t member);
/* The same for taking the group back and moving it to the place `next`: that is completed. */
void gba_sim_journal_reclaim(struct gba_sim_segment *segment, uint32_t group, uint32_t next);
void gba_sim_journal_end(struct gba_sim_segment *segment, uint32_t group);
void gba_sim_journal_undo(struct gba_sim_segment *segment, uint32_t group);

/* --- sim_bus.c --- */

void gba_sim_bus_arrive(struct gba_seat *seat, uint64_t value);
void gba_sim_bus_poll(struct gba_seat *seat);
gba_status_t gba_sim_bus_read(struct gba_dev *dev, uint32_t address, unsigned width,
                              uint64_t *value);
gba_status_t gba_sim_bus_write(struct gba_dev *dev, uint32_t address, unsigned width,
                               uint64_t value);

/* --- sim_fault.c --- */

/* The first option that differs, for a log line; false if none does. */
bool gba_sim_options_differ(const struct gba_sim_options *a, const struct gba_sim_options *b,
                            char *message, size_t len);

/* Each counts one event of the whole device and says what becomes of it. Thread-safe. */
bool gba_sim_fault_lose_arrival(struct gba_sim_segment *segment);
bool gba_sim_fault_die_arrival(struct gba_sim_segment *segment);
bool gba_sim_fault_die(struct gba_sim_segment *segment);
void gba_sim_fault_call(struct gba_sim_segment *segment);
/* How long the release store of that number takes, in ns: latency and jitter. Pure. */
uint64_t gba_sim_fault_delay(const struct gba_sim_options *set, uint64_t count);
/* Make one release store, or what the options make of it. Under the group's lock. */
void gba_sim_fault_release(struct gba_sim_segment *segment, struct gba_sim_slot *slot,
                           uint32_t sequence);
/* Stores that are due now. Under the group's lock. */
void gba_sim_fault_deliver(struct gba_sim_slot *slot);
/* Those that are on their way, due or not: nothing comes after this. Under the group's lock. */
void gba_sim_fault_flush(struct gba_sim_slot *slot);
/* Whether gba_sim_fault_deliver has something to do. */
bool gba_sim_fault_due(struct gba_sim_slot *slot);

/* --- sim_process.c --- */

/* This process; start is 0 if the system does not tell. */
struct gba_driver_owner gba_sim_process_self(void);
/* Whether that process still lives; in doubt it does. */
bool gba_sim_process_alive(struct gba_driver_owner owner);
/* CLOCK_MONOTONIC, the same for all processes of the host, in ns. */
uint64_t gba_sim_clock_ns(void);

#endif
