/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams, through the interface that runtimes use: members as threads (thread_oob.h), the messages
 * between hosts in memory (harness_net.c), and simulated devices that fail on demand
 * (harness_device.c). Only the ids of the teams need the linker (notification_harness.h).
 */
#ifndef GBA_TESTS_TEAM_HARNESS_H
#define GBA_TESTS_TEAM_HARNESS_H

#include <pthread.h>
#include <unistd.h>

#include "gba/base/order.h"
#include "gba/gba.h"
#include "tests/suite.h"
#include "tests/unit/team/thread_oob.h"

#define HARNESS_DEVICES  3u
#define HARNESS_MEMBERS  32u
#define HARNESS_SLOTS    64u
#define HARNESS_CORES    16u
#define HARNESS_IDS      64u /* ids that a team may use at each registration */
#define HARNESS_REQUESTS 64u
#define NOBODY           UINT32_MAX

/* Calls of a device (gba/dev/dev_ops.h). */
enum harness_call {
    HARNESS_ALLOC,
    HARNESS_JOIN,
    HARNESS_MAP,
    HARNESS_CONFIGURE,
    HARNESS_INSPECT,
    HARNESS_CANCEL,
    HARNESS_CALLS
};

/* The state that all members of one test share. */
struct harness {
    gba_params_t params;
    gba_device_t *switches[HARNESS_DEVICES];
    gba_device_t *device; /* the first of them */
    gba_device_t
        *devices[HARNESS_MEMBERS];     /* the device of a member that uses another one, else NULL */
    unsigned reaches[HARNESS_MEMBERS]; /* the switches at which a member has devices, a bit for
                                          each, if it has several; else 0 */
    bool oversubscribed;
    uint32_t cores; /* of each member, with gba_cores; 0: barriers of members only */
    uint32_t host[HARNESS_MEMBERS]; /* the host of a member */
    uint32_t rounds, late_ms;
    bool (*late_until)(void); /* whether the late member has waited long enough, or NULL */
    uint32_t keeps; /* the messages of a member leave it at its n-th call after the last message */
    bool accounts;  /* close transports only where no member sends yet, so count their messages */
    bool until_death;     /* after the round in which the device dies: this many more rounds */
    uint64_t id;          /* of the team, set by notifications_start */
    bool past;            /* also rounds past the team, on GBA_PATH_FALLBACK */
    uint32_t steps_every; /* each n-th barrier is made in steps, as a nonblocking one; 0: none */
    /* Only each n-th barrier is blocking, and only there the members can agree on another path; 0:
     * all barriers are. */
    uint32_t blocks_every;
    /* Trials: */
    bool own_barrier;    /* that of the runtime is a candidate */
    uint32_t candidates; /* their number; their costs are made up; 0: the real costs */
    uint32_t fastest[HARNESS_MEMBERS]; /* the candidate that has the lowest cost for a member */
    gba_word_t split;                  /* members that have found different paths after a trial */
    void (*votes)(void);               /* a member calls it before it votes on a batch, or NULL */
    void (*before)(struct harness *w,
                   uint32_t round); /* member 0 calls it before a round; may be NULL */
    const char *expected;           /* in `why` */
    /* The members on which something fails, or NOBODY: */
    uint32_t no_software, no_host, no_attach, no_remote, no_open, no_device;
    struct { /* the call of the device that fails; see harness_fail */
        gba_device_t *device;
        enum harness_call call;
        uint32_t member;
        gba_status_t status;
        bool last; /* a member fails only when the others have mapped their flags */
    } fault;
    struct { /* other users of the groups, and the rounds before which they act */
        gba_device_t *device;
        gba_group_handle_t handle[32];
        uint32_t held, free_before, take_before;
    } others;
    struct { /* the devices that die, a bit for each, and when: so long after member 0 has entered
                that round; 0: also before the team has a group */
        unsigned which, after_us;
        uint32_t from_round;
        bool in_lock; /* by a process that is killed while it changes the device */
        pthread_t thread;
    } kill;
    struct harness_dev_ops *dev_ops;
    /* The outcome: */
    gba_status_t reason[HARNESS_MEMBERS];
    gba_word_t calls[HARNESS_CALLS]; /* of the devices */
    gba_word_t mapped;               /* flags, since this was reset */
    gba_group_request_t request[HARNESS_REQUESTS];
    gba_status_t returned[HARNESS_MEMBERS];
    gba_path_t path[HARNESS_MEMBERS];
    gba_team_stats_t stats[HARNESS_MEMBERS];
    uint32_t fallback_barriers[HARNESS_MEMBERS]; /* barriers that did not use the team */
    uint32_t moved[HARNESS_MEMBERS]; /* the last round that ended in a change of the path */
    char why[HARNESS_MEMBERS][640];
    double cpu[HARNESS_MEMBERS]; /* processor seconds of this thread in its barriers */
    gba_word_t entered[HARNESS_MEMBERS][HARNESS_CORES];
    gba_word_t early;  /* exits before all members had entered */
    gba_word_t sent;   /* messages */
    gba_word_t unread; /* transports closed with messages outstanding or unread, and epochs that a
                          member has used before */
    uint32_t
        kept[HARNESS_MEMBERS]; /* messages that have not left the member, which alone uses this */
    gba_word_t owed[HARNESS_MEMBERS]; /* messages sent by a member, minus those sent to it */
    pthread_mutex_t net_lock;
    struct harness_net *nets; /* of harness_net.c */
};

/*
 * Open simulated devices without faults, with all members on one host and the first device.
 * harness_on: one device, or NULL: none. harness_of_leaders: one device, whose group is among the
 * node leaders even if a group of all members is possible. harness_of_domains: three devices, for
 * switch domains. harness_end checks that no member has kept a group, and frees the harness. The
 * members must finish within five minutes.
 */
struct harness *harness_on(const char *path);
struct harness *harness_of_leaders(const char *path);
struct harness *harness_of_domains(const char *first, const char *second, const char *third);
void harness_end(struct harness *w);

/* A test with that harness, which is its w. */
#define HARNESS_TEST(name, make)                \
    static void name##_with(struct harness *w); \
    TEST(name)                                  \
    {                                           \
        struct harness *w = make;               \
                                                \
        name##_with(w);                         \
        harness_end(w);                         \
    }                                           \
    static void name##_with(struct harness *w)

/* From now on that call of that device fails for that member of a group, or, if NOBODY, for all.
 * One fault at a time. GBA_OK: no call fails. */
void harness_fail(struct harness *w, gba_device_t *device, enum harness_call call, uint32_t member,
                  gba_status_t status);

/* How often the members have made that call. */
uint64_t harness_calls(const struct harness *w, enum harness_call call);

/* The distribution of members over hosts: dealt out in turn, in blocks, unequal, or all but some
 * together. harness_place: the first `used` devices are dealt out to the hosts in turn. */
void harness_hosts(struct harness *w, uint32_t size, uint32_t hosts, int layout);
void harness_place(struct harness *w, uint32_t size, uint32_t hosts, uint32_t used, int layout);

/* The run of one member: for thread_oob_run, or called by harness_run. */
void harness_member(struct thread_oob_member *self, const gba_oob_t *oob);

/* Run the members, with failure notifications. All must end on that path, for one reason that
 * contains w->expected, without an early exit, and leave nothing behind. */
#define HARNESS_ANY_PATH ((gba_path_t)-1)
void harness_run(struct harness *w, uint32_t size, gba_path_t path);

/* harness_run to a group of the device. The last change of the path ended that round. */
void harness_run_moving(struct harness *w, uint32_t size, uint32_t round, uint64_t renegotiations);

/* Let the first collective call of a run fail, in the next run the second one, and so on until no
 * call fails. All members must return the same, and leave nothing behind. Returns the number of
 * runs. */
int harness_fail_calls(struct harness *(*make)(int way), int way, uint32_t size);

/* The number of arrivals and releases that members sent again. Only the first `leaders` may have
 * done so. */
uint64_t harness_retries(const struct harness *w, uint32_t size, uint32_t leaders);

/* Let others allocate all groups of the device, and free them. */
void others_take(struct harness *w, gba_device_t *device);
void others_free(struct harness *w);

/* Let the device die, or come back. */
void harness_device_dead(gba_device_t *device, bool dead);

/* Make the device look like another port of the switch of `other`. */
void harness_device_join(gba_device_t *device, const gba_device_t *other);

/* The mappings of teams' memory in this process. */
int harness_segments(void);

/* Between the files of the harness: the open function of the transport (gba_remote_t), the end of
 * all messages, the events that are planned before a round, and the thread that kills devices. */
gba_status_t harness_net_open(void *ctx, const gba_remote_group_t *group,
                              struct gba_transport **transport);
void harness_net_end(struct harness *w);
void harness_before_round(struct harness *w, uint32_t round);
void killer_start(struct harness *w);
void killer_join(struct harness *w);

#endif
