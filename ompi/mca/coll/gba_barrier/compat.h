/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Differences between Open MPI 4.1, 5.0 and 6.x in the coll framework and its communicators. All
 * other code of the component is common to them.
 */
#ifndef GBA_COLL_COMPAT_H
#define GBA_COLL_COMPAT_H

#include "ompi/mca/common/gba/compat.h"

#include "gba/base/printable.h"
#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/group/group.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/proc/proc.h"
#include "ompi/request/request.h"
#include "ompi/runtime/params.h"
#if OMPI_MAJOR_VERSION >= 5
#include "ompi/instance/instance.h"
#endif

/* Open MPI accepts a component only if its interface version is exactly Open MPI's own. */
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
 * The installation of a module's functions in a communicator. Up to 5.0 the framework copies them,
 * and a module that is replaced lives only while it has a reference. From 6.0 on the module
 * installs them and restores the previous ones in disable, and the framework keeps all modules
 * alive.
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

/*
 * Whether all processes of the job have published their words when MPI_Init (or the first
 * MPI_Session_init) ends, and this process can get them. One of two fences guarantees the first:
 * the fence that collects the words for each host, which has ended by then even if it runs in the
 * background (pmix_base_async_modex, 6.0's default); or the fence at the end of MPI_Init. With that
 * parameter 5.0's fence for sessions collects nothing.
 */
static inline bool gba_compat_modex_complete(void)
{
    bool complete = opal_pmix_collect_all_data;

#if OMPI_MAJOR_VERSION == 5
    complete = complete && !opal_pmix_base_async_modex;
#endif
#if OMPI_MAJOR_VERSION >= 5
    /* Another host's server does not help: it waits for a key that its process never publishes, as
     * a process without this component does. */
    complete = complete || ((opal_pmix_collect_all_data || !ompi_async_mpi_init) &&
                            (uint32_t)ompi_proc_world_size() == gba_compat_local_processes());
#endif
    return complete;
}
#if OMPI_MAJOR_VERSION == 5
#define GBA_COMPAT_MODEX_SETTING                                                              \
    "pmix_base_async_modex is set or pmix_base_collect_data is not, and the job has several " \
    "hosts "                                                                                  \
    "or async_mpi_init"
#elif OMPI_MAJOR_VERSION > 5
#define GBA_COMPAT_MODEX_SETTING \
    "pmix_base_collect_data is not set, and the job has several hosts or async_mpi_init"
#else
#define GBA_COMPAT_MODEX_SETTING "pmix_base_collect_data is not set"
#endif

/*
 * Whether a communicator comes from MPI_Init, not from a session. Only then is there an
 * MPI_COMM_WORLD, and an MPI_Finalize that waits for all processes.
 */
static inline bool gba_compat_comm_of_world(const ompi_communicator_t *comm)
{
#if OMPI_MAJOR_VERSION >= 5
    return ompi_mpi_instance_default == comm->instance;
#else
    (void)comm;
    return true;
#endif
}

/* The number of a communicator, for the user. */
#if OMPI_MAJOR_VERSION >= 5
#define GBA_COMM_ID(comm) ((unsigned)(comm)->c_index)
#else
#define GBA_COMM_ID(comm) ((unsigned)(comm)->c_contextid)
#endif

/* The same on all members: the index of a communicator that is made from a group of a session is
 * its process's own, and its context id is not. */
static inline uint32_t gba_compat_comm_number(const ompi_communicator_t *comm)
{
#if OMPI_MAJOR_VERSION >= 5
    const uint64_t base = comm->c_contextid.cid_base, sub = comm->c_contextid.cid_sub.u64;

    if (!OMPI_COMM_IS_GLOBAL_INDEX(comm))
        return (uint32_t)(base ^ base >> 32 ^ sub ^ sub >> 32);
#endif
    return GBA_COMM_ID(comm);
}

/* The name of a communicator, if it has one, for the user. Returns text. */
static inline const char *gba_compat_comm_name(const ompi_communicator_t *comm,
                                               char text[MPI_MAX_OBJECT_NAME])
{
    const char *name = comm->c_name; /* an array in 4.1, a pointer from 5.0 on */

    snprintf(text, MPI_MAX_OBJECT_NAME, "%s",
             name == NULL || '\0' == name[0] ? "communicator" : name);
    gba_printable(text);
    return text;
}

/* Whether processes may fail while the job continues: there are no barriers of ours then. 4.1 has
 * no such mode. */
static inline bool gba_compat_fault_tolerant(void)
{
#if OMPI_MAJOR_VERSION >= 5 && OPAL_ENABLE_FT_MPI
    return ompi_ftmpi_enabled;
#else
    return false;
#endif
}

#endif
