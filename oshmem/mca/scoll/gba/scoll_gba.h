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
 * barrier.c     the barrier, and the agreement
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
    bool reserved;    /* leader: no group because of group_reserve */
    bool told;        /* that somebody is missing */
    gba_team_t *team; /* NULL until the agreement, and when capabilities forbade one */
    gba_path_t path;  /* that was agreed: whose the team's rounds are, but for those in the tally */
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
 * tag in the same direction, but for signals, where it does no harm. -1: there is none.
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

/* barrier.c */

int gba_scoll_barrier(oshmem_group_t *set, long *pSync, int alg);

/* report.c */

/* Which path a set takes, and why. Called by its members; the leader speaks. */
void gba_scoll_report_path(const gba_scoll_module_t *module, gba_status_t reason, const char *why);

/* Nobody has agreed on anything for long: say who is missing, once. */
void gba_scoll_report_missing(gba_scoll_module_t *module);

#endif
