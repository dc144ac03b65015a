/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The component of Open MPI's coll framework: MPI_Barrier through libgba.
 *
 * ompi/mca/common/gba/module.h has the part that the scoll component shares.
 *
 * Locks. gba_common.lock protects the cache of capabilities, too. A module needs no lock, because
 * MPI forbids two concurrent collective calls on one communicator.
 * The exception is its queue of nonblocking barriers, which any thread advances under
 * component.queue_lock, see ibarrier.c. An agreement in a nonblocking barrier takes gba_common.lock
 * under the queue_lock. No thread takes them in the other order.
 */
#ifndef GBA_COLL_MODULE_H
#define GBA_COLL_MODULE_H

#include "ompi/mca/coll/gba_barrier/compat.h"

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
    char *label; /* see gba_coll_report_unagreed_begin; NULL: none */
    /* Nonblocking barriers, under component.queue_lock: */
    gba_coll_request_t *queue, **queue_last;
    bool begun; /* the first one is in progress, not an agreement before it */
    /* In component.busy, while the queue is not empty. */
    struct gba_coll_module *busy_next, **busy_link;
    /* Of agreements, and of barriers after one on the fallback; see agree.c. */
    bool failed;   /* one has failed, so each later barrier does */
    uint64_t word; /* of a barrier over messages */
    /* All nonblocking barriers are queued. Set and cleared only by calls on the communicator, and
     * thus by the same ones on all members. While it is set, `agreed` and `path` may change in
     * progress, at different times on different members. */
    bool queueing;
} gba_coll_module_t;
OBJ_CLASS_DECLARATION(gba_coll_module_t);

typedef struct gba_coll_component {
    mca_coll_base_component_t super;
    bool abi_differs; /* this Open MPI is not the one that the component was compiled with */
    opal_free_list_t requests;
    opal_mutex_t queue_lock;
    gba_coll_module_t *busy;    /* modules with a barrier in progress that opal_progress advances */
    gba_coll_module_t *busy_at; /* the next one in turn, see ibarrier.c; NULL: the first */
    gba_word_t busy_any;        /* 1: busy is not empty */
    gba_word_t progressed;      /* ns: time of their last slow turn, see ibarrier.c */
    uint64_t turned;            /* ns: end of their last turn */
    bool slow, slow_due;        /* this round of turns is slow; the next one is */
    bool progress_registered;
    uint64_t *capabilities; /* of the job's processes, by vpid; 0: not looked up */
} gba_coll_component_t;

extern gba_coll_component_t mca_coll_gba_barrier_component;
#define gba_coll (&mca_coll_gba_barrier_component)

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

/* Open MPI's error code for the status of an agreement or a barrier. */
static inline int gba_coll_error(gba_status_t status)
{
    if (GBA_OK == status)
        return OMPI_SUCCESS;
    return GBA_ERR_NOMEM == status ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_ERROR;
}

/* module.c */

/* A module for one communicator. NULL: out of memory. */
mca_coll_base_module_t *gba_coll_module_create(void);

/* For gba_common_framework. */
void gba_coll_module_close(void *owner);

#endif
