/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of the job with an enabled component, known from MPI_Init on. */
#ifndef GBA_COLL_CAPABILITY_H
#define GBA_COLL_CAPABILITY_H

#include "ompi/mca/coll/gba_barrier/module.h"

/* Publish the word of this process to the job. To be called in open, before the exchange of
 * MPI_Init. Returns NULL, or the text of the error. */
const char *gba_coll_capability_publish(void);

/* What the members of a communicator have published. */
struct gba_coll_survey {
    /* GBA_OK: all have the component enabled, with equal values. Else GBA_ERR_NO_PLUGIN,
     * GBA_ERR_MISMATCH, or GBA_ERR_UNSUPPORTED (members of several jobs), */
    gba_status_t status;
    uint32_t culprit;   /* and the lowest member without it, with other values, or of another job */
    uint32_t reporter;  /* the lowest member with an enabled component */
    uint32_t requester; /* the lowest of these whose user requested a device; UINT32_MAX: none */
};

/* All callers get the same result. Sends nothing. Thread-safe. */
void gba_coll_capability_survey(ompi_communicator_t *comm, struct gba_coll_survey *survey);

/*
 * Describe for the user why a survey is not GBA_OK, with the differing values and their members.
 * reason, rank: its status and culprit. Thread-safe.
 */
void gba_coll_capability_describe(gba_coll_module_t *module, gba_status_t reason, uint32_t rank,
                                  char *text, size_t len);

/* Whether the user of that member requested a device; for a communicator that has a
 * requester. Thread-safe. */
bool gba_coll_capability_requested(ompi_communicator_t *comm, uint32_t rank);

/*
 * Whether a process of this job has published the same word as this one. If the component is
 * disabled here: whether it is disabled there for the same reason (an invalid parameter, or
 * `disable`). After MPI_Init's exchange only. Thread-safe.
 */
bool gba_coll_capability_same(uint32_t vpid);

/* The name of a member for the user, for gba_oob_t: "rank 3 on hostb". Not collective. */
void gba_coll_name_member(void *owner, uint32_t rank, char *text, size_t len);

#endif
