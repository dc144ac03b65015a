/* SPDX-License-Identifier: BSD-3-Clause */
/* How the members of a communicator get their path: what they know of each other from MPI_Init on,
 * the exchange, the agreement, and what the user is told. */
#ifndef GBA_COLL_AGREE_H
#define GBA_COLL_AGREE_H

#include "ompi/mca/coll/gba_barrier/module.h"

/* capability.c: the processes of the job with an enabled component */

/* Publish the word of this process to the job, and disable the component where that is no use. To
 * be called in open, before the exchange of MPI_Init. */
void gba_coll_capability_publish(void);

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

/* The members of a communicator: of an intercommunicator those of both groups, in the same order in
 * both. Its first group, and the process of a member. */
uint32_t gba_coll_size(ompi_communicator_t *comm);
ompi_group_t *gba_coll_first_group(const ompi_communicator_t *comm);
opal_process_name_t gba_coll_member(const ompi_communicator_t *comm, uint32_t member);

/* For gba_common_framework. Not collective. */
void gba_coll_name_member(void *owner, uint32_t rank, char *text, size_t len);

/* agree.c */

/*
 * Call the fallback barrier. Its component may replace it permanently; `fallback` then has the
 * replacement. Returns the result of that barrier. Collective, blocks. No other thread may be in a
 * blocking call on this communicator, which MPI forbids anyway. Our nonblocking barriers may be in
 * progress.
 */
int gba_coll_fallback_barrier(gba_coll_module_t *module);

/* The same for gba_common_framework. */
gba_status_t gba_coll_fallback(void *owner);

/* For gba_common_framework; apply may also be called when the queue has become empty. In a blocking
 * barrier, or in progress of one that is not. */
gba_status_t gba_coll_agree_prepare(void *owner, struct gba_common_agreement *a,
                                    bool renegotiation);
void gba_coll_agree_apply(void *owner);

/* Whether a communicator gets no device because Open MPI uses it for OpenSHMEM: one below an active
 * set, whose members have another path or will have one soon, or that of all PEs. */
bool gba_coll_agree_for_set(const ompi_communicator_t *comm);

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

/* For gba_common_framework: the name and the number of a communicator. */
void gba_coll_name(void *owner, char *text, size_t len);
uint64_t gba_coll_id(const void *owner);

/* For gba_common_framework: the rank of a member in MPI_COMM_WORLD. */
int gba_coll_agree_peer(const void *owner, uint32_t member);

/* For gba_common_framework: whether a member is of this job, and not of one that was spawned. */
bool gba_coll_agree_of_job(const void *owner, uint32_t member);

/* report.c */

/* Report once, after MPI_Init's exchange, that a parameter is invalid; or, at verbose 1, that
 * `disable` is 1. */
void gba_coll_report_parameter(void);

/*
 * For gba_common_framework: report the path of a communicator, and its reason. Called by all
 * members. reporter: the member that reports at verbose 1. A user who requested the device gets the
 * line at verbose 0, from the member that knows the cause. reason, culprit: why there is no group,
 * or GBA_OK, and the member that caused it.
 */
void gba_coll_report_path(void *owner, uint32_t reporter, gba_status_t reason, uint32_t culprit,
                          const char *why);

/*
 * At verbose 1: report that the ranks of a communicator never agreed on a path, because it did
 * at most agree_after barriers. _begin: before a barrier on the fallback; in the first one it
 * stores the name, because the communicator may be partly destroyed at the end. _end: when the
 * module closes.
 */
void gba_coll_report_unagreed_begin(gba_coll_module_t *module);
void gba_coll_report_unagreed_end(gba_coll_module_t *module);

#endif
