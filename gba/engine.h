/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of the engine know of each other: the structures behind the handles of gba.h.
 */
#ifndef GBA_ENGINE_H
#define GBA_ENGINE_H

#include "gba/dev/dev_ops.h"
#include "gba/gba.h"
#include "gba/interim.h"
#include "gba/recover.h"
#include "gba/software.h"
#include "gba/spec/gba_regs.h"

struct gba_device {
    struct gba_dev *dev;
    char *path;                  /* as the caller gave it */
    char *job;                   /* of the attributes, or NULL */
    uint8_t uuid[GBA_UUID_SIZE]; /* does not change while the device is open */
    uint32_t groups, members_max;
    bool simulated;
    /* Only for devices of the process-wide list (device.c), under its lock: */
    unsigned references;
    struct gba_device *next;
};

struct gba_group {
    struct gba_device *device;
    struct gba_seat *seat;
};

/* All that an arrival and a poll touch, so it has a cache line for itself. */
struct gba_local_state {
    _Alignas(64) gba_word_t *flag;
    gba_mmio64_t *doorbell; /* NULL: through ops */
    const struct gba_dev_ops *ops;
    struct gba_seat *seat;
    uint32_t sequence; /* of the round under way, or of the last one */
    uint32_t member;
};

/* The arrival at round state->sequence; also when it is sent again. */
static inline void gba_state_arrive(const struct gba_local_state *state)
{
    uint64_t arrival = GBA_ARRIVAL(state->sequence, state->member);

    /* Release: what was written before the barrier is visible before the arrival is. Pairs with the
     * acquire in gba_state_poll of the others, by way of the device, which stores a release only
     * after it took all arrivals. */
    if (__builtin_expect(NULL != state->doorbell, 1))
        gba_mmio_write64(state->doorbell, arrival);
    else
        state->ops->arrive(state->seat, arrival);
}

static inline gba_status_t gba_state_poll(const struct gba_local_state *state)
{
    /* Acquire: pairs with the release in gba_state_arrive of every other member. */
    uint64_t flag = gba_word_load_acquire(state->flag);

    if (GBA_SEQ_REACHED((uint32_t)flag, state->sequence))
        return GBA_OK;
    if (NULL != state->ops->poll)
        state->ops->poll(state->seat);
    return GBA_INPROGRESS;
}

/*
 * Whether the group was taken back from this member: then its rounds no longer end. Only slow paths
 * ask; gba_state_poll looks at the low half alone, which stays as the last release left it.
 */
static inline bool gba_state_reclaimed(const struct gba_local_state *state)
{
    return 0 != (gba_word_load_acquire(state->flag) & GBA_FLAG_RECLAIMED);
}

struct gba_team {
    /* Arrive, and look up to `looks` times: chosen by the path, see wait.c. */
    gba_status_t (*attempt)(struct gba_team *team);
    uint32_t looks;
    struct gba_local_state *state; /* of a member of a group of all, else NULL */
    gba_path_t path;
    gba_status_t reason;           /* why that path */
    struct gba_software *software; /* on GBA_PATH_SOFT, or with a group of leaders, else NULL */
    int wait;                      /* gba_wait_t */
    bool crowded;
    bool under_way; /* a round that is not counted yet, but for those that end in attempt */
    uint32_t size, rank;
    /* Of the watchdog, see watch.c: */
    uint64_t watched;     /* the round that it looks at, counted from 1 */
    uint64_t began;       /* when it first looked, ns */
    uint64_t stuck_after; /* ns; 0: never */
    uint64_t stuck_due;
    bool stuck_told; /* this member has said that the round does not end */
    void (*name_member)(void *ctx, uint32_t rank, char *text, size_t len);
    void *name_ctx;
    uint64_t retry_due;    /* when it next looks at the registers */
    uint64_t retry_after;  /* ns */
    uint64_t retry_factor; /* grows while a round lasts */
    gba_group_t *group;
    uint64_t meet_at;       /* that many rounds: the members meet; UINT64_MAX: never. See offer.c */
    gba_word_t rounds;      /* completed; counted by the member, read by whoever answers notices */
    gba_team_stats_t stats; /* without the rounds */
    /* Since the last meeting, or the last loss of a group: */
    uint64_t elsewhere;  /* barriers that did not go through the team */
    uint64_t met_rounds; /* its rounds at that time */
    uint64_t met_ns;     /* when that was; 0: never */
    uint64_t pause;      /* of rank 0: barriers up to the next meeting */
    uint32_t nodes;      /* of the members, or of this island; 0: not known */
    bool apart;          /* they were found to be on several islands */
    gba_status_t loss;   /* why this member has given up the group; GBA_OK: it did not itself */
    bool inspect_failed; /* has been logged */
    struct gba_recovery *recovery; /* of a team with an id on a device path, else NULL */
    struct gba_interim interim;    /* of such a team, too, if it asked for that */
    char name[64];
    char instead[192]; /* without a group: what there is instead, in words */
    char why[352];
};

static inline uint64_t gba_team_rounds(const struct gba_team *team)
{
    return gba_word_load_relaxed(&team->rounds);
}

/* One more is complete. Returns their number. */
static inline uint64_t gba_team_complete(struct gba_team *team)
{
    uint64_t rounds = gba_team_rounds(team) + 1;

    /* Release: pairs with gba_notice_answer in another thread, which tells a member elsewhere that
     * all have arrived: what they wrote before is visible to this member, and so is to that one. */
    gba_word_store_release(&team->rounds, rounds);
    return rounds;
}

/* Of a group of all, or of one of the leaders that this member is; else NULL. */
static inline gba_group_t *gba_team_group(const struct gba_team *team)
{
    return NULL == team->software ? team->group : team->software->group;
}

static inline struct gba_local_state *gba_team_state(const struct gba_team *team)
{
    return NULL == team->software ? team->state : team->software->state;
}

/* The state of the member whose release is awaited now, or NULL. */
static inline struct gba_local_state *gba_team_awaits(const struct gba_team *team)
{
    if (NULL == team->software)
        return team->state;
    return gba_software_in_group(team->software) ? team->software->state : NULL;
}

/*
 * Take a seat of a group, up to the point where only arming is missing: join, map the flag, set its
 * first value. On failure nothing is held; member 0 has allocated the group, and gives it back.
 * Returns as gba_join_group, gba_dma_map and gba_local_state_init.
 */
gba_status_t gba_group_take(gba_device_t *device, const gba_ticket_t *ticket, uint32_t member,
                            uint32_t sequence, gba_group_t **group, gba_local_state_t **state);

/*
 * The watchdog of the round under way: to be called now and then, clock and all. Returns
 * GBA_INPROGRESS or GBA_ERR_DEAD; the latter again and again while a lost team waits for notices.
 */
gba_status_t gba_watch(struct gba_team *team);

/* The round has ended: say so if its delay was told. */
void gba_watch_over(struct gba_team *team);

/* Choose how the team waits; again whenever its path has changed. */
void gba_wait_init(struct gba_team *team);

/*
 * One number for status and rank, so that the least one is the lowest status and, of those, the
 * lowest rank. GBA_OK is not negative.
 */
static inline int64_t gba_outcome_encode(gba_status_t status, uint32_t rank)
{
    return (int64_t)status * INT64_C(0x100000000) + rank;
}

static inline uint32_t gba_outcome_rank(int64_t outcome)
{
    return (uint32_t)(outcome & 0xFFFFFFFF);
}

static inline gba_status_t gba_outcome_status(int64_t outcome)
{
    return (gba_status_t)((outcome - (int64_t)gba_outcome_rank(outcome)) / INT64_C(0x100000000));
}

#endif
