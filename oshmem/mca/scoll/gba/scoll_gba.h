/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The component of Open MPI's scoll framework: the barriers of OpenSHMEM through libgba.
 *
 * ompi/mca/common/gba/module.h has the part that the coll component shares.
 *
 * Words. Open MPI calls an active set a group; here a group is a barrier group of a device. A "set"
 * is an active set, or the set of all PEs. Its members have ranks from 0, and rank 0 is the leader.
 *
 * Locks. gba_common.lock protects the division of symmetric memory, too. A module needs no lock,
 * because OpenSHMEM forbids two concurrent collective calls on one active set.
 */
#ifndef GBA_SCOLL_GBA_H
#define GBA_SCOLL_GBA_H

#include "oshmem_config.h"

#include "ompi/mca/common/gba/module.h"
#include "ompi/mca/common/gba/notifications.h"
#include "ompi/mca/common/gba/open.h"
#include "ompi/mca/common/gba/report.h"

#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"
#include "oshmem/mca/scoll/base/base.h"
#include "oshmem/mca/scoll/scoll.h"
#include "oshmem/mca/spml/spml.h"
#include "oshmem/proc/proc.h"
#include "oshmem/runtime/runtime.h"

/* The hello of a member to the leader, and the activation from the leader to all members, see
 * activation.c. */
struct gba_scoll_hello {
    uint64_t capability; /* equal words: the members agree on whether they take part */
    uint64_t barrier;    /* activation: the number of the barrier that begins with the agreement */
    uint32_t channels;   /* of the member; activation: of all members */
    uint32_t unused;     /* 0 */
};

/* The number of slabs: one for each bit of a word. A slab has two words for each slot. Radix (v2)
 * with its default radix needs 22 slots for 708 members. Sets that need more than 62 use messages.
 */
#define GBA_SCOLL_SLABS      64
#define GBA_SCOLL_SLAB_SLOTS 64

/* Why a set has no slab. From SLABS on no single PE is the cause. */
enum gba_scoll_why {
    GBA_SCOLL_WHY_NONE,
    GBA_SCOLL_WHY_ASKED,
    GBA_SCOLL_WHY_NETWORK,
    GBA_SCOLL_WHY_ATOMIC,
    GBA_SCOLL_WHY_KEYS,
    GBA_SCOLL_WHY_MEMORY,
    GBA_SCOLL_WHY_ADDRESS,
    GBA_SCOLL_WHY_EARLY,
    GBA_SCOLL_WHY_SLABS,
    GBA_SCOLL_WHY_SLOTS,
    GBA_SCOLL_WHY_RENEGOTIATION
};

/* The signal slabs in the symmetric memory of this PE. */
struct gba_scoll_slab_memory {
    uint64_t *words;        /* NULL: none */
    uint64_t taken;         /* slabs in use, or offered: a bit each; protected by the lock */
    bool tried;             /* the set of all PEs has agreed, */
    enum gba_scoll_why why; /* with this outcome, */
    uint32_t pe;            /* because of this PE */
};

/* The carrier of a set's signals here. NONE in a member that sends none. */
enum gba_scoll_carrier { GBA_SCOLL_CARRIER_NONE, GBA_SCOLL_CARRIER_SPML, GBA_SCOLL_CARRIER_PML };

/*
 * What separates the messages of a set's agreements, and of its signals, from those of other sets
 * with the same two members. It is the set's own communicator, which Open MPI's component mpi
 * makes; or the set's tag, which sets of equal size and stride share. The tag is sufficient if all
 * members of both sets enter them in one order. Threads do not, because each may have its own set.
 */
#define GBA_SCOLL_CHANNEL_COMM 1u
#define GBA_SCOLL_CHANNEL_TAG  2u

/* The slab of a set. */
struct gba_scoll_slab {
    uint64_t bit; /* 0: none */
    enum gba_scoll_why why;
    uint32_t pe;
    enum gba_scoll_carrier carrier;
    bool pulled;                     /* other members read this slab */
    bool kept;                       /* not to be used again: signals may be in transit to it */
    struct gba_transport *transport; /* of transport.c; NULL: none */
};

/* The carrier of a set's signals, for gba_team_create, and its state. */
struct gba_scoll_remote {
    gba_remote_t super;
    bool slab; /* the module's slab can be used */
    gba_remote_t pml;
    struct gba_common_messages messages;
};

typedef struct gba_scoll_module {
    mca_scoll_base_module_t super;
    struct gba_common_module base;
    mca_scoll_base_module_barrier_fn_t previous_barrier; /* named as PREVIOUS_SCOLL_FN requires */
    mca_scoll_base_module_t *previous_barrier_module;
    oshmem_group_t *set;
    uint64_t barriers;     /* barriers begun before the agreement, the current one included */
    uint64_t agree_at;     /* the barrier that begins with the agreement; 0: not known yet */
    uint32_t members_seen; /* leader: the hellos of ranks 1 to `members_seen` have arrived */
    ompi_request_t *activated;
    struct gba_scoll_hello activation; /* receive buffer of the activation */
    bool reserve_met;                  /* leader: what is free now is reserved (group_reserve) */
    bool reserved;                     /* leader: no group because of group_reserve */
    uint64_t agreements;               /* agreements about a group, at the time of `reserved` */
    bool reported;                     /* missing members have been reported */
    uint32_t channels;                 /* GBA_SCOLL_CHANNEL_*: those that all members can use */
    struct gba_scoll_slab slab;
    struct gba_scoll_remote remote;
    long *pSync; /* arguments of the barrier whose end renegotiates */
    int alg;
} gba_scoll_module_t;
OBJ_CLASS_DECLARATION(gba_scoll_module_t);

typedef struct gba_scoll_component {
    mca_scoll_base_component_t super;
    bool transport_reported; /* the carrier is not the requested one, and that is reported */
    struct gba_scoll_slab_memory slab_memory;
} gba_scoll_component_t;

extern gba_scoll_component_t mca_scoll_gba_component;
#define gba_scoll (&mca_scoll_gba_component)

/* pin.c */

/* Keep the library that would crash in finalize loaded, if this release has that defect. */
void gba_scoll_pin_ucx(void);

/* contexts.c */

/* When this component closes: let the default worker progress while spml ucx closes contexts. */
void gba_scoll_contexts_close(void);

/* The name of the function with which the selected SPML progresses, for gba_common_progress_open;
 * NULL: it needs none. */
const char *gba_scoll_progress_name(void);

/* set.c */

/*
 * The tag of a set's messages on oshmem_comm_world; -1: there is none. No two sets with the same
 * two members use one tag in the same direction, except over a channel (GBA_SCOLL_CHANNEL_TAG).
 */
enum gba_scoll_message { GBA_SCOLL_AGREEMENT, GBA_SCOLL_UP, GBA_SCOLL_DOWN, GBA_SCOLL_SIGNAL };
int gba_scoll_tag(const oshmem_group_t *set, enum gba_scoll_message kind);

/* Where the messages of a kind go over the set's channel, which the activation has agreed. */
void gba_scoll_messages(const gba_scoll_module_t *module, enum gba_scoll_message kind,
                        struct gba_common_messages *messages);

/*
 * The name of a set or a PE for the user: "all 4 PEs", "2 PEs (0 and 4)", "4 PEs (0 to 3)", "4
 * PEs (0 to 6, stride 2)"; "PE 3 on hostb". Not collective.
 */
void gba_scoll_name_set(const oshmem_group_t *set, char *text, size_t len);
void gba_scoll_name_pe(uint32_t pe, char *text, size_t len);

/* For gba_common_framework; name_member as name_pe, name as name_set. */
void gba_scoll_name(void *owner, char *text, size_t len);
uint64_t gba_scoll_id(const void *owner);
int gba_scoll_peer(const void *owner, uint32_t member);
void gba_scoll_name_member(void *owner, uint32_t rank, char *text, size_t len);

/* slabs.c */

/*
 * Agree on a slab for the set's signals, or on the reason why there is none, the same on all
 * members. To be called before the set's team is created or
 * recovered. Returns GBA_OK or GBA_ERR_OOB. Collective over the set.
 */
gba_status_t gba_scoll_slab_agree(gba_scoll_module_t *module);

/* The team has this path: release the slab if it carries no signals, or none any more. */
void gba_scoll_slab_settle(gba_scoll_module_t *module, gba_path_t path);

/* The team is destroyed: release the slab, unless another member may still read it. */
void gba_scoll_slab_close(gba_scoll_module_t *module);

/* The words of a set's slab, two for each slot. slab: its bit is not 0. */
uint64_t *gba_scoll_slab_words(const struct gba_scoll_slab *slab);

/* Text for the user: "; signals: spml, slab 0 of 64", or "" if there are no signals between hosts.
 */
void gba_scoll_slab_describe(const struct gba_scoll_slab *slab, char *text, size_t len);

/* Free the memory, before Open MPI does. */
void gba_scoll_slab_memory_close(void);

/* transport.c */

/*
 * To be called after gba_scoll_slab_agree. renegotiation: the slab is in use by the team that
 * renegotiates. Returns the value for the attributes of the team.
 */
const gba_remote_t *gba_scoll_remote_init(gba_scoll_module_t *module, bool renegotiation);

/*
 * The set of all PEs, in finalize: wait until no member reads the slab of this PE any more, because
 * its memory is freed next. Collective over the members that have signals.
 */
void gba_scoll_transport_drain(gba_scoll_module_t *module);

/* report.c */

/* For gba_common_framework: report the path of a set. The member reports whose device cannot be
 * used, or else the reporter. */
void gba_scoll_report_path(void *owner, uint32_t reporter, gba_status_t reason, uint32_t culprit,
                           const char *why);

/* Report the missing members of a set that has not agreed for long, once. */
void gba_scoll_report_missing(gba_scoll_module_t *module);

/* activation.c */

/*
 * To be called before and after a fallback barrier, while there is no agreement. `before` may block
 * until all members have entered this barrier. Returns GBA_OK or GBA_ERR_OOB.
 */
gba_status_t gba_scoll_activation_before(gba_scoll_module_t *module);
gba_status_t gba_scoll_activation_after(gba_scoll_module_t *module);

/* Stop waiting for an activation. */
void gba_scoll_activation_close(gba_scoll_module_t *module);

/* agree.c, for gba_common_framework */

gba_status_t gba_scoll_agree_prepare(void *owner, struct gba_common_agreement *a,
                                     bool renegotiation);
void gba_scoll_agree_apply(void *owner);

/* barrier.c */

int gba_scoll_barrier(oshmem_group_t *set, long *pSync, int alg);

/* For gba_common_framework: the fallback barrier once more, at the end of a barrier. The standard
 * lets a program use the same pSync in consecutive barriers of a set. Returns GBA_OK or
 * GBA_ERR_OOB. Collective, blocks. */
gba_status_t gba_scoll_barrier_again(void *owner);

/* module.c */

/* A module for an active set of which this PE is a member. NULL: out of memory. */
mca_scoll_base_module_t *gba_scoll_module_create(oshmem_group_t *set);

/* For gba_common_framework. */
void gba_scoll_module_close(void *owner);

#endif
