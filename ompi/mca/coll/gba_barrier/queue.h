/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking barriers: their requests, and the queue of a module. */
#ifndef GBA_COLL_QUEUE_H
#define GBA_COLL_QUEUE_H

#include "ompi/mca/coll/gba_barrier/module.h"

/* request.c */

/* The free list of requests. Returns OMPI_SUCCESS or an error. */
int gba_coll_requests_open(void);

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

#endif
