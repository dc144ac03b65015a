/* SPDX-License-Identifier: BSD-3-Clause */
/* Agreements of the members of a communicator, and their exchange. */
#ifndef GBA_COLL_AGREE_H
#define GBA_COLL_AGREE_H

#include "ompi/mca/coll/gba_barrier/module.h"

/* messages.c */

/* The exchange for libgba; its ctx is a module. */
extern const gba_oob_t gba_coll_oob;

/* Open the exchange of a module, unless it is open. Returns GBA_OK or GBA_ERR_NOMEM. Not
 * collective: sends nothing. */
gba_status_t gba_coll_messages_open(gba_coll_module_t *module);

/* Free it, unless the PML still uses its memory, which it does after a failure only. */
void gba_coll_messages_close(gba_coll_module_t *module);

/* agree.c */

/*
 * Call the fallback barrier. Its component may replace it permanently; `fallback` then has the
 * replacement. Returns the result of that barrier. Collective, blocks. No other thread may be in a
 * blocking call on this communicator, which MPI forbids anyway. Our nonblocking barriers may be in
 * progress.
 */
int gba_coll_fallback_barrier(gba_coll_module_t *module);

/* The same for gba_team_attr_t. */
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

/* For gba_common_framework: the rank of a member in MPI_COMM_WORLD. */
int gba_coll_agree_peer(const void *owner, uint32_t member);

#endif
