/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of candidates: all paths that a team can take, in the order in which its members try
 * them, each with the reason if it is excluded. All members derive the same list from what they
 * have exchanged (info.h), and add the same refusals to it. Nothing else knows the order. Pure: no
 * exchange, no device, no shared memory.
 */
#ifndef GBA_AGREE_PLAN_H
#define GBA_AGREE_PLAN_H

#include "gba/agree/software.h"
#include "gba/agree/info.h"

enum gba_kind {
    GBA_KIND_ALL,      /* a barrier group of all members */
    GBA_KIND_LEADERS,  /* groups of the node leaders: one, or one for each switch domain */
    GBA_KIND_SOFTWARE, /* a software barrier of libgba */
    GBA_KIND_FALLBACK  /* the runtime's own barrier */
};

/* In gba_candidate.switch_index: each leader uses the device at the switch of rank 0, if it has one
 * there, else its chosen device. */
#define GBA_AT_EACH UINT8_MAX

/* What the members have to exchange before they can try a candidate. */
enum gba_need {
    GBA_NEED_NOTHING,
    GBA_NEED_SWITCHES, /* of rank 0, and who lacks a device there */
    GBA_NEED_LAYOUT    /* the host and the device of each member */
};

struct gba_candidate {
    uint8_t kind;          /* enum gba_kind */
    uint8_t need;          /* enum gba_need */
    uint8_t switch_index;  /* ALL, LEADERS: the index of the switch, or GBA_AT_EACH */
    bool tried;            /* the members have tried it; the refusal is that of a step */
    bool maker_refused;    /* its maker refused, before another member took part */
    uint32_t members;      /* of its group, if one serves all */
    uint32_t members_most; /* that a group there can have */
    struct gba_choice choice;
    uint64_t cost; /* ns, expected; 0: not known, see gba_cost */
    struct gba_refusal refusal;
};

static inline bool gba_candidate_is_group(const struct gba_candidate *candidate)
{
    return GBA_KIND_ALL == candidate->kind || GBA_KIND_LEADERS == candidate->kind;
}

/* Groups of all and of leaders, at each switch; groups at each leader's own switch; software. */
#define GBA_LIST_MOST (2u * GBA_DEVICE_CHOICES_MAX + 3u + GBA_CHOICES_MOST + 1u)

struct gba_list {
    uint8_t need;    /* enum gba_need: of the order of the list, before any candidate */
    bool needs_more; /* once a group is refused, the members need other switches of rank 0 */
    uint32_t count;
    struct gba_candidate candidates[GBA_LIST_MOST];
};

/*
 * Derive the list. To be called again whenever the information has grown: the candidates that were
 * tried keep their refusals.
 * due: GBA_DUE_REQUEST: groups only; GBA_DUE_RECOVER: no groups. list: zero at first.
 */
void gba_plan_list(struct gba_list *list, const struct gba_info *info, gba_due_t due);

/* Find the first usable candidate. place: set to its place, or to the number of candidates: there
 * is none. Returns what the members exchange before they try it, or before the list ends. */
enum gba_need gba_plan_next(const struct gba_list *list, uint32_t *place);

/* A step of this candidate failed: record it. alike: also for the candidates that need the same; a
 * trial tries each. */
void gba_plan_refuse(struct gba_list *list, uint32_t place, struct gba_refusal refusal, bool alike);

/* Whether the team misses the group of this candidate of the list: it is refused, and no group of
 * all members stands for the switch. */
bool gba_plan_misses(const struct gba_list *list, const struct gba_candidate *candidate);

/* Why the team has no group: of the refusals the one that says most. GBA_OK: no group was refused.
 */
struct gba_refusal gba_plan_reason(const struct gba_list *list);

/* Why the team has no software barrier of libgba; GBA_OK: none was refused. */
struct gba_refusal gba_plan_no_software(const struct gba_list *list);

/* Write a reason in words: that of the status with the member, if that is not NULL; of
 * GBA_ERR_TOO_MANY "7200 members; a group has at most 708", of the first of these candidates that
 * is refused so. text: terminated, len bytes at most. Thread-safe. */
void gba_plan_words(const struct gba_candidate *candidates, uint32_t count, gba_status_t reason,
                    const char *member, char *text, size_t len);

/* Whether a team refused for this reason may get a group later. */
bool gba_reason_passes(gba_status_t reason);

#endif
