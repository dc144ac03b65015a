/* SPDX-License-Identifier: BSD-3-Clause */
/* What a component calls when it registers and opens, and until MPI_Init has ended. */
#ifndef GBA_COMMON_OPEN_H
#define GBA_COMMON_OPEN_H

#include "ompi/mca/common/gba/compat.h"

#include "opal/mca/base/base.h"
#include "opal/mca/base/mca_base_framework.h"

#include "gba/base/component_params.h"
#include "gba/gba.h"

/* params.c */

/*
 * Register libgba's parameters, those of both components and `own`, and a performance variable for
 * each count. May run several times, and in ompi_info. offload_after, quiet: the defaults of these
 * parameters.
 */
void gba_common_params_register(const mca_base_component_t *component, const gba_param_t *own,
                                int offload_after, bool quiet);

/* Copy the user's values and check them: set params, enabled, device_asked and bad_parameter. */
void gba_common_params_check(void);

/* What disables the component here, if no parameter is bad: "disable is 1", or the line of the
 * site's file. */
const char *gba_common_disabled(void);

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

/* pvars.c */

/* Register the performance variables, for gba_common_params_register. */
void gba_common_pvars_register(const mca_base_component_t *component);

/* component.c */

/* A class of Open MPI, and the size of its objects when the component was compiled. */
struct gba_common_class {
    const char *name;
    const opal_class_t *cls;
    size_t size; /* bytes */
};
#define GBA_COMMON_CLASS(type)               \
    {                                        \
#type, OBJ_CLASS(type), sizeof(type) \
    }

/* Compare the sizes of classes; the list ends with a NULL name. If they differ, disable the
 * component and report it. To be called in a component's open, after gba_common_open and before any
 * access to such an object. Returns whether all sizes are equal. */
bool gba_common_abi_check(const struct gba_common_class *classes);

/* processors.c */

/*
 * Publish the processors of this process, if they are not more than the processes of the job on
 * this host. To be called in a component's open, after gba_common_open, while the modex is open.
 */
void gba_common_processors_publish(void);

/*
 * Whether the job has more processes on this host than they may use processors together. served:
 * count one process more, which serves the device. To be called after MPI_Init's exchange. The
 * first call reads the modex. Thread-safe.
 */
bool gba_common_processors_shared(bool served);

/* companions.c */

/*
 * Load the other components that an exclusive selection of `self` needs. To be called in the
 * component's open only, also if it is disabled, because the user needs the other collectives in
 * any case.
 * needed: the components that together provide all collectives, ending with NULL; loaded when the
 * user's list names `self` and lacks them.
 */
void gba_common_companions_load(mca_base_framework_t *framework, const char *self,
                                const char *const *needed);

#endif
