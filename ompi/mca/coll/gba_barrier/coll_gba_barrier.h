/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The component of Open MPI's coll framework: MPI_Barrier through libgba.
 *
 * Lowest first; no file calls one behind it:
 *
 * coroutine.c   a function that can be left and continued
 * exchange.c    the exchange of an agreement, which does not wait
 * messages.c    its messages
 * oob.c         the exchange for libgba
 * iagree.c      agreements in nonblocking barriers
 * capability.c  the processes of the job with an enabled component, known from MPI_Init on
 * report.c      the output for the user
 * agree.c       what the choice of the path depends on
 * request.c     the requests of nonblocking barriers
 * ibarrier.c    the nonblocking barrier, and blocking ones queued behind it
 * persistent.c  persistent barriers, each with its own communicator and team
 * barrier.c     the blocking barrier
 * module.c      one object per communicator, and the fallback
 * pvars.c       performance variables of waits, and of single communicators
 * params.c      MCA parameters and MPI_T performance variables
 * component.c   open, close, and the communicators that the component serves
 *
 * ompi/mca/common/gba/module.h has the part that the scoll component shares.
 *
 * Locks. gba_common.lock protects the cache of capabilities, too. A module needs no lock, because
 * MPI forbids two concurrent collective calls on one communicator.
 * The exception is its queue of nonblocking barriers, which any thread advances under
 * component.queue_lock, see ibarrier.c. An agreement in a nonblocking barrier takes gba_common.lock
 * under the queue_lock. No thread takes them in the other order.
 */
#ifndef GBA_COLL_GBA_BARRIER_H
#define GBA_COLL_GBA_BARRIER_H

#include "ompi/mca/coll/gba_barrier/compat.h"

#include "gba/base/order.h"
#include "ompi/mca/coll/gba_barrier/exchange.h"
#include "ompi/mca/common/gba/module.h"
#include "opal/class/opal_free_list.h"

/* The collectives that were selected before ours, each with its module. */
struct gba_coll_fallback {
    mca_coll_base_module_barrier_fn_t barrier;
    mca_coll_base_module_ibarrier_fn_t ibarrier; /* NULL: there was none, so we provide none */
    mca_coll_base_module_barrier_init_fn_t barrier_init; /* NULL: likewise */
    mca_coll_base_module_t *barrier_init_module;
    mca_coll_base_module_t *barrier_module, *ibarrier_module;
};

/* The request of a nonblocking or persistent barrier. */
typedef struct gba_coll_request {
    ompi_request_t super;
    struct gba_coll_module *module;
    struct gba_coll_request *next; /* in the module's queue, in the order of the calls */
    ompi_communicator_t *own;      /* persistent barrier: its communicator; else MPI_COMM_NULL */
    bool blocking;                 /* a blocking barrier, which the queue orders */
} gba_coll_request_t;
OBJ_CLASS_DECLARATION(gba_coll_request_t);

typedef struct gba_coll_module {
    mca_coll_base_module_t super;
    struct gba_common_module base;
    struct gba_coll_fallback fallback;
    /* Its communicator, which may have ended, except in a call on it, or while the team has a
     * barrier in progress. */
    ompi_communicator_t *comm;
    bool world; /* it belongs to MPI_COMM_WORLD */
    /* Barriers on the fallback before the agreement. The same on all members. */
    unsigned agree_after;
    unsigned unsampled; /* barriers since the last measured one */
    char *label;        /* see gba_coll_report_unagreed_begin; NULL: none */
    /* Nonblocking barriers, under component.queue_lock: */
    gba_coll_request_t *queue, **queue_last;        /* the first one is in progress */
    struct gba_coll_module *busy_next, **busy_link; /* in component.busy; link NULL: not in it */
    /* Of agreements, and of barriers after one on the fallback; see iagree.c. */
    struct gba_coll_messages *messages; /* NULL until the first one */
    struct gba_coll_iagree *iagree;     /* the agreement in a nonblocking barrier, or NULL */
    bool agreeing;                      /* the queue waits for its end */
    bool failed;                        /* one has failed, so each later barrier does */
    uint64_t word;                      /* of a barrier over messages */
    /* All nonblocking barriers are queued. Set and cleared only by calls on the communicator, and
     * thus by the same ones on all members. While it is set, `agreed` and `path` may change in
     * progress, at different times on different members. */
    bool queueing;
} gba_coll_module_t;
OBJ_CLASS_DECLARATION(gba_coll_module_t);

typedef struct gba_coll_component {
    mca_coll_base_component_t super;
    bool abi_differs; /* this Open MPI is not the one that the component was compiled with */
    unsigned sample;  /* parameter: measure every n-th barrier, 0: none */
    int agree_after;  /* parameter: 0 to GBA_COMMON_AGREE_AFTER_MAX */
    opal_free_list_t requests;
    opal_mutex_t queue_lock;
    gba_coll_module_t *busy; /* modules with a barrier in progress that opal_progress advances */
    gba_word_t busy_any;     /* 1: busy is not empty */
    gba_word_t progressed;   /* ns: time of their last slow turn, see ibarrier.c */
    bool progress_registered;
    uint64_t *capabilities; /* of the job's processes, by vpid; 0: not looked up */
    bool parameter_reported;
} gba_coll_component_t;

extern gba_coll_component_t mca_coll_gba_barrier_component;
#define gba_coll (&mca_coll_gba_barrier_component)

/* oob.c */

/* The exchange for libgba; its ctx is a module. */
extern const gba_oob_t gba_coll_oob;

/* Open the messages of a module, unless they are open. Returns GBA_OK or GBA_ERR_NOMEM. */
gba_status_t gba_coll_oob_open(gba_coll_module_t *module);

/* For gba_common_framework. */
int gba_coll_oob_peer(const void *owner, uint32_t member);

/*
 * Call the fallback barrier. Its component may replace it permanently; `fallback` then has the
 * replacement. Returns the result of that barrier. Collective, blocks. No other thread may be in a
 * blocking call on this communicator, which MPI forbids anyway. Our nonblocking barriers may be in
 * progress.
 */
int gba_coll_fallback_barrier(gba_coll_module_t *module);

/* The same for gba_team_attr_t. */
gba_status_t gba_coll_fallback(void *owner);

/* The name of a member for the user: "rank 3 on hostb". Not collective. */
void gba_coll_name_member(ompi_communicator_t *comm, uint32_t rank, char *text, size_t len);

/* Open MPI's error code for a status. */
int gba_coll_error(gba_status_t status);

/* coroutine.c */

typedef struct gba_coll_coroutine gba_coll_coroutine_t;

/* A coroutine that will call run(argument). NULL: out of memory. Thread-safe. */
gba_coll_coroutine_t *gba_coll_coroutine_create(void (*run)(void *argument), void *argument);

/* Start or continue it, in any thread, but in one at a time. Returns true if `run` has returned,
 * and false if it has yielded. Not to be called any more after true. */
bool gba_coll_coroutine_resume(gba_coll_coroutine_t *c);

/* In the coroutine: return from gba_coll_coroutine_resume. Returns in its next call. */
void gba_coll_coroutine_yield(gba_coll_coroutine_t *c);

/* Free its memory. After its end, or before its start. */
void gba_coll_coroutine_destroy(gba_coll_coroutine_t *c);

/* messages.c */

typedef struct gba_coll_messages gba_coll_messages_t;

/* An exchange among the members of a communicator, which has to outlive it. NULL: out of memory.
 * Not collective: sends nothing. */
gba_coll_messages_t *gba_coll_messages_open(ompi_communicator_t *comm);

/* Free it, unless the PML still uses its memory, which it does after a failure only. m: may be
 * NULL. */
void gba_coll_messages_close(gba_coll_messages_t *m);

struct gba_coll_exchange *gba_coll_messages_exchange(gba_coll_messages_t *m);

/* iagree.c: under component.queue_lock. */

/* Leave the agreement until its next test. */
void gba_coll_iagree_yield(struct gba_coll_iagree *a);

/* If an agreement is due before a nonblocking barrier, prepare it: `agreeing` is set. If there is
 * no memory for it, `failed` is set. To be called between two barriers of the queue, so that all
 * members call it after the same barriers. Sends nothing. */
void gba_coll_iagree_begin(gba_coll_module_t *module);

/* Advance the agreement. Returns GBA_INPROGRESS; GBA_OK: module->base.path is agreed; or the error
 * of the agreement, with `failed` set. Never waits for another member. */
gba_status_t gba_coll_iagree_test(gba_coll_module_t *module);

/* A barrier after an agreement on the fallback. Start it. Test it. As gba_coll_exchange_min and
 * gba_coll_exchange_test. */
gba_status_t gba_coll_iagree_barrier(gba_coll_module_t *module);
gba_status_t gba_coll_iagree_barrier_test(gba_coll_module_t *module);

/* capability.c */

/* Publish the word of this process to the job. To be called in open, before the exchange of
 * MPI_Init. Returns NULL, or the text of the error for the help topic "modex". */
const char *gba_coll_capability_publish(void);

/*
 * Whether all members of comm have the component enabled, with equal values. All callers get the
 * same result. Sends nothing.
 * rank: if not GBA_OK, the lowest member without it, or with other values.
 * reporter: the lowest member that calls this function, too.
 * Returns GBA_OK; GBA_ERR_NO_PLUGIN; GBA_ERR_MISMATCH; GBA_ERR_UNSUPPORTED (members of several
 * jobs). Thread-safe.
 */
gba_status_t gba_coll_capability_check(ompi_communicator_t *comm, uint32_t *rank,
                                       uint32_t *reporter);

/*
 * Describe for the user why gba_coll_capability_check refused a communicator, with the differing
 * values and their members. reason, rank: as returned by that function. Thread-safe.
 */
void gba_coll_capability_describe(ompi_communicator_t *comm, gba_status_t reason, uint32_t rank,
                                  char *text, size_t len);

/*
 * The lowest member with an enabled component whose user requested a device; UINT32_MAX: none. All
 * members get the same result. Thread-safe.
 */
uint32_t gba_coll_capability_requester(ompi_communicator_t *comm);

/* Whether the user of that member requested a device; for a communicator for which
 * gba_coll_capability_requester finds a member. Thread-safe. */
bool gba_coll_capability_requested(ompi_communicator_t *comm, uint32_t rank);

/*
 * Whether a process of this job has published the same word as this one. If the component is
 * disabled here: whether it is disabled there for the same reason (an invalid parameter, or
 * `disable`). After MPI_Init's exchange only. Thread-safe.
 */
bool gba_coll_capability_same(uint32_t vpid);

void gba_coll_capability_fini(void);

/* report.c */

/* Locate the help texts. */
void gba_coll_report_init(void);

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
 * reporter: the member that reports at verbose 1. A user who requested the device gets the line at
 * verbose 0, from the member that knows the cause.
 * reason, culprit: why there is no group, or GBA_OK, and the member that caused it.
 */
void gba_coll_report_path(ompi_communicator_t *comm, uint32_t reporter, gba_status_t reason,
                          uint32_t culprit, const char *why);

/*
 * At verbose 1: report that the ranks of a communicator never agreed on a path, because it did
 * at most agree_after barriers. _begin: before a barrier on the fallback; in the first one it
 * stores the name, because the communicator may be partly destroyed at the end. _end: when the
 * module closes.
 */
void gba_coll_report_unagreed_begin(gba_coll_module_t *module, ompi_communicator_t *comm);
void gba_coll_report_unagreed_end(gba_coll_module_t *module);

/* agree.c */

/* For gba_common_framework; apply may also be called when the queue has become empty. In a blocking
 * barrier, or by the coroutine of one that is not. */
gba_status_t gba_coll_agree_prepare(void *owner, struct gba_common_agreement *a,
                                    bool renegotiation);
void gba_coll_agree_apply(void *owner);
void gba_coll_agree_report(void *owner, uint32_t reporter, gba_status_t reason, uint32_t culprit,
                           const char *why);

/*
 * Whether the members agree on a path in this call, a barrier of any kind. They have called the
 * same barriers on this communicator before it, blocking and nonblocking, so all of them count
 * alike. Time must not decide here, because it differs between members.
 */
bool gba_coll_agree_due(const gba_coll_module_t *module);

/*
 * Whether the members' published words forbid a team: a member lacks the component, the parameters
 * differ, or the members are too few. The module then has the fallback, and the reason is reported.
 * For a module that has not agreed. Sends nothing: all members with the component get the same
 * result, and a member without it never calls this. Not thread-safe on one module.
 */
bool gba_coll_agree_declines(gba_coll_module_t *module);

/* request.c */

/* The free list of requests. Returns OMPI_SUCCESS or an error. */
int gba_coll_requests_open(void);
void gba_coll_requests_close(void);

/* An active request, which holds a reference to its communicator until it is freed. NULL: out of
 * memory. */
gba_coll_request_t *gba_coll_request_create(gba_coll_module_t *module, ompi_communicator_t *comm);

/* ibarrier.c */

int gba_coll_ibarrier(ompi_communicator_t *comm, ompi_request_t **request,
                      mca_coll_base_module_t *super);

/*
 * Queue an active request of a module with a team, and advance the queue. Returns OMPI_SUCCESS, or
 * an error; the request is then in no queue. Thread-safe.
 */
int gba_coll_ibarrier_enqueue(gba_coll_request_t *request);

/* A blocking barrier on our path, behind the queued ones. Collective, blocks. */
int gba_coll_ibarrier_wait(gba_coll_module_t *module);

/* Whether a blocking barrier must take the queue. If not, this remains so until the next call on
 * this communicator. */
bool gba_coll_ibarrier_queues(gba_coll_module_t *module);

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

/* barrier.c */

int gba_coll_barrier(ompi_communicator_t *comm, mca_coll_base_module_t *super);

/* module.c */

/* A module for one communicator. NULL: out of memory. */
mca_coll_base_module_t *gba_coll_module_create(void);

/* For gba_common_framework. */
void gba_coll_module_close(void *owner);

/* pvars.c, params.c: register all parameters and variables. May run several times, and in
 * ompi_info. Returns OMPI_SUCCESS. */
void gba_coll_pvars_register(void);
int gba_coll_params_register(void);

/* After gba_common_open: check the parameters that libgba does not have. A value out of range
 * disables the component, as any other. */
void gba_coll_params_check(void);

#endif
