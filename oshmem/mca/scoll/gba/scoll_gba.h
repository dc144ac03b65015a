/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The component of Open MPI's scoll framework: the barriers of OpenSHMEM through libgba.
 *
 * component.c   open, close, and which active sets we take part in
 * params.c      parameters beyond those of libgba
 * pin.c         what prevents a crash of older releases in finalize
 * module.c      one object per active set: what was there before us, and what we count
 * invite.c      how the members of an active set find out that all of them have this component
 * oob.c         the exchange for the agreement
 * rows.c        symmetric memory for signals, and which set has which part of it
 * signals.c     the signals of software barriers between hosts, through that memory
 * agree.c       which path: the agreement
 * barrier.c     the barrier
 * report.c      what the user gets to see
 *
 * What the coll component needs, too, is in ompi/mca/common/gba.
 *
 * Words: Open MPI calls an active set a group, which here is a barrier group of a device. A "set"
 * is an active set, the set of all PEs included; its members have ranks from 0, and rank 0 leads.
 *
 * Locks: component.lock covers the device and the list of modules. A module needs none, since
 * OpenSHMEM forbids two collective calls at once on one active set.
 */
#ifndef GBA_SCOLL_GBA_H
#define GBA_SCOLL_GBA_H

#include "oshmem_config.h"

#include "ompi/mca/common/gba/gba_common.h"

#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"
#include "oshmem/mca/scoll/base/base.h"
#include "oshmem/mca/scoll/scoll.h"
#include "oshmem/mca/spml/spml.h"
#include "oshmem/proc/proc.h"
#include "oshmem/runtime/runtime.h"

#define GBA_SCOLL_LABEL "scoll gba"

/* What a member tells the leader, and the leader all members, see invite.c. */
struct gba_scoll_note {
    uint64_t capability; /* equal words: they take part in the same way */
    uint64_t barrier;    /* of an invitation: the number of the barrier that begins with agreeing */
};

/* The parameter "signals": what carries the signals of software barriers between hosts. */
enum gba_scoll_signals { GBA_SCOLL_SIGNALS_AUTO, GBA_SCOLL_SIGNALS_SPML, GBA_SCOLL_SIGNALS_PML };

/* As many rows as a word has bits. A row has two words for each slot; v2 with its default radix
 * needs 22 for 708 members, and sets that need more than 62 take messages. */
#define GBA_SCOLL_ROWS      64
#define GBA_SCOLL_ROW_SLOTS 64

/* Why there is no row; from ROWS on no single PE is the reason. */
enum gba_scoll_why {
    GBA_SCOLL_WHY_NONE,
    GBA_SCOLL_WHY_ASKED,
    GBA_SCOLL_WHY_NETWORK,
    GBA_SCOLL_WHY_ATOMIC,
    GBA_SCOLL_WHY_KEYS,
    GBA_SCOLL_WHY_MEMORY,
    GBA_SCOLL_WHY_ADDRESS,
    GBA_SCOLL_WHY_EARLY,
    GBA_SCOLL_WHY_ROWS,
    GBA_SCOLL_WHY_SLOTS,
    GBA_SCOLL_WHY_MEETING
};

/* The symmetric memory of this PE. */
struct gba_scoll_pool {
    uint64_t *words;        /* NULL: none */
    uint64_t taken;         /* rows in use, or offered: bits; covered by the lock */
    bool tried;             /* the set of all PEs has agreed, */
    enum gba_scoll_why why; /* with this outcome, */
    uint32_t pe;            /* because of this PE */
};

/* What carries the signals of a set here: nothing, in a member that sends none. */
enum gba_scoll_carrier { GBA_SCOLL_CARRIER_NONE, GBA_SCOLL_CARRIER_SPML, GBA_SCOLL_CARRIER_PML };

/*
 * What keeps the messages that are signals of a set apart from those of other sets with the same
 * two members: a communicator of the set's own, which Open MPI's component mpi makes; or its tag,
 * which sets of one size and stride share. That is enough where all members of both sets come to
 * them in one order. Threads do not, for each may have a set of its own.
 */
#define GBA_SCOLL_CHANNEL_COMM 1u
#define GBA_SCOLL_CHANNEL_TAG  2u

/* The part of it that a set has. */
struct gba_scoll_row {
    uint64_t bit; /* 0: none */
    enum gba_scoll_why why;
    uint32_t pe;
    enum gba_scoll_carrier carrier;
    bool pulled;                 /* others read it */
    struct gba_signals *signals; /* of signals.c, while there are any */
};

typedef struct gba_scoll_module {
    mca_scoll_base_module_t super;
    gba_team_t *active; /* the team while its path is one of ours; all that the fast path reads */
    mca_scoll_base_module_barrier_fn_t previous_barrier; /* named for PREVIOUS_SCOLL_FN */
    mca_scoll_base_module_t *previous_barrier_module;
    oshmem_group_t *set;
    uint32_t rank, size;
    uint64_t barriers; /* begun before the agreement, the one under way included */
    uint64_t agree_at; /* the barrier that begins with the agreement; 0: not known yet */
    uint32_t heard;    /* leader: ranks 1 to `heard` have said that they are here */
    ompi_request_t *invited;
    struct gba_scoll_note invitation; /* where `invited` is received */
    bool agreed;
    bool reserved; /* leader: no group because of group_reserve */
    bool told;     /* that somebody is missing */
    struct gba_scoll_row row;
    uint32_t channels; /* GBA_SCOLL_CHANNEL_*: what all members can have */
    gba_team_t *team;  /* NULL until the agreement, and when capabilities forbade one */
    gba_path_t path; /* that was agreed: whose the team's rounds are, but for those in the tally */
    struct gba_common_tally tally;
    uint64_t round_told;                   /* the last one of which notices were posted */
    unsigned long long fallbacks;          /* barriers on the previous one */
    struct gba_scoll_module *next, **link; /* in component.modules; link NULL: not in it */
} gba_scoll_module_t;
OBJ_CLASS_DECLARATION(gba_scoll_module_t);

typedef struct gba_scoll_component {
    mca_scoll_base_component_t super;
    gba_params_t variables; /* storage of the MCA parameters, which owns the strings */
    char *companions;       /* and what follows up to device_path_index */
    bool pin_ucx;
    bool quiet;
    unsigned int group_reserve;
    int signals;              /* enum gba_scoll_signals */
    unsigned int signal_rows; /* of the pool that may be used */
    int device_path_index;
    gba_params_t params;     /* checked copy, from open on */
    bool enabled;            /* not disabled, and the parameters are good */
    bool device_asked;       /* the user set device_path, and not to "none" */
    char bad_parameter[512]; /* what is wrong with a parameter, "" if nothing is */
    int output;
    opal_mutex_t lock;
    struct gba_common_device device;
    gba_scoll_module_t *modules;
    struct gba_common_counts retired; /* of modules that are gone */
    uint32_t reasons_told;            /* bit -status: the user knows of this reason */
    bool signals_told;                /* that they are not what the user asked for */
    struct gba_scoll_pool pool;
} gba_scoll_component_t;

extern gba_scoll_component_t mca_scoll_gba_component;
#define gba_scoll (&mca_scoll_gba_component)

/* params.c */

/* Register everything. Runs in oshmem_info too. Returns OSHMEM_SUCCESS. */
int gba_scoll_params_register(void);

/* Fill in params, enabled, device_asked and bad_parameter. */
void gba_scoll_params_check(void);

/* pin.c */

/* Keep what would crash in finalize from being unloaded, if this release has that bug. */
void gba_scoll_pin_ucx(void);

/* module.c */

/* A module for an active set of which this PE is a member, or NULL: no memory. */
mca_scoll_base_module_t *gba_scoll_module_create(oshmem_group_t *set);

/* Sum over all modules, those that are gone included. Thread-safe; may lag behind other threads. */
void gba_scoll_counts_sum(struct gba_common_counts *sum);

/* Give back what leaked active sets hold. */
void gba_scoll_modules_close(void);

/* invite.c */

/*
 * Before and after a barrier that takes the previous path, while there is no agreement. `before`
 * may wait for members that have not entered this barrier. Returns GBA_OK or GBA_ERR_OOB.
 */
gba_status_t gba_scoll_invite_before(gba_scoll_module_t *module);
gba_status_t gba_scoll_invite_after(gba_scoll_module_t *module);

/* Wait for no invitation any more. */
void gba_scoll_invite_close(gba_scoll_module_t *module);

/* oob.c */

/*
 * The tag of a set's messages on oshmem_comm_world: no two sets with the same two members use one
 * tag in the same direction, but for signals (GBA_SCOLL_CHANNEL_TAG). -1: there is none.
 */
enum gba_scoll_message { GBA_SCOLL_UP = 1, GBA_SCOLL_DOWN = 2, GBA_SCOLL_SIGNAL = 3 };
int gba_scoll_tag(const oshmem_group_t *set, enum gba_scoll_message kind);

/* Send to or receive from a member. Returns GBA_OK or GBA_ERR_OOB. */
gba_status_t gba_scoll_send(const gba_scoll_module_t *module, uint32_t rank,
                            enum gba_scoll_message kind, mca_pml_base_send_mode_t mode,
                            const void *data, size_t bytes);
gba_status_t gba_scoll_receive(const gba_scoll_module_t *module, uint32_t rank,
                               enum gba_scoll_message kind, void *data, size_t bytes);

/* The exchange for libgba among the members. */
void gba_scoll_oob_init(gba_oob_t *oob, gba_scoll_module_t *module);

/* A set or a member for people: "all 4 PEs", "4 PEs (0, 2 to 6)"; "PE 3 on hostb". Not collective.
 */
void gba_scoll_name_set(const oshmem_group_t *set, char *text, size_t len);
void gba_scoll_name_member(const oshmem_group_t *set, uint32_t rank, char *text, size_t len);
void gba_scoll_name_by_module(void *ctx, uint32_t rank, char *text, size_t len);

/* rows.c */

/*
 * Collective over the set, before its team is created or recovered: a row for its signals, or the
 * reason why there is none, and its channels, the same on all members. Returns GBA_OK or
 * GBA_ERR_OOB.
 */
gba_status_t gba_scoll_row_agree(gba_scoll_module_t *module);

/* The team has this path: give the row back, if no signals are here, or no more. */
void gba_scoll_row_settle(gba_scoll_module_t *module, gba_path_t path);

/* The team is gone: give the row back, if nobody may still look at it. */
void gba_scoll_row_close(gba_scoll_module_t *module);

/* The words of a row that has a bit: two for each slot. */
uint64_t *gba_scoll_row_words(const struct gba_scoll_row *row);

/* For people: "; signals: spml, row 0 of 64", or "" if there are no signals between hosts. */
void gba_scoll_row_describe(const struct gba_scoll_row *row, char *text, size_t len);

/* Give back the memory, before Open MPI does. */
void gba_scoll_pool_close(void);

/* signals.c */

/* What carries the signals of a set, for gba_team_create; and what that needs. */
struct gba_scoll_remote {
    gba_remote_t super;
    gba_scoll_module_t *module;
    bool row;   /* that of the module can be used */
    bool apart; /* messages can be told from those of other sets */
    gba_remote_t pml;
    struct gba_common_messages messages;
};

/*
 * After gba_scoll_row_agree. meeting: the row is in use by the team that meets. Returns what the
 * attributes of the team are to point to, as long as the call lasts that they are for; NULL: the
 * set can have no signals.
 */
const gba_remote_t *gba_scoll_remote_init(struct gba_scoll_remote *remote,
                                          gba_scoll_module_t *module, bool meeting);

/*
 * The set of all PEs, in finalize: wait until nobody reads the row of this PE any more, for its
 * memory goes away next. Collective over the members that have signals.
 */
void gba_scoll_signals_drain(gba_scoll_module_t *module);

/*
 * agree.c: collective, blocks. The path is a matter of the module from then on. At the first
 * agreement; at the end of a barrier after gba_team_recover_due: the group is lost; after
 * gba_team_meet_due: perhaps there is one now. Return GBA_OK, or an error if the exchange failed,
 * or memory did.
 */
gba_status_t gba_scoll_agree(gba_scoll_module_t *module);
gba_status_t gba_scoll_recover(gba_scoll_module_t *module);
gba_status_t gba_scoll_meet(gba_scoll_module_t *module);

/* barrier.c */

int gba_scoll_barrier(oshmem_group_t *set, long *pSync, int alg);

/* report.c */

/* Which path a set takes, and why. Called by its members; the leader speaks. */
void gba_scoll_report_path(const gba_scoll_module_t *module, gba_status_t reason, const char *why);

/* Nobody has agreed on anything for long: say who is missing, once. */
void gba_scoll_report_missing(gba_scoll_module_t *module);

#endif
