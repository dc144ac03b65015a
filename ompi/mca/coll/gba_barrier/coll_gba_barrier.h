/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The component of Open MPI's coll framework: MPI_Barrier through libgba.
 *
 * component.c      open, close, and the communicators that the component serves
 * params.c         MCA parameters and MPI_T performance variables
 * pvars.c          performance variables of waits, and of single communicators
 * capability.c     the processes of the job that take part, known from MPI_Init on
 * module.c         one object per communicator: the fallback, and the counts
 * agree.c          the choice of the path, at the first barrier and later
 * barrier.c        the blocking barrier
 * ibarrier.c       the nonblocking barrier, and blocking ones queued behind it
 * request.c        the requests of nonblocking barriers
 * persistent.c     persistent barriers, each with its own communicator and team
 * notifications.c  failure notifications between members
 * oob.c            the exchange for the agreement, over the fallback's collectives
 * report.c         the output for the user
 *
 * ompi/mca/common/gba has the part that the scoll component shares.
 *
 * Locks. component.lock protects the device, the list of modules and the cache of capabilities. A
 * module needs no lock, because MPI forbids two concurrent collective calls on one communicator.
 * The exception is its queue of nonblocking barriers, which any thread advances under
 * component.queue_lock, see ibarrier.c. No thread takes one of the two locks while it holds the
 * other.
 */
#ifndef GBA_COLL_GBA_BARRIER_H
#define GBA_COLL_GBA_BARRIER_H

#include "ompi/mca/coll/gba_barrier/compat.h"

#include "gba/base/order.h"
#include "ompi/mca/common/gba/gba_common.h"
#include "opal/class/opal_free_list.h"

/* The collectives that were selected before ours, each with its module. */
struct gba_coll_fallback {
    mca_coll_base_module_barrier_fn_t barrier;
    mca_coll_base_module_bcast_fn_t bcast;
    mca_coll_base_module_allreduce_fn_t allreduce;
    mca_coll_base_module_allgather_fn_t allgather;
    mca_coll_base_module_ibarrier_fn_t ibarrier; /* NULL: there was none, so we provide none */
    mca_coll_base_module_barrier_init_fn_t barrier_init; /* NULL: likewise */
    mca_coll_base_module_t *barrier_init_module;
    mca_coll_base_module_t *barrier_module, *bcast_module, *allreduce_module, *allgather_module,
        *ibarrier_module;
};

/* The measurements of every n-th blocking barrier; n is the parameter "sample". */
struct gba_coll_waits {
    unsigned long long sampled, ns, max_ns; /* max_ns: of the longest wait */
};

/* The request of a nonblocking or persistent barrier. */
typedef struct gba_coll_request {
    ompi_request_t super;
    struct gba_coll_module *module;
    struct gba_coll_request *next; /* in the module's queue, in the order of the calls */
    ompi_communicator_t *own;      /* persistent barrier: its communicator; else MPI_COMM_NULL */
} gba_coll_request_t;
OBJ_CLASS_DECLARATION(gba_coll_request_t);

typedef struct gba_coll_module {
    mca_coll_base_module_t super;
    /* The team, while a barrier needs only gba_barrier_wait; the only field that the fast path
     * reads. NULL: the slow path of gba_coll_barrier. */
    gba_pointer_t active;
    struct gba_coll_fallback fallback;
    gba_team_t *team; /* NULL until the agreement, and if capabilities forbid a team */
    gba_path_t path;  /* the agreed path, that of the team's rounds that are not in the tally */
    struct gba_common_tally tally;
    bool agreed;
    gba_status_t declined;           /* not GBA_OK: why capabilities forbid a team */
    const ompi_communicator_t *comm; /* its communicator; only compared */
    struct gba_coll_waits waits;
    unsigned unsampled;                   /* barriers since the last measured one */
    unsigned long long fallbacks;         /* barriers on the fallback's barrier or ibarrier */
    char *label;                          /* see gba_coll_report_unagreed_begin; NULL: none */
    struct gba_coll_module *next, **link; /* in component.modules; link NULL: not in it */
    /* Nonblocking barriers, under component.queue_lock: */
    gba_coll_request_t *queue, **queue_last;        /* the first one is in progress */
    struct gba_coll_module *busy_next, **busy_link; /* in component.busy; link NULL: not in it */
    unsigned spins;
    uint64_t round_reported; /* the last round whose notifications are posted */
    bool world;              /* it belongs to MPI_COMM_WORLD */
} gba_coll_module_t;
OBJ_CLASS_DECLARATION(gba_coll_module_t);

typedef struct gba_coll_component {
    mca_coll_base_component_t super;
    gba_params_t variables; /* storage of the MCA parameters, which owns the strings */
    char *companions;       /* one more parameter */
    int device_path_index;
    gba_params_t params;     /* checked copy, from open on */
    bool abi_differs;        /* this Open MPI is not the one that the component was compiled with */
    bool enabled;            /* not disabled, and all parameters are valid */
    bool device_asked;       /* the user set device_path, to another value than "none" */
    char bad_parameter[512]; /* the error in a parameter, or "" */
    int output;
    opal_mutex_t lock;
    struct gba_common_device device;
    gba_coll_module_t *modules;
    struct gba_common_counts retired; /* of destroyed modules */
    struct gba_coll_waits retired_waits;
    unsigned sample; /* parameter: measure every n-th barrier, 0: none */
    opal_free_list_t requests;
    opal_mutex_t queue_lock;
    gba_coll_module_t *busy; /* modules with a barrier in progress that opal_progress advances */
    gba_word_t busy_any;     /* 1: busy is not empty */
    bool progress_registered;
    uint64_t *capabilities; /* of the job's processes, by vpid; 0: not looked up */
    bool parameter_reported;
} gba_coll_component_t;

extern gba_coll_component_t mca_coll_gba_barrier_component;
#define gba_coll (&mca_coll_gba_barrier_component)

/* params.c */

/* Register all parameters and variables. May run several times, and in ompi_info. Returns
 * OMPI_SUCCESS. */
int gba_coll_params_register(void);

/* Set params, enabled, device_asked and bad_parameter. */
void gba_coll_params_check(void);

/* pvars.c */

void gba_coll_pvars_register(void);

/* capability.c */

/* Publish the word of this process to the job. To be called in open, before the exchange of
 * MPI_Init. */
void gba_coll_capability_publish(void);

/*
 * Whether all members of comm take part, with equal values. All callers get the same result. Sends
 * nothing.
 * rank: if not GBA_OK, the lowest member that does not take part or differs.
 * speaker: the lowest member that calls this function, too.
 * Returns GBA_OK; GBA_ERR_NO_PLUGIN; GBA_ERR_MISMATCH; GBA_ERR_UNSUPPORTED (members of several
 * jobs). Thread-safe.
 */
gba_status_t gba_coll_capability_check(ompi_communicator_t *comm, uint32_t *rank,
                                       uint32_t *speaker);

/*
 * Describe for the user why gba_coll_capability_check refused a communicator, with the differing
 * values and their members. reason, rank: as returned by that function. Thread-safe.
 */
void gba_coll_capability_describe(ompi_communicator_t *comm, gba_status_t reason, uint32_t rank,
                                  char *text, size_t len);

/*
 * The lowest member that takes part and whose user requested a device; UINT32_MAX: none. All
 * members get the same result. Thread-safe.
 */
uint32_t gba_coll_capability_asker(ompi_communicator_t *comm);

/* Whether the user of that member requested a device; for a communicator for which
 * gba_coll_capability_asker finds a member. Thread-safe. */
bool gba_coll_capability_asks(ompi_communicator_t *comm, uint32_t rank);

/*
 * Whether a process of this job has published the same word as this one. For a process that takes
 * no part: whether the other one takes no part either, for the same reason (an invalid parameter,
 * or `disable`). After MPI_Init's exchange only. Thread-safe.
 */
bool gba_coll_capability_same(uint32_t vpid);

void gba_coll_capability_fini(void);

/* component.c */

/*
 * The device of the process, opened at the first call; later calls return the outcome of the first.
 * Returns the device, or NULL with the reason in *status. Thread-safe.
 */
gba_device_t *gba_coll_device(gba_status_t *status);

/* module.c */

/* A module for one communicator. NULL: out of memory. */
mca_coll_base_module_t *gba_coll_module_create(void);

/*
 * Call the fallback barrier. Its component may replace it permanently; `fallback` then has the
 * replacement. Returns the result of that barrier. Collective, blocks. No other thread may be in a
 * blocking call on this communicator, which MPI forbids anyway. Our nonblocking barriers may be in
 * progress.
 */
int gba_coll_fallback_barrier(ompi_communicator_t *comm, struct gba_coll_fallback *fallback);

/* Enable the fast path of blocking barriers, if the path allows it and the queue is empty. */
void gba_coll_module_activate(gba_coll_module_t *module);

/* The sum over all modules, destroyed ones included. Thread-safe; may lag behind other threads. */
void gba_coll_counts_sum(struct gba_common_counts *sum);

void gba_coll_waits_sum(struct gba_coll_waits *sum);

/*
 * The counts of one communicator.
 * path: receives its current path.
 * Returns false, and sets nothing, if it has no module of ours. Thread-safe; may lag behind other
 * threads.
 */
bool gba_coll_counts_of(const ompi_communicator_t *comm, struct gba_common_counts *counts,
                        struct gba_coll_waits *waits, gba_path_t *path);

/* Free the resources of leaked communicators. Their modules stay, and use the fallback barrier. */
void gba_coll_modules_close(void);

/* agree.c: collective, in a blocking barrier. The path is stored in the module. */

/*
 * Whether the members' published words forbid a team: a member lacks the component, the parameters
 * differ, or the members are too few. The module then has the fallback, and the reason is reported.
 * For a module that has not agreed. Sends nothing: all members with the component get the same
 * result, and a member without it does not take part. Not thread-safe on one module.
 */
bool gba_coll_agree_declines(ompi_communicator_t *comm, gba_coll_module_t *module);

/* The agreement in the first barrier. Returns GBA_OK when the module has a path, possibly the
 * fallback; GBA_ERR_OOB if an exchange failed; or GBA_ERR_NOMEM. */
gba_status_t gba_coll_agree(ompi_communicator_t *comm, gba_coll_module_t *module);

/*
 * Later agreements, at the end of a blocking barrier. recover: after gba_team_recover_due; the
 * group has failed. renegotiate: after gba_team_renegotiate_due; a group may be free now. Return
 * OMPI_SUCCESS, or an error if the exchange failed; the path is then the fallback.
 */
int gba_coll_recover(ompi_communicator_t *comm, gba_coll_module_t *module);
int gba_coll_renegotiate(ompi_communicator_t *comm, gba_coll_module_t *module);

/* barrier.c */

int gba_coll_barrier(ompi_communicator_t *comm, mca_coll_base_module_t *super);

/*
 * The end of a blocking barrier: agree on a new path if gba_team_recover_due or
 * gba_team_renegotiate_due requires it. Returns OMPI_SUCCESS, or an error if the exchange failed;
 * the path is then the fallback. Collective, blocks.
 */
int gba_coll_barrier_after(ompi_communicator_t *comm, gba_coll_module_t *module);

/* ibarrier.c */

int gba_coll_ibarrier(ompi_communicator_t *comm, ompi_request_t **request,
                      mca_coll_base_module_t *super);

/*
 * Queue an active request of a module with a team, and advance the queue. Returns OMPI_SUCCESS, or
 * an error; the request is then in no queue. Thread-safe.
 */
int gba_coll_ibarrier_enqueue(gba_coll_request_t *request);

/* A blocking barrier on our path, behind the queued ones. Collective, blocks. */
int gba_coll_ibarrier_wait(ompi_communicator_t *comm, gba_coll_module_t *module);

/* Whether the queue is empty. It stays empty until the next call on this communicator. */
bool gba_coll_ibarrier_idle(gba_coll_module_t *module);

/* Discard the queue. Only an erroneous program leaves barriers in it when a communicator ends. */
void gba_coll_ibarrier_drop(gba_coll_module_t *module);

void gba_coll_ibarrier_close(void);

/* persistent.c */

/*
 * coll_barrier_init of the framework.
 * info: MPI_Barrier_init's; unused, but passed to the fallback.
 * request: receives an inactive persistent request.
 * Returns OMPI_SUCCESS or an error code. Collective, may block.
 */
int gba_coll_barrier_init(ompi_communicator_t *comm, ompi_info_t *info, ompi_request_t **request,
                          mca_coll_base_module_t *super);

/* notifications.c */

/* gba_common_notifications_start and _tell, for communicators. _stop is called when MPI_COMM_WORLD
 * ends. */
int gba_coll_notifications_start(void);
void gba_coll_notifications_stop(void);
void gba_coll_notifications_tell(gba_coll_module_t *module, ompi_communicator_t *comm);

/* request.c */

/* The free list of requests. Returns OMPI_SUCCESS or an error. */
int gba_coll_requests_open(void);
void gba_coll_requests_close(void);

/* An active request, which holds a reference to its communicator until it is freed. NULL: out of
 * memory. */
gba_coll_request_t *gba_coll_request_create(gba_coll_module_t *module, ompi_communicator_t *comm);

/* oob.c */

/* The ctx of the table's functions; lives as long as the table is in use. */
struct gba_coll_oob_ctx {
    ompi_communicator_t *comm;
    struct gba_coll_fallback *fallback;
};

/* The exchange for libgba over the fallback's collectives of a communicator. */
void gba_coll_oob_init(gba_oob_t *oob, struct gba_coll_oob_ctx *ctx, ompi_communicator_t *comm,
                       struct gba_coll_fallback *fallback);

/* The name of a member for the user: "rank 3 on hostb". Not collective. */
void gba_coll_name_member(ompi_communicator_t *comm, uint32_t rank, char *text, size_t len);

/* Open MPI's error code for a status. */
int gba_coll_error(gba_status_t status);

/* report.c */

/* Open the log and locate the help texts. */
void gba_coll_report_init(void);
void gba_coll_report_fini(void);

/*
 * Print a line for the user. If Open MPI can show help texts, the line appears once per job and
 * topic, however many processes send it. If not, each call prints it, so callers select one
 * process.
 * topic: a section of help-coll-gba-barrier.txt, which has one %s.
 */
void gba_coll_report_once(const char *topic, const char *line);

/* Report once, after MPI_Init's exchange, that a parameter is invalid; or, at verbose 1, that
 * `disable` is 1. */
void gba_coll_report_parameter(void);

/*
 * Report the path of a communicator, and its reason. Called by all members.
 * speaker: the member that reports at verbose 1. A user who requested the device gets the line at
 * verbose 0, from the member that knows the cause.
 * reason, culprit: why there is no group, or GBA_OK, and the member that caused it.
 */
void gba_coll_report_path(ompi_communicator_t *comm, uint32_t speaker, gba_status_t reason,
                          uint32_t culprit, const char *why);

/*
 * At verbose 1: report that the ranks of a communicator never agreed on a path, because it used
 * nonblocking barriers only. _begin: before the first barrier of a communicator, if that is
 * nonblocking; stores the name, because the communicator may be partly destroyed at the end. _end:
 * when the module closes.
 */
void gba_coll_report_unagreed_begin(gba_coll_module_t *module, ompi_communicator_t *comm);
void gba_coll_report_unagreed_end(gba_coll_module_t *module);

/* Print the totals of this process and of the device. */
void gba_coll_report_totals(void);

#endif
