/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams with software barriers, through the interface that runtimes use: members as threads, and
 * the messages between hosts in memory. Which host a thread is on, and who cannot attach to shared
 * memory, is said by functions that the linker puts in the place of the real ones (-Wl,--wrap).
 */
#ifndef GBA_TESTS_TEAM_WORLD_H
#define GBA_TESTS_TEAM_WORLD_H

#include "gba/base/order.h"
#include "gba/gba.h"
#include "tests/unit/thread_oob.h"

#define WORLD_MEMBERS 32u
#define WORLD_SLOTS   64u
#define WORLD_IDS     64u /* ids that a team may use, each time */
#define NOBODY        UINT32_MAX

/* What all members of one test share. */
struct world {
    gba_params_t params;
    gba_device_t *device;
    gba_device_t *devices[WORLD_MEMBERS]; /* of a member that has another one, else NULL */
    bool crowded;
    uint32_t host[WORLD_MEMBERS]; /* which host a member is on */
    uint32_t rounds, late_ms;
    bool (*late_until)(void); /* whether who is late has waited long enough, or NULL */
    bool accounts;    /* transports are closed only where nobody sends yet: count their messages */
    bool until_death; /* so many rounds from the one on in which the device dies */
    /* The runtime carries notices: the id of the team; and to wait for the end of a round of a dead
     * device. 0 and NULL: it does not. */
    uint64_t id;
    gba_status_t (*outlive)(struct world *w, gba_team_t *team, uint32_t rank);
    bool past;            /* rounds past the team as well, on GBA_PATH_CALLER */
    uint32_t steps_every; /* each n-th barrier is made in steps, as a nonblocking one; 0: none */
    /* All but each n-th are, and in the others only the members can agree on another path; 0: no.
     */
    uint32_t blocks_every;
    void (*before)(struct world *w, uint32_t round); /* member 0 calls it before a round, or NULL */
    const char *expected;                            /* in `why` */
    /* Members on which something fails, or NOBODY: */
    uint32_t no_software, no_host, no_attach, no_remote, no_open, no_device;
    /* What came of it: */
    gba_status_t returned[WORLD_MEMBERS];
    gba_path_t path[WORLD_MEMBERS];
    gba_team_stats_t stats[WORLD_MEMBERS];
    uint32_t elsewhere[WORLD_MEMBERS]; /* barriers past the team */
    uint32_t moved[WORLD_MEMBERS];     /* the last round at whose end the members met and moved */
    char why[WORLD_MEMBERS][256];
    double cpu[WORLD_MEMBERS]; /* seconds of this thread in its barriers */
    gba_word_t entered[WORLD_MEMBERS];
    gba_word_t early;  /* exits before all had entered */
    gba_word_t sent;   /* messages */
    gba_word_t unread; /* transports closed with messages still to come, or to be read */
    gba_word_t owed[WORLD_MEMBERS]; /* messages sent by a member, less those sent to it */
    gba_word_t completed_late;      /* rounds that ended for a member in gba_team_recover */
    gba_word_t word[2][WORLD_MEMBERS][WORLD_SLOTS][2]; /* by channel, receiver, slot, parity */
};

/* A world where nothing fails, all on one host. The caller frees it. */
struct world *world_new(void);

/* One member's life: to be run with thread_oob_run, or by world_run. */
void world_member(struct thread_oob_member *self, const gba_oob_t *oob);

/* Run the members: all must end on that path, for one reason that contains w->expected, without an
 * early exit, and leave nothing. */
void world_run(struct world *w, uint32_t size, gba_path_t path);

/* Mappings of teams' memory in this process. */
int world_segments(void);

#endif
