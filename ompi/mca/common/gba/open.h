/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a component calls when it opens, and until MPI_Init has ended.
 */
#ifndef GBA_COMMON_OPEN_H
#define GBA_COMMON_OPEN_H

#include "ompi/mca/common/gba/compat.h"

#include "opal/mca/base/base.h"
#include "opal/mca/base/mca_base_framework.h"

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
 * Load the other components that an exclusive selection of `self` needs, as the parameter
 * "companions" selects. To be called in the component's open only, also if it is disabled, because
 * the user needs the other collectives in any case.
 * needed: the components that together provide all collectives, ending with NULL; loaded when the
 * user's list names `self` and lacks them. If one of them is still missing, one line names the
 * parameter.
 */
void gba_common_companions_load(mca_base_framework_t *framework, const char *self,
                                const char *const *needed);

#endif
