/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The information that the members of a team exchange about themselves, and the plan that all
 * members derive from it: the kind of path. Pure, except gba_member_info_fill: no exchange, no
 * shared memory.
 */
#ifndef GBA_AGREE_PLAN_H
#define GBA_AGREE_PLAN_H

#include "gba/base/host.h"
#include "gba/team.h"
#include "gba/path/shape.h"

/* Whether the node leaders are to have barrier groups. */
enum gba_plan_groups {
    GBA_GROUPS_NONE,
    GBA_GROUPS_ONE,    /* one group that serves all nodes */
    GBA_GROUPS_DOMAINS /* one group in each switch domain */
};

/* The first message of a member to all members. Travels as bytes between processes of one build. */
struct gba_member_info {
    struct gba_host host;
    int32_t status;          /* GBA_OK, or why this member cannot take part */
    uint32_t remote;         /* 1: has messages between hosts; 2: can also read remote flags */
    uint32_t oversubscribed; /* more processes than cores on its host */
    int32_t algorithm;       /* this field and those below: only rank 0's count */
    uint32_t radix;
    int32_t hierarchy;
    uint32_t sequence;
    uint32_t disabled; /* 1: disables software barriers; its node may still gather for a group */
    struct gba_port port;
    uint32_t reserved; /* 0 */
};

/* The end of the description of a plan that replaces the requested algorithm. */
#define GBA_PLAN_REPLACED ", because central (v3) needs to read remote flags"

/* Fill in this member's information. grouped: groups among the node leaders are requested. Not
 * collective. */
void gba_member_info_fill(struct gba_member_info *member_info, const gba_team_attr_t *attr,
                          bool grouped);

/* Whether all members are on one host. */
bool gba_member_infos_one_host(const struct gba_member_info *member_infos, uint32_t size);

/*
 * Returns why a member cannot share memory within its host, with the lowest such member in
 * *culprit; or GBA_OK. This function and gba_member_infos_check depend on the members' information
 * alone, and cannot fail on a single member: a refusal ends the agreement, so all members must find
 * the same one.
 */
gba_status_t gba_member_infos_check_hosts(const struct gba_member_info *member_infos, uint32_t size,
                                          uint32_t *culprit);

/* As gba_member_infos_check_hosts, for a software barrier of all members. */
gba_status_t gba_member_infos_check(const struct gba_member_info *member_infos, uint32_t size,
                                    uint32_t *culprit);

/*
 * Derive the plan. All members derive the same plan from the same information. Returns GBA_OK, or
 * GBA_ERR_NOMEM, which a single member may have alone. The caller calls gba_plan_fini in each case.
 * Not collective.
 */
gba_status_t gba_plan_make(struct gba_shape *plan, enum gba_plan_groups groups,
                           const struct gba_member_info *member_infos, uint32_t rank,
                           uint32_t size);
void gba_plan_fini(struct gba_shape *plan);

/*
 * Returns why the node leaders can have no groups, with the member that caused it in *culprit; or
 * GBA_OK. All members find the same, because it follows from the members' information.
 */
gba_status_t gba_plan_check_groups(const struct gba_shape *plan,
                                   const struct gba_member_info *member_infos, uint32_t *culprit);

/* Whether rank 0 proposes groups of the node leaders, and not one group of all members.
 * members_max: of a group. apart: an earlier agreement of the team found several switch domains. */
bool gba_plan_leaders(int hierarchy, uint32_t size, uint32_t members_max, bool apart);

/* The values of `hierarchy` and `sw_algorithm` that lead to this plan. */
struct gba_choice gba_plan_choice(const struct gba_shape *plan);

/* Whether this member's node needs shared memory. */
bool gba_plan_shares(const struct gba_shape *plan);

/* One line for the user about the groups of the node leaders. group: the group of all leaders, if
 * there is one switch domain: "group 3 of 32". */
void gba_plan_describe_groups(const struct gba_shape *plan, const char *group, char *why,
                              size_t len);

/* One line for the user about the plan. remote: as in the attributes of the team. */
void gba_plan_describe(const struct gba_shape *plan, const gba_remote_t *remote, char *why,
                       size_t len);

#endif
