/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MCA parameters and performance variables, and what the members have to have in common.
 */
#ifndef GBA_COMMON_PARAMS_H
#define GBA_COMMON_PARAMS_H

#include "opal/mca/base/base.h"

#include "gba/base/component_params.h"
#include "gba/gba.h"

/*
 * Register libgba's parameters, those of both components and `own`, and a performance variable for
 * each count. May run several times, and in ompi_info. offload_after, quiet: the defaults of these
 * parameters.
 */
void gba_common_params_register(const mca_base_component_t *component, const gba_param_t *own,
                                int offload_after, bool quiet);

/* pvars.c: of gba_common_params_register. */
void gba_common_pvars_register(const mca_base_component_t *component);

/* Copy the user's values and check them: set params, enabled, device_asked and bad_parameter. */
void gba_common_params_check(void);

/*
 * The word that a process publishes or sends. If the words of all members are equal, the component
 * serves them.
 * protocol: 1 to 255, the version of what the component's processes send to each other outside
 * libgba. agree_after: 0 to GBA_AGREE_AFTER_MAX, the parameter of coll; 0 in scoll.
 * Returns, from the highest bit: 8 bits protocol, 8 version of libgba's wire (its low bits), 16
 * agree_after, 7 priority, 1 for the component's own use (GBA_COMMON_OWN_BIT, clear), 24
 * min_comm_size (cut to the largest that fits, because no communicator is that large). The priority
 * is included because it decides whether our barrier or another component's is on top. Thread-safe.
 * Not collective.
 */
#define GBA_COMMON_PROTOCOL_SHIFT 56
#define GBA_COMMON_OWN_BIT        (UINT64_C(1) << 24)
uint64_t gba_common_capability(uint64_t protocol, uint64_t agree_after);

/*
 * Describe the differences between the words of two members for the user: "priority differs: 100
 * (rank 0 on hosta), 50 (rank 2 on hostb)". members: their names. text: receives all differences,
 * at most len bytes.
 */
void gba_common_capability_differ(const uint64_t words[2], const char *const members[2], char *text,
                                  size_t len);

/*
 * The prefix of the names of communicators that scoll/mpi makes, one for each active set that
 * scoll/gba serves. The barrier of such a communicator is in use until the set has agreed on its
 * own path, so it must not take a barrier group.
 */
#define GBA_COMMON_SET_NAME "active set of "

#endif
