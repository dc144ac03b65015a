/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of MPI that the recorder replaces. Open MPI's bindings for Fortran, and mpi4py,
 * call PMPI_Barrier or MPI_Barrier, so two functions catch all languages. Those of Fortran are
 * replaced for the call site alone. Communicators are found by an attribute, and a cache. Behind
 * the first barrier of a communicator its members agree on its id.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/perf/measure.h"
#include "contrib/perf/recorder_calls.h"
#include "gba/stall.h"

#define CACHED 8 /* communicators of a thread */

bool recorder_active;
static int key = MPI_KEYVAL_INVALID;
static uint32_t freed; /* communicators; a cache of before is invalid */
static _Thread_local struct {
    MPI_Comm comm;
    struct recorder_comm *record;
    uint32_t freed;
} cache[CACHED];

/* --- Communicators */

static int comm_freed(MPI_Comm comm, int keyval, void *record, void *extra)
{
    (void)comm, (void)keyval, (void)extra;
    recorder_comm_release(record);
    __atomic_fetch_add(&freed, 1, __ATOMIC_RELAXED);
    return MPI_SUCCESS;
}

static bool same_members(void *left, void *right)
{
    int result;

    PMPI_Group_compare(left, right, &result);
    return result == MPI_IDENT;
}

/* Whether all members are in this job. All members of this job find the same. */
static bool is_ours(MPI_Group group, int size)
{
    int *ranks = perf_alloc((size_t)size, 2 * sizeof *ranks);
    bool ours = true;
    MPI_Group world;

    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < size; i++)
        ranks[i] = i;
    PMPI_Group_translate_ranks(group, size, ranks, world, ranks + size);
    for (int i = 0; i < size; i++)
        ours = ours && ranks[size + i] != MPI_UNDEFINED;
    free(ranks);
    PMPI_Group_free(&world);
    return ours;
}

/* The members agree on an id: rank 0 of the communicator numbers it, and the others receive it. An
 * error of MPI leaves the communicator without an id. */
static struct recorder_comm *agree(MPI_Comm comm, MPI_Group group, int size, const char *name)
{
    struct recorder_comm *record = NULL;
    uint64_t id = 0;
    int rank;

    PMPI_Comm_rank(comm, &rank);
    if (rank == 0)
        record = recorder_comm_number(group, same_members, perf_job.rank, size, name);
    if (record != NULL)
        id = record->id;
    if (PMPI_Bcast(&id, 1, MPI_UINT64_T, 0, comm) != MPI_SUCCESS && rank != 0)
        return recorder_comm_get(RECORDER_BARRIER, 0, size, name);
    return rank == 0 || id == 0 ? record : recorder_comm_get(RECORDER_BARRIER, id, size, name);
}

/* All members have called the first barrier of the communicator. Collective over the members that
 * are in this job, whatever the barrier has returned. */
static struct recorder_comm *comm_add(MPI_Comm comm)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int size, length, inter, remote = 0;
    struct recorder_comm *record;
    MPI_Group group;

    PMPI_Comm_size(comm, &size);
    PMPI_Comm_get_name(comm, name, &length);
    if (strncmp(name, "MPI COMM", 8) == 0) /* Open MPI's own names differ from run to run */
        *name = 0;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter)
        PMPI_Comm_remote_size(comm, &remote);
    PMPI_Comm_group(comm, &group);
    if (!inter && is_ours(group, size))
        record = agree(comm, group, size, name);
    else
        record = recorder_comm_get(RECORDER_BARRIER, 0, size + remote, name);
    if (record == NULL || record->members != group)
        PMPI_Group_free(&group);
    PMPI_Comm_set_attr(comm, key, record);
    return record;
}

/* Find the record of the communicator: NULL if there is no room for it. Returns false if this is
 * its first barrier. */
static bool comm_find(MPI_Comm comm, struct recorder_comm **record)
{
    const uint32_t now = __atomic_load_n(&freed, __ATOMIC_RELAXED) + 1; /* 0: nothing is cached */
    const size_t at = ((uintptr_t)comm >> 6) % CACHED;
    int found = 1;

    if (cache[at].comm != comm || cache[at].freed != now) {
        *record = NULL;
        PMPI_Comm_get_attr(comm, key, record, &found);
        if (!found)
            return false;
        cache[at].comm = comm;
        cache[at].record = *record;
        cache[at].freed = now;
    }
    *record = cache[at].record;
    return true;
}

/* --- The functions */

void recorder_start(void)
{
    MPI_Comm parent;

    PMPI_Comm_get_parent(&parent);
    if (recorder_active || parent != MPI_COMM_NULL) /* the job of the parent has the records */
        return;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_freed, &key, NULL);
    recorder_begin();
    recorder_calls_start();
    recorder_active = true;
}

void recorder_stop(void)
{
    const bool was_active = recorder_active;

    recorder_active = false; /* the recorder's own calls do not count */
    if (was_active)
        recorder_end();
}

int PMPI_Init(int *argc, char ***argv)
{
    int place, rc;

    RECORDER_NEXT(PMPI_Init);
    place = recorder_init_begin("MPI_Init", RECORDER_SITE);
    rc = next(argc, argv);
    gba_where_leave(place);
    if (rc == MPI_SUCCESS)
        recorder_start();
    return rc;
}

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int place, rc;

    RECORDER_NEXT(PMPI_Init_thread);
    place = recorder_init_begin("MPI_Init_thread", RECORDER_SITE);
    rc = next(argc, argv, required, provided);
    gba_where_leave(place);
    if (rc == MPI_SUCCESS)
        recorder_start();
    return rc;
}

int PMPI_Finalize(void)
{
    struct recorder_doing doing;
    int rc;

    RECORDER_NEXT(PMPI_Finalize);
    recorder_call_begin(&doing, "MPI_Finalize", NULL, MPI_COMM_NULL, RECORDER_SITE);
    recorder_stop();
    rc = next();
    recorder_call_end(&doing);
    return rc;
}

int PMPI_Barrier(MPI_Comm comm)
{
    const void *site = recorder_outer_site != NULL ? recorder_outer_site : RECORDER_SITE;
    struct recorder_comm *record;
    struct recorder_doing doing;
    struct recorder_visit visit;
    bool known, timed;
    int rc;

    RECORDER_NEXT(PMPI_Barrier);
    if (!recorder_active || comm == MPI_COMM_NULL)
        return next(comm);
    recorder_call_begin(&doing, "MPI_Barrier", NULL, comm, site);
    known = comm_find(comm, &record);
    timed = !known || (record != NULL && recorder_enter(record));
    recorder_visit_begin(&visit, timed);
    rc = next(comm);
    recorder_visit_end(&visit, timed);
    if (!known) {
        record = comm_add(comm);
        timed = record != NULL && recorder_enter(record);
    }
    if (record == NULL)
        recorder_count(RECORDER_BARRIER);
    else if (timed)
        recorder_leave(record, visit.time, site);
    recorder_call_end(&doing);
    return rc;
}

/* --- The names that programs call */

int MPI_Init(int *argc, char ***argv)
{
    RECORDER_FORWARD(MPI_Init, argc, argv);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    RECORDER_FORWARD(MPI_Init_thread, argc, argv, required, provided);
}

int MPI_Finalize(void)
{
    RECORDER_FORWARD(MPI_Finalize);
}

int MPI_Barrier(MPI_Comm comm)
{
    RECORDER_FORWARD(MPI_Barrier, comm);
}

/* mpif.h and the module mpi; the module mpi_f08. */
void mpi_barrier_(const void *comm, void *error);
void mpi_barrier_f08_(const void *comm, void *error);

/* next: NULL if Fortran's library was loaded by dlopen, behind this one. error: NULL is allowed by
 * mpi_f08. */
static void fortran(void (*next_one)(const void *, void *), const void *comm, void *error,
                    const void *site)
{
    const bool outer = recorder_outer_begin(site, __builtin_frame_address(0));
    int rc;

    if (next_one != NULL) {
        next_one(comm, error);
    } else {
        rc = PMPI_Barrier(PMPI_Comm_f2c(*(const MPI_Fint *)comm));
        if (error != NULL)
            *(MPI_Fint *)error = rc;
    }
    if (outer)
        recorder_outer_site = NULL;
}

void mpi_barrier_(const void *comm, void *error)
{
    RECORDER_NEXT(mpi_barrier_);
    fortran(next, comm, error, RECORDER_SITE);
}

void mpi_barrier_f08_(const void *comm, void *error)
{
    RECORDER_NEXT(mpi_barrier_f08_);
    fortran(next, comm, error, RECORDER_SITE);
}
