/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams with software barriers, through the interface that runtimes use: members as threads, and
 * the messages between hosts in memory. Functions that the linker substitutes (-Wl,--wrap)
 * determine the host of a thread, and the members that cannot attach to shared memory.
 */
#ifndef GBA_TESTS_TEAM_HARNESS_H
#define GBA_TESTS_TEAM_HARNESS_H

#include "gba/base/park.h"
#include "gba/gba.h"
#include "gba/spec/gba_regs.h"
#include "tests/unit/thread_oob.h"

#define HARNESS_MEMBERS 32u
#define HARNESS_SLOTS   64u
#define HARNESS_IDS     64u /* ids that a team may use at each registration */
#define NOBODY          UINT32_MAX

/* The state that all members of one test share. */
struct harness {
    gba_params_t params;
    gba_device_t *device;
    gba_device_t *devices[HARNESS_MEMBERS]; /* the member with another device, else NULL */
    bool oversubscribed;
    uint32_t host[HARNESS_MEMBERS]; /* the host of a member */
    uint32_t rounds, late_ms;
    bool (*late_until)(void); /* whether the late member has waited long enough, or NULL */
    uint32_t keeps;   /* a member's messages leave it at its n-th call after the last of them */
    bool accounts;    /* close transports only where no member sends yet, so count their messages */
    bool until_death; /* this many rounds from the one in which the device dies */
    uint64_t id;      /* of the team, set by notifications_start */
    bool past;        /* also rounds past the team, on GBA_PATH_FALLBACK */
    uint32_t steps_every; /* each n-th barrier is made in steps, as a nonblocking one; 0: none */
    /* All barriers but each n-th are, and only in those the members can agree on another path; 0:
     * none. */
    uint32_t blocks_every;
    void (*before)(struct harness *w,
                   uint32_t round); /* member 0 calls it before a round; may be NULL */
    const char *expected;           /* in `why` */
    /* The members on which something fails, or NOBODY: */
    uint32_t no_software, no_host, no_attach, no_remote, no_open, no_device;
    /* The outcome: */
    gba_status_t returned[HARNESS_MEMBERS];
    gba_path_t path[HARNESS_MEMBERS];
    gba_team_stats_t stats[HARNESS_MEMBERS];
    uint32_t elsewhere[HARNESS_MEMBERS]; /* barriers past the team */
    uint32_t moved[HARNESS_MEMBERS];     /* the last round that ended in a move to another path */
    char why[HARNESS_MEMBERS][256];
    double cpu[HARNESS_MEMBERS]; /* processor seconds of this thread in its barriers */
    gba_word_t entered[HARNESS_MEMBERS];
    gba_word_t early;                 /* exits before all members had entered */
    gba_word_t sent;                  /* messages */
    gba_word_t unread;                /* transports closed with messages outstanding or unread */
    uint32_t kept[HARNESS_MEMBERS];   /* messages still at the member, which alone uses this */
    gba_word_t owed[HARNESS_MEMBERS]; /* messages sent by a member, minus those sent to it */
    gba_word_t word[2][HARNESS_MEMBERS][HARNESS_SLOTS][2]; /* by channel, receiver, slot, parity */
};

/* A harness without faults, all members on one host. The caller frees it. */
struct harness *harness_new(void);

/* The run of one member: for thread_oob_run, or called by harness_run. */
void harness_member(struct thread_oob_member *self, const gba_oob_t *oob);

/* Run the members. All must end on that path, for one reason that contains w->expected, without an
 * early exit, and leave nothing behind. */
void harness_run(struct harness *w, uint32_t size, gba_path_t path);

/* Mark a release flag as the driver does when it takes the group back. The member may be awake. */
static inline void harness_flag_reclaim(gba_flag_t *flag)
{
    gba_flag_store_release(flag, gba_flag_load_relaxed(flag) | GBA_FLAG_RECLAIMED);
    gba_flag_unpark(flag, &(flag + 1)->device_order);
}

/* The mappings of teams' memory in this process. */
int harness_segments(void);

#endif
