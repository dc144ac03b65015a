/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the members of a team exchange about themselves, and what all of them know then. Each part
 * is the same on all members:
 *
 *   facts     the first exchange, a minimum: what all have in common, the first member that lacks
 *             something, and the terms of rank 0
 *   switches  two minima, if the devices differ or several are to be tried: the switches of rank 0,
 *             and the first member that has no device there
 *   layout    an allgather, if several hosts need it: the host and the device of each member
 */
#ifndef GBA_AGREE_INFO_H
#define GBA_AGREE_INFO_H

#include <stddef.h>

#include "gba/agree/cost.h"
#include "gba/algo/domains.h"
#include "gba/base/host.h"
#include "gba/dev/member.h"
#include "gba/team.h"

/* Why all members of a team go without something, and the member that caused it. */
struct gba_refusal {
    gba_status_t reason; /* GBA_OK: no refusal */
    uint32_t culprit;
};

/* Of rank 0, for all members. Travels as bytes between processes of one build, see wire.c. */
struct gba_terms {
    uint64_t id;                 /* of the team, see gba_team_attr_t */
    uint64_t backoff;            /* barriers until the next renegotiation, if no group results */
    uint8_t uuid[GBA_UUID_SIZE]; /* the switch of its device */
    uint32_t members_max;        /* of a group there */
    int32_t status;              /* gba_status_t: why it requests no group; GBA_OK: it does */
    uint32_t sequence;           /* of the paths before their first round */
    uint32_t trial_after;        /* the parameter */
    uint32_t min_hosts;          /* the parameter */
    uint8_t algorithm, radix, hierarchy, offload; /* the parameters */
    uint8_t kind;                                 /* gba_path_t: of its device */
    uint8_t multi_device;   /* it has several devices, so another switch may have a group */
    uint8_t trial_runs;     /* of a trial: 0: it is postponed */
    uint8_t trial_rotates;  /* 1: take the next path, for tests */
    uint8_t trial_fallback; /* 1: the runtime's barrier is measured */
    uint8_t reserved[3];    /* 0 */
    struct gba_cost_terms cost;
};

/* A member, in the allgather. Travels as bytes. */
struct gba_member_info {
    struct gba_host host;
    struct gba_port port;  /* the device at the switch of rank 0, else the chosen one */
    int32_t device_status; /* if it has none: the reason */
};

/* The switches at which rank 0 has a device; 0 is that of the terms. The part before `lacking`
 * travels as bytes. */
struct gba_switches {
    uint64_t key[GBA_DEVICE_CHOICES_MAX];         /* of the uuid, see gba_switches_key */
    uint32_t members_max[GBA_DEVICE_CHOICES_MAX]; /* of a group */
    uint8_t kind[GBA_DEVICE_CHOICES_MAX];         /* gba_path_t */
    uint32_t count;                               /* 0: not exchanged */
    uint32_t unused;                              /* 0 */
    uint32_t lacking[GBA_DEVICE_CHOICES_MAX];     /* the lowest member without a device there, or
                                                 UINT32_MAX */
};

struct gba_info {
    uint32_t size;
    bool together; /* gba_team_attr_t.notifies_together: groups at one switch only */
    struct gba_terms terms;
    bool one_host;       /* all members */
    bool one_device;     /* the chosen devices of all members that have one are at one switch */
    bool oversubscribed; /* the host of some member */
    bool pull;           /* all members can read the slots of others */
    struct gba_refusal device;   /* the first member without any device */
    struct gba_refusal memory;   /* ... that cannot share memory, or has none for the agreement */
    struct gba_refusal disabled; /* ... with sw_enable 0 */
    struct gba_refusal remote;   /* ... without messages between hosts */
    struct gba_refusal failure;  /* ... whose device has failed */
    uint64_t failed_round;       /* the first failed round */
    struct gba_switches switches;
    const struct gba_member_info *members; /* [size]; NULL: not exchanged */
    uint32_t hosts;                        /* 0: not known */
    uint32_t largest;                      /* members on one host, at most */
    uint32_t ports;                        /* switches of the chosen devices */
};

/* A refusal as a word of a minimum: the lowest status, and of equal ones the lowest rank. */
uint64_t gba_refusal_word(gba_status_t status, uint32_t rank);
struct gba_refusal gba_refusal_of(uint64_t word);

#define GBA_FACTS 34u /* words */

/* What a member contributes to the facts. */
struct gba_own {
    const gba_team_attr_t *attr;
    uint32_t rank;
    const struct gba_terms *terms; /* of rank 0, else not used */
    gba_status_t memory;           /* GBA_OK, or why it has none for the agreement */
    gba_status_t failure;          /* of its device */
    uint64_t failed_round;
};

/* Fill in the words of the facts: GBA_FACTS. Not collective. */
void gba_info_fill(uint64_t *words, const struct gba_own *own);

/* Read the minima. */
void gba_info_read(struct gba_info *info, const uint64_t *words);

/* Fill in the record of the layout. uuid: the switch of rank 0. May open devices. Not collective.
 */
void gba_member_info_fill(struct gba_member_info *member_info, const gba_team_attr_t *attr,
                          const uint8_t uuid[GBA_UUID_SIZE]);

/* The layout is complete: count the hosts and the switches. scratch: [size] words. */
void gba_layout_read(struct gba_info *info, const struct gba_member_info *members,
                     uint64_t *scratch);

/* --- switches.c: the devices of one member, by the switch that each is at. A switch that serves
 * all is one of rank 0, which sends its switches. Then each member says where it has none. */

/* The words of both exchanges. */
#define GBA_SWITCHES_WORDS (offsetof(struct gba_switches, lacking) / sizeof(uint64_t))
#define GBA_LACKING_WORDS  GBA_DEVICE_CHOICES_MAX

/* A switch as one word. The group handle has the whole uuid. */
uint64_t gba_switches_key(const uint8_t uuid[GBA_UUID_SIZE]);

/* The devices of this member, one for each switch, a dead one only if no other is at its switch:
 * first that at the switch of the chosen one, then in the order of the attributes. list: set.
 * Returns their number. May open devices. Not collective. */
uint32_t gba_switches_devices(const gba_team_attr_t *attr,
                              gba_device_t *list[GBA_DEVICE_CHOICES_MAX]);

/* The device of this member at that switch, or NULL. May open devices. Not collective. */
gba_device_t *gba_switches_device(const gba_team_attr_t *attr, uint64_t key);

/* Fill in the switches, of rank 0; then read them. Not collective. */
void gba_switches_fill(uint64_t *words, const gba_team_attr_t *attr, bool sends);
void gba_switches_read(struct gba_switches *switches, const uint64_t *words);

/* Fill in the switches at which this member has no device, although it has one; then read the first
 * member of each. Not collective. */
void gba_lacking_fill(uint64_t *words, const struct gba_switches *switches,
                      const gba_team_attr_t *attr, uint32_t rank);
void gba_lacking_read(struct gba_switches *switches, const uint64_t *words);

#endif
