/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agreement about the nodes of a team: a software path, or a path with barrier groups among the
 * node leaders. agree.c lists its collective calls.
 */
#ifndef GBA_AGREE_AGREE_NODES_H
#define GBA_AGREE_AGREE_NODES_H

#include "gba/path/path.h"
#include "gba/agree/trial.h"
#include "gba/transport/segment.h"

/* Why all members of a team go without something, and the member that caused it. */
struct gba_refusal {
    gba_status_t reason; /* GBA_OK: no refusal */
    uint32_t culprit;
};

/* The request of the node leaders for barrier groups among themselves. */
struct gba_leaders_request {
    gba_group_request_t request; /* of a domain leader; without the number of members */
    gba_group_handle_t handle;   /* a group that rank 0 already has; members 0: none */
    /* The same on all members: */
    bool domains;          /* one group for each switch domain, if one cannot serve all nodes */
    struct gba_refusal no; /* why there is no group of all members */
    /* Of this member: GBA_OK, or why it cannot take part. */
    gba_status_t mine;
};

/*
 * The message of a node leader about its node. Members of its node read the first half; members of
 * its switch domain read the second half. Travels as bytes, see wire.c.
 */
struct gba_node_info {
    int64_t status;
    struct gba_segment_handle handle;
    int32_t group_status; /* why there is no group */
    uint32_t groups;      /* of the device */
    gba_group_handle_t group;
};

/* The outcome of an agreement about nodes. All fields but `nodes` and `apart` are the same on all
 * members. */
struct gba_nodes_outcome {
    char why[192];               /* one line for the user, if there is a path */
    struct gba_choice choice;    /* the software path, if there is one */
    struct gba_refusal software; /* why there is no software path */
    struct gba_refusal group;    /* if groups are requested: why the leaders have none */
    uint32_t nodes; /* of this switch domain, or of the team; 0: not known to this member */
    bool apart;     /* there are several switch domains, as far as this member knows */
};

/* The minimum of all members' statuses, and the lowest rank that has it. Returns GBA_OK or
 * GBA_ERR_OOB. Collective over oob. */
gba_status_t gba_agree_least(const gba_oob_t *oob, gba_status_t mine, struct gba_refusal *least);

/*
 * Agree on a software path, or on a path with barrier groups among the node leaders.
 * request: try the groups first. Its handle is consumed (members becomes 0) when rank 0 has joined.
 * NULL: no groups. NULL on all members or on none.
 * Returns GBA_OK, with *path NULL if there is neither; or GBA_ERR_OOB. Collective over oob.
 */
gba_status_t gba_agree_nodes(const gba_team_attr_t *attr, const gba_oob_t *oob,
                             struct gba_leaders_request *request, struct gba_path_base **path,
                             struct gba_nodes_outcome *outcome);

#endif
