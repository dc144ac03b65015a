/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The level below the process: barriers of all cores of all members of a team. A core is a thread.
 */
#ifndef GBA_CORES_H
#define GBA_CORES_H

#include "gba/params.h"
#include "gba/runtime.h"
#include "gba/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most cores of a process. */
#define GBA_CORES_MAX 4096u

/* The cores of a process, which gba_cores_create made. */
typedef struct gba_cores gba_cores_t;

/* What gba_cores_create knows of a process. All fields may be zero. */
typedef struct gba_cores_attr {
    /* For messages: this process, "rank 3 on hosta"; copied. NULL: as the team names it, or without
     * a team the rank of the launcher ($PMIX_RANK) or the process id, and the host. */
    const char *name;
    /* The CPUs that the cores of this process share: for several processes on a host, their part.
     * With more cores than that they yield the CPU while they wait, unless `wait` is spin. 0: the
     * CPUs that the calling thread may use (gba_processors_get). */
    uint32_t cpus;
    /*
     * Without a team: the barrier of the processes, such as MPI_Barrier or shmem_barrier_all. Core
     * 0 calls it. Returns GBA_OK or an error. NULL: the barrier is among the cores of this process
     * alone.
     */
    gba_status_t (*barrier)(void *ctx);
    /* Without a team: as in gba_runtime_t. Core 0 calls it while it waits. May be NULL. */
    int (*progress)(void *ctx);
    void *ctx; /* passed to both */
} gba_cores_attr_t;

/*
 * Make barriers of all cores of all members. count: the threads of this process, 1 to
 * GBA_CORES_MAX; members may have different numbers. team: of the processes, which the cores use
 * alone until they are destroyed; NULL: attr->barrier, or this process alone. attr: NULL: all zero.
 * `wait` and `stuck_after` are those of the team, or without a team of the environment
 * (gba_params_environment). cores: set on GBA_OK.
 * Returns GBA_OK; GBA_ERR_PARAM: a count out of its range, or an invalid variable of the
 * environment; GBA_ERR_NOMEM. Thread-safe on different teams. Not collective. Never blocks.
 */
GBA_EXPORT gba_status_t gba_cores_create(uint32_t count, gba_team_t *team,
                                         const gba_cores_attr_t *attr, gba_cores_t **cores);

/*
 * Make a whole barrier: all cores of all members have called it when it returns. The cores of a
 * process gather in a counter, core 0 makes the barrier of the processes, and releases the others.
 * Makes no system call if the cores meet soon and each has a CPU. After `stuck_after` seconds a
 * waiting core reports which cores of its process are missing, and a waiting member of a team which
 * members.
 * An error reaches every core of the process, in this barrier and in all later ones. core: of the
 * calling thread, 0 to count - 1, another one for each thread. Core 0 belongs to the thread that
 * may call the runtime: with MPI_THREAD_FUNNELED the one that initialised MPI. Returns GBA_OK;
 * GBA_ERR_IO: also if attr->barrier, or a function of gba_runtime_t, returned no status of libgba;
 * or any error of gba_barrier or attr->barrier. Thread-safe, one thread for each core. Collective:
 * all cores of all members. Blocks. Release on entry, acquire on return, for each core.
 */
GBA_EXPORT gba_status_t gba_cores_barrier(gba_cores_t *cores, uint32_t core);

/* Free the cores, when all of them have returned from their last barrier. The team remains. cores:
 * may be NULL. Thread-safe on different cores. Not collective. Never blocks. */
GBA_EXPORT void gba_cores_destroy(gba_cores_t *cores);

#ifdef __cplusplus
}
#endif

#endif
