/* SPDX-License-Identifier: BSD-3-Clause */
/* An agreement in progress: its state, and how it is advanced and ends. */
#ifndef GBA_AGREE_AGREE_H
#define GBA_AGREE_AGREE_H

#include "gba/agree/plan.h"
#include "gba/agree/shape.h"
#include "gba/agree/trial.h"
#include "gba/failover/engine.h"
#include "gba/path/node.h"
#include "gba/transport/segment.h"

/* The exchange that is posted. loop.c has the order. */
enum gba_agree_state {
    GBA_AGREE_START, /* none yet */
    GBA_AGREE_FACTS,
    GBA_AGREE_SWITCHES,
    GBA_AGREE_LACKING,
    GBA_AGREE_LAYOUT,
    GBA_AGREE_HANDLES,
    GBA_AGREE_JOINED,
    GBA_AGREE_ARMED,
    GBA_AGREE_DONE
};

/*
 * The message of a node leader about its node, in an allgather. Members of its node read the first
 * half; members of its switch domain read the second half. Travels as bytes, see wire.c.
 */
struct gba_node_info {
    int64_t status; /* of any member: whether it has its shape, and its node */
    struct gba_segment_handle handle;
    int32_t group_status; /* why there is no group */
    uint32_t groups;      /* of the device */
    gba_group_handle_t group;
};

/* A path that a trial can take. */
struct gba_trial_candidate {
    struct gba_choice choice;
    uint32_t place; /* in the list of candidates */
    gba_path_t kind;
    struct gba_path_base *path; /* NULL: the fallback */
    char why[224];              /* as gba_team.words.path */
    uint64_t cost;              /* ps, the lowest of its batches; UINT64_MAX: not measured yet */
    bool dropped;               /* too slow to be measured again */
};

/* Those of a trial. [0] is the current one, until a member gives it up. A path that a member
 * gives up leaves the list. */
struct gba_trial_candidates {
    uint32_t count;
    uint32_t place; /* of the current one in the list of candidates; UINT32_MAX: not there */
    struct gba_trial_candidate entries[GBA_TRIAL_MOST];
};

struct gba_agreement {
    struct gba_team *team;
    gba_due_t due;
    gba_team_attr_t attr;
    gba_params_t params; /* of attr */
    gba_oob_t oob;
    enum gba_agree_state state;
    uint64_t words[GBA_OOB_WORDS];
    struct gba_info info;
    struct gba_list list;
    uint32_t place;                  /* of the candidate, in the list */
    struct gba_member_info *members; /* [size], with the next two in one allocation */
    struct gba_node_info *nodes;     /* [size] */
    uint64_t *scratch;               /* [size] */
    gba_status_t join_status; /* GBA_OK: it can join a group, or why not; INPROGRESS: not known */
    /* This member's part of the candidate's path: */
    gba_status_t part_status;  /* GBA_OK, or why it has none */
    gba_device_t *device;      /* at the switch of the candidate, or NULL */
    gba_group_handle_t handle; /* of a group of all */
    struct gba_shape shape;
    struct gba_path_base *path; /* its node, its group, its messages */
    struct {
        char why[192]; /* one line for the user */
        /* The switches that gave no group: "; not at sim:a (no barrier group is free), sim:b (...)"
         */
        char tried[232];
    } text;
    struct gba_trial_candidates *trial; /* to which a trial adds its paths */
    /* Kept between agreements: */
    struct gba_trial_record record; /* of the trial of the team's path */
    struct gba_topology topology;   /* of the team; zero: not computed; its paths point to it */
};

static inline const struct gba_candidate *gba_agree_candidate(const struct gba_agreement *a)
{
    return &a->list.candidates[a->place];
}

/* As gba_agree_test, without gba_barrier_init; also of a trial. */
gba_status_t gba_agree_advance(struct gba_agreement *a, gba_team_t **team);

/* Free what an agreement needs until its end. A prediction (predict.c) has no other end. */
void gba_agree_end(struct gba_agreement *a);

/* Free the memory of a team, and of its agreement. */
void gba_agree_free(struct gba_team *team);

/* Between two tests of a caller that waits: the runtime's progress, and the core for others that
 * need it. */
void gba_agree_idle(const struct gba_team *team);

#endif
