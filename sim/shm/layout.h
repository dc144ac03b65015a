/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout of the segment that the processes share. */
#ifndef GBA_SIM_SHM_LAYOUT_H
#define GBA_SIM_SHM_LAYOUT_H

#include <pthread.h>
#include <stddef.h>

#include "gba/base/order.h"
#include "gba/base/park.h"
#include "gba/dev/dev_ops.h"
#include "sim/model/model.h"
#include "sim/shm/find.h"

/* "GBAsim" and a number, little endian. Written last, when the segment is ready for use. */
#define GBA_SIM_MAGIC 0x00316d6973414247ull
/* Incremented with every change of the structures below that keeps their size. */
#define GBA_SIM_LAYOUT 14u

struct gba_sim_header {
    gba_word_t magic;
    uint32_t layout;
    uint32_t size; /* of struct gba_sim_segment; also differs between 32-bit and 64-bit processes */
    char id[GBA_SIM_ID_MAX];
    uint32_t clock;                 /* gba_sim_clock_id, for which an id has no room */
    struct gba_sim_options options; /* options of the maker */
};

/* One group. The lock guards the rest, the model's group of the same number, and the slots of this
 * group. */
struct gba_sim_group {
    _Alignas(128) pthread_mutex_t lock;
    bool damaged; /* a process was killed while it held the lock: the device is dead */
    uint64_t job; /* that allocated the group. Of no meaning while the group is free */
};

/* The release flag of one member, and the delayed stores to it. Written under the lock of the
 * group. The member reads it without the lock. */
struct gba_sim_slot {
    gba_flag_t flag;
    gba_word_t sleeper; /* count of sleepers, for gba_flag_park and gba/team/barrier.c */
    uint64_t line[6];   /* padding: the member polls the line of the flag */
    gba_word_t pending; /* GBA_SIM_SLOT_FULL | sequence, 0 = none */
    gba_word_t due;     /* time at which `pending` is stored: CLOCK_MONOTONIC, ns */
    uint64_t unused[6];
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

/* The process that has a port of the model. Claimed and freed with all groups locked. */
struct gba_sim_port {
    gba_word_t pid; /* of its process; 0: the port is free */
    gba_word_t start;
};

/* The segment: 3.2 MB of memory, reserved at creation. */
struct gba_sim_segment {
    struct gba_sim_header header;
    gba_word_t dead;     /* 1: the device stopped answering */
    gba_word_t arrivals; /* counts of the "every nth" faults and of the death, up to `calls` */
    gba_word_t stores;
    gba_word_t rounds;
    gba_word_t taken;
    gba_word_t calls;
    _Alignas(128) struct gba_model model;
    struct gba_sim_group group[GBA_GROUPS];
    struct gba_sim_port port[GBA_PORTS_MAX];
    _Alignas(4096) struct gba_sim_slot slot[GBA_GROUPS][GBA_MEMBERS_MAX];
};

/* Whether the device is dead. A dead device stays dead. Any process may set this at any time: load
 * it under the lock of a group where an action must not follow the death. */
static inline bool gba_sim_dead(struct gba_sim_segment *segment)
{
    return 0 != gba_word_load_relaxed(&segment->dead);
}

#endif
