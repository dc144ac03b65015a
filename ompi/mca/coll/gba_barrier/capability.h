/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of the job with an enabled component, known from MPI_Init on. */
#ifndef GBA_COLL_CAPABILITY_H
#define GBA_COLL_CAPABILITY_H

#include "ompi/mca/coll/gba_barrier/compat.h"

#include "gba/types.h"

/* Publish the word of this process to the job. To be called in open, before the exchange of
 * MPI_Init. Returns NULL, or the text of the error. */
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

/* The name of a member for the user: "rank 3 on hostb". Not collective. */
void gba_coll_name_member(ompi_communicator_t *comm, uint32_t rank, char *text, size_t len);

#endif
