/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The component of Open MPI's coll framework: MPI_Barrier through libgba.
 *
 * component.c   open, close, and which communicators we take part in
 * params.c      MCA parameters and MPI_T performance variables
 * pvars.c       performance variables of waits, and of single communicators
 * capability.c  which processes of the job take part, known to all from MPI_Init on
 * module.c      one object per communicator: what was there before us, and what we count
 * agree.c       which path: the agreement at the first barrier, and later ones
 * barrier.c     the barrier
 * ibarrier.c    the nonblocking barrier, and blocking ones behind it
 * request.c     its requests
 * notices.c     what members tell each other when the device has died
 * oob.c         the exchange for the agreement, over the collectives that were there before us
 * report.c      what the user gets to see
 *
 * What the scoll component needs, too, is in ompi/mca/common/gba.
 *
 * Locks: component.lock covers the device, the list of modules and the cache of capabilities. A
 * module needs none, since MPI forbids two collective calls at once on one communicator; but for
 * what nonblocking barriers have queued, which any thread drives: component.queue_lock, see
 * ibarrier.c. Neither is taken while the other one is held.
 */
#ifndef GBA_COLL_GBA_BARRIER_H
#define GBA_COLL_GBA_BARRIER_H

#include "ompi/mca/coll/gba_barrier/compat.h"

#include "gba/base/order.h"
#include "ompi/mca/common/gba/gba_common.h"
#include "opal/class/opal_free_list.h"

/* The collectives that were selected before us, each with the module that it belongs to. */
struct gba_coll_saved {
    mca_coll_base_module_barrier_fn_t barrier;
    mca_coll_base_module_bcast_fn_t bcast;
    mca_coll_base_module_allreduce_fn_t allreduce;
    mca_coll_base_module_allgather_fn_t allgather;
    mca_coll_base_module_ibarrier_fn_t ibarrier; /* NULL: there was none, and so we offer none */
    mca_coll_base_module_t *barrier_module, *bcast_module, *allreduce_module, *allgather_module,
        *ibarrier_module;
};

/* What was measured of every n-th blocking barrier; n is the parameter "sample". */
struct gba_coll_waits {
    unsigned long long sampled, ns, max_ns; /* max_ns: of the longest wait */
};

/* A nonblocking barrier. */
typedef struct gba_coll_request {
    ompi_request_t super;
    struct gba_coll_module *module;
    struct gba_coll_request *next; /* in the module's queue, in the order of the calls */
} gba_coll_request_t;
OBJ_CLASS_DECLARATION(gba_coll_request_t);

typedef struct gba_coll_module {
    mca_coll_base_module_t super;
    /* The team, while all that a barrier has to do is gba_barrier_wait; all that the fast path
     * reads. NULL: see gba_coll_barrier's slow path. */
    gba_pointer_t active;
    struct gba_coll_saved saved;
    gba_team_t *team; /* NULL until the agreement, and when capabilities forbade one */
    gba_path_t path;  /* that was agreed: whose the team's rounds are, but for those in the tally */
    struct gba_common_tally tally;
    bool agreed;
    gba_status_t declined;           /* not GBA_OK: capabilities forbade a team, for this reason */
    const ompi_communicator_t *comm; /* which it belongs to; only to be compared */
    struct gba_coll_waits waits;
    unsigned unsampled;                   /* barriers since the last one that was measured */
    unsigned long long fallbacks;         /* barriers on the saved barrier or ibarrier */
    struct gba_coll_module *next, **link; /* in component.modules; link NULL: not in it */
    /* Nonblocking barriers, under component.queue_lock: */
    gba_coll_request_t *queue, **queue_last;        /* the first one is under way */
    struct gba_coll_module *busy_next, **busy_link; /* in component.busy; link NULL: not in it */
    unsigned looks;
    uint64_t round_told; /* the last one of which notices were posted */
    bool world;          /* of MPI_COMM_WORLD */
} gba_coll_module_t;
OBJ_CLASS_DECLARATION(gba_coll_module_t);

typedef struct gba_coll_component {
    mca_coll_base_component_t super;
    gba_params_t variables; /* storage of the MCA parameters, which owns the strings */
    char *companions;       /* one more of them */
    int device_path_index;
    gba_params_t params;     /* checked copy, from open on */
    bool enabled;            /* not disabled, and the parameters are good */
    bool device_asked;       /* the user set device_path, and not to "none" */
    char bad_parameter[512]; /* what is wrong with a parameter, "" if nothing is */
    int output;
    opal_mutex_t lock;
    struct gba_common_device device;
    gba_coll_module_t *modules;
    struct gba_common_counts retired; /* of modules that are gone */
    struct gba_coll_waits retired_waits;
    unsigned sample; /* parameter: measure every n-th barrier, 0: none */
    opal_free_list_t requests;
    opal_mutex_t queue_lock;
    gba_coll_module_t *busy; /* modules with a barrier under way that progress drives */
    gba_word_t busy_any;     /* 1: there are some */
    bool progress_registered;
    uint64_t *capabilities; /* of the job's processes, by vpid; 0: not looked up */
    uint32_t reasons_told;  /* bit -status: the user knows of this reason */
    bool parameter_told;
} gba_coll_component_t;

extern gba_coll_component_t mca_coll_gba_barrier_component;
#define gba_coll (&mca_coll_gba_barrier_component)

/* params.c */

/* Register everything. Runs in ompi_info too, and perhaps several times. Returns OMPI_SUCCESS. */
int gba_coll_params_register(void);

/* Fill in params, enabled, device_asked and bad_parameter. */
void gba_coll_params_check(void);

/* pvars.c */

void gba_coll_pvars_register(void);

/* capability.c */

/* Tell the job what this process does. Called in open, before the exchange of MPI_Init. */
void gba_coll_capability_publish(void);

/*
 * Whether all members of comm take part, in the same way. Every member that asks gets the same
 * answer, without sending anything.
 * rank: if not GBA_OK, the lowest member that does not.
 * speaker: the lowest member that asks this question, too.
 * Returns GBA_OK; GBA_ERR_NO_PLUGIN; GBA_ERR_MISMATCH; GBA_ERR_UNSUPPORTED (members of several
 * jobs). Thread-safe.
 */
gba_status_t gba_coll_capability_check(ompi_communicator_t *comm, uint32_t *rank,
                                       uint32_t *speaker);

/*
 * The lowest member whose user asked for a device, of those that take part; UINT32_MAX: nobody did.
 * All members get the same answer. Thread-safe.
 */
uint32_t gba_coll_capability_asker(ompi_communicator_t *comm);

/* Whether a process of this job has a bad parameter. After MPI_Init's exchange only. Thread-safe.
 */
bool gba_coll_capability_bad(uint32_t vpid);

void gba_coll_capability_fini(void);

/* component.c */

/*
 * The device of the process, opened at the first call; the outcome of that call is remembered.
 * Returns the device, or NULL and the reason in *status. Thread-safe.
 */
gba_device_t *gba_coll_device(gba_status_t *status);

/* module.c */

/* A module for one communicator, or NULL: no memory. */
mca_coll_base_module_t *gba_coll_module_create(void);

/*
 * The barrier that was there before us. Its component may put another one in its place for good,
 * which `saved` has then. Returns what it returns. Collective, blocks. No other thread may be in a
 * blocking call on this communicator, which MPI does not allow anyway; nonblocking barriers of ours
 * may be under way.
 */
int gba_coll_saved_barrier(ompi_communicator_t *comm, struct gba_coll_saved *saved);

/* Let blocking barriers take the fast path, if there is one and nothing is queued. */
void gba_coll_module_activate(gba_coll_module_t *module);

/* Sum over all modules, those that are gone included. Thread-safe; may lag behind other threads. */
void gba_coll_counts_sum(struct gba_common_counts *sum);

void gba_coll_waits_sum(struct gba_coll_waits *sum);

/*
 * What one communicator has done.
 * path: that it takes now.
 * Returns false, and sets nothing, if it has no module of ours. Thread-safe, as above.
 */
bool gba_coll_counts_of(const ompi_communicator_t *comm, struct gba_common_counts *counts,
                        struct gba_coll_waits *waits, gba_path_t *path);

/* Give back what leaked communicators hold; their modules stay, and use the saved barrier. */
void gba_coll_modules_close(void);

/* agree.c: collective, in a blocking barrier. The path is a matter of the module from then on. */

/* At the first one. Returns GBA_OK when the module has a path, whichever it is; else an exchange
 * failed, or memory did. */
gba_status_t gba_coll_agree(ompi_communicator_t *comm, gba_coll_module_t *module);

/*
 * At the end of one, after gba_team_recover_due: the group is lost; after gba_team_meet_due:
 * perhaps there is one now. Return OMPI_SUCCESS, or an error if the exchange failed; then the path
 * is the saved barrier.
 */
int gba_coll_recover(ompi_communicator_t *comm, gba_coll_module_t *module);
int gba_coll_meet(ompi_communicator_t *comm, gba_coll_module_t *module);

/* barrier.c */

int gba_coll_barrier(ompi_communicator_t *comm, mca_coll_base_module_t *super);

/*
 * At the end of a blocking barrier: agree on the path from now on, if the device has died or taken
 * the group back and the time has come (gba_team_recover_due), or if a meeting is due.
 * Returns OMPI_SUCCESS, or an error if the exchange failed; then the path is the saved barrier.
 * Collective, blocks.
 */
int gba_coll_barrier_after(ompi_communicator_t *comm, gba_coll_module_t *module);

/* ibarrier.c */

int gba_coll_ibarrier(ompi_communicator_t *comm, ompi_request_t **request,
                      mca_coll_base_module_t *super);

/* A blocking barrier on our path behind those that are queued. */
int gba_coll_ibarrier_wait(ompi_communicator_t *comm, gba_coll_module_t *module);

/* Whether nothing is queued. It stays so until this communicator is called again. */
bool gba_coll_ibarrier_idle(gba_coll_module_t *module);

/* Forget what is queued: only a program in error leaves any behind when a communicator ends. */
void gba_coll_ibarrier_drop(gba_coll_module_t *module);

void gba_coll_ibarrier_close(void);

/* notices.c */

/* gba_common_notices_start and _tell, for communicators; and the end, with MPI_COMM_WORLD. */
int gba_coll_notices_start(void);
void gba_coll_notices_stop(void);
void gba_coll_notices_tell(gba_coll_module_t *module, ompi_communicator_t *comm);

/* request.c */

/* The free list of requests. Returns OMPI_SUCCESS or an error. */
int gba_coll_requests_open(void);
void gba_coll_requests_close(void);

/* An active request, which keeps its communicator until it is freed. NULL: no memory. */
gba_coll_request_t *gba_coll_request_create(gba_coll_module_t *module, ompi_communicator_t *comm);

/* oob.c */

/* What the functions of the table get as ctx; lives as long as the table is in use. */
struct gba_coll_oob_ctx {
    ompi_communicator_t *comm;
    struct gba_coll_saved *saved;
};

/* The exchange for libgba over the saved collectives of a communicator. */
void gba_coll_oob_init(gba_oob_t *oob, struct gba_coll_oob_ctx *ctx, ompi_communicator_t *comm,
                       struct gba_coll_saved *saved);

/* A member for people: "rank 3 on hostb". Not collective. */
void gba_coll_name_member(ompi_communicator_t *comm, uint32_t rank, char *text, size_t len);

/* Open MPI's error code for a status. */
int gba_coll_error(gba_status_t status);

/* report.c */

/* Open the log and find the help texts. */
void gba_coll_report_init(void);
void gba_coll_report_fini(void);

/*
 * A line for the user. Where Open MPI can do that, it appears once per job and topic, however many
 * processes send it; elsewhere each one does, so the callers see to it that one process speaks.
 * topic: a section of help-coll-gba-barrier.txt, which has one %s.
 */
void gba_coll_report_once(const char *topic, const char *line);

/* Say once, after MPI_Init's exchange, that a parameter is bad, if one is. */
void gba_coll_report_parameter(void);

/* Which path a communicator takes, and why. Called by all members; `speaker` is the one that
 * speaks, unless somebody asked for the device that they did not get. */
void gba_coll_report_path(ompi_communicator_t *comm, uint32_t speaker, gba_status_t reason,
                          const char *why);

/* What this process and the device have done. */
void gba_coll_report_totals(void);

#endif
