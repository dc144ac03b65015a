/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What differs between Open MPI 4.1, 5.0 and 6.x in the coll framework and its communicators.
 * Everything else in the component is the same for all of them.
 */
#ifndef GBA_COLL_COMPAT_H
#define GBA_COLL_COMPAT_H

#include "ompi/mca/common/gba/compat.h"

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/group/group.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/proc/proc.h"
#include "ompi/request/request.h"
#include "ompi/runtime/params.h"

/* Open MPI takes a component only if this is exactly the interface that it has itself. */
#if OMPI_MAJOR_VERSION >= 6
#define GBA_COLL_BASE_VERSION MCA_COLL_BASE_VERSION_3_0_0
#elif OMPI_MAJOR_VERSION == 5
#define GBA_COLL_BASE_VERSION MCA_COLL_BASE_VERSION_2_4_0
#elif OMPI_MAJOR_VERSION == 4 && OMPI_MINOR_VERSION == 1
#define GBA_COLL_BASE_VERSION MCA_COLL_BASE_VERSION_2_0_0
#else
#error "this Open MPI is not supported: 4.1, 5.0 and 6.x are"
#endif

/*
 * Who installs a module's functions in a communicator. Up to 5.0 the framework copies them, and a
 * module that was overwritten lives only while somebody retains it. From 6.0 on the module does it,
 * puts back in disable what it found, and the framework keeps all modules alive.
 */
#if OMPI_MAJOR_VERSION >= 6
#define GBA_MODULE_RETAIN(module)  ((void)(module))
#define GBA_MODULE_RELEASE(module) ((void)(module))
#define GBA_COLL_INSTALL(comm, api, fn, module) \
    MCA_COLL_INSTALL_API(comm, api, fn, module, "gba_barrier")
#else
#define GBA_MODULE_RETAIN(module)               OBJ_RETAIN(module)
#define GBA_MODULE_RELEASE(module)              OBJ_RELEASE(module)
#define GBA_COLL_INSTALL(comm, api, fn, module) ((void)(comm), (void)(fn), (void)(module))
#endif

/* The number of a communicator for people. */
#if OMPI_MAJOR_VERSION >= 5
#define GBA_COMM_ID(comm) ((unsigned)(comm)->c_index)
#else
#define GBA_COMM_ID(comm) ((unsigned)(comm)->c_contextid)
#endif

/* The name of a communicator, if it has one. */
static inline const char *gba_compat_comm_name(const ompi_communicator_t *comm)
{
    const char *name = comm->c_name; /* an array in 4.1, a pointer from 5.0 on */

    return NULL == name || '\0' == name[0] ? "communicator" : name;
}

/* Whether processes may fail and be left behind: then no barrier of ours. 4.1 has no such mode. */
static inline bool gba_compat_fault_tolerant(void)
{
#if OMPI_MAJOR_VERSION >= 5 && OPAL_ENABLE_FT_MPI
    return ompi_ftmpi_enabled;
#else
    return false;
#endif
}

#endif
