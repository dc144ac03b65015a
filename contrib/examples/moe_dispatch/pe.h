/* SPDX-License-Identifier: BSD-3-Clause */
/* The data of a PE: its buffers, flags and places. */
#ifndef MOE_PE_H
#define MOE_PE_H

#include "contrib/examples/pool.h"
#include "experts.h"
#include "nodes.h"

#include <stdalign.h>

enum moe_mode {
    MOE_NORMAL,     /* two levels: across nodes to a forwarder, then within the node */
    MOE_LOW_LATENCY /* one level: directly to the PE of the expert */
};

enum moe_sync {
    MOE_BARRIER, /* shmem_barrier_all */
    MOE_FLAGS,   /* quiet, and a flag to each receiver of data */
    MOE_CORES    /* quiet, then each core signals and awaits its part of the PEs */
};

/*
 * The step in which the data that the flag announces was last complete. It has one writer, and
 * increases from step to step, so steps do not mix and no flag is ever reset. It has a cache line
 * of its own, because the PEs that write to neighbouring flags would slow each other down.
 */
enum { MOE_LINE = 64 };
struct moe_flag {
    alignas(MOE_LINE) long step;
};
_Static_assert(sizeof(struct moe_flag) == MOE_LINE, "flags are 64 bytes apart");

/* Rows of a source for an expert: how many, and the place of their results in `back`. */
struct moe_head {
    int32_t count, home;
};

struct moe_config {
    struct moe_shape shape;
    enum moe_mode mode;
    int emulated_nodes; /* 0: nodes are hosts */
    int cores;
    int jitter; /* microseconds: the longest of the random pauses; 0: none */
};

/*
 * In low-latency mode `groups` is one node with all PEs, so each PE is its own forwarder to all
 * experts. It reads `send` and `choice` in place of `across` and `across_choice`, which do not
 * exist, nor does `parts`.
 */
struct moe_pe {
    struct moe_config config;
    int me;
    int64_t step;
    enum moe_sync sync;
    struct pool pool;
    long meetings;          /* CrossRankSyncs by cores so far */
    double sync_time;       /* seconds in CrossRankSync, quiet included */
    int64_t rows_across;    /* rows that this PE has dispatched to other nodes */
    struct moe_nodes nodes; /* hosts, or emulated */
    struct moe_nodes groups;
    int group;   /* my node in groups */
    int slots;   /* of a forwarder */
    int reach;   /* experts of my group */
    int results; /* rows of a slot in back: the most results that a source can get from a group */
    size_t symmetric; /* bytes of the symmetric memory that is needed */
    int no_memory;    /* there is less */

    /* Symmetric: other PEs put to them. dispatch.c has the table of their synchronisation. */
    struct {
        int32_t *across_count;            /* [slots]: tokens from the source of the slot */
        struct moe_choice *across_choice; /* [slots][tokens][top_k] */
        float *across;                    /* [slots][tokens][hidden] */
        struct moe_head *heads;       /* [pes][experts]: from each source for each expert of mine */
        float *receive;               /* [pes][experts][tokens][hidden] */
        float *back;                  /* [slots][results][hidden]: to the forwarder */
        float *parts;                 /* [groups][tokens][hidden]: sums of each group's experts */
        struct moe_flag *across_flag; /* [slots]: by the source: its tokens are in across */
        struct moe_flag
            *deliver_flag;           /* [experts][pes]: by the forwarder: the rows are in receive */
        struct moe_flag *back_flag;  /* [slots][reach]: by the expert's PE: results are in back */
        struct moe_flag *core_flag;  /* [pes]: by each PE: its meetings */
        struct moe_flag *parts_flag; /* [groups]: by the forwarder: sums are in parts */
    } shared;

    struct {
        float *weights;            /* [experts][hidden][hidden], or NULL, as product */
        float *send;               /* [tokens][hidden] */
        struct moe_choice *choice; /* [tokens][top_k] */
        float *result;             /* [tokens][hidden] */
        int *sent;                 /* [groups][tokens]: the tokens that went to each group */
        int32_t *sent_count;       /* [groups] */
        struct moe_choice *staged; /* [groups][tokens][top_k]: their choices */
        struct moe_head *out_head; /* [slots][reach]: heads that the forwarder sends */
        int *place;                /* [slots][tokens][top_k]: row of back with the result, or -1 */
        float *sums;               /* [slots][tokens][hidden]: what the forwarder sends to parts */
        float *batch, *product; /* [pes * tokens][hidden]: rows of an expert, and their results */
    } own;
};

/* Collective over all PEs, with the same config. Returns 0, or -1 on all PEs if there is not enough
 * symmetric memory. */
int moe_pe_init(struct moe_pe *pe, const struct moe_config *config, int me);
void moe_pe_fini(struct moe_pe *pe);

/* The group of the expert, and its number there, which is the place of its flags and heads. */
int moe_group_of(const struct moe_pe *pe, int expert);
int moe_expert_place(const struct moe_pe *pe, int expert);

/* A source that this PE forwards for, and its tokens. */
struct moe_source {
    int pe, slot, count;
    const struct moe_choice *choice; /* [count][top_k] */
    const float *row;                /* [count][hidden] */
};

/* Returns whether there is a source with this slot. */
int moe_find_source(const struct moe_pe *pe, int slot, struct moe_source *source);

#endif
