/* SPDX-License-Identifier: BSD-3-Clause */
/* The barriers of this process, by communicator. */
#include "contrib/perf/recorder.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

const char *const recorder_call_names[RECORDER_CALLS] = {
    "MPI_Barrier", "shmem_barrier_all", "shmem_sync_all", "shmem_barrier", "shmem_sync"};
uint64_t recorder_counted[RECORDER_CALLS];

static struct recorder_comm *comms[RECORDER_COMMS];
static uint32_t comm_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects both */

void recorder_thin(struct recorder_comm *comm, unsigned int shift)
{
    uint32_t kept = 0;

    comm->shift = shift;
    for (uint32_t i = 0; i < comm->count; i++)
        if (recorder_timed(comm->times[i].round, shift))
            comm->times[kept++] = comm->times[i];
    comm->count = kept;
}

void recorder_leave(struct recorder_comm *comm, struct recorder_time time, const void *site)
{
    if (comm->count == RECORDER_TIMED)
        recorder_thin(comm, comm->shift + 1);
    if (comm->count == comm->room) {
        uint32_t room = comm->room > 0 ? 2 * comm->room : 64;
        struct recorder_time *times = realloc(comm->times, room * sizeof *times);

        if (times == NULL)
            return;
        comm->times = times;
        comm->room = room;
    }
    time.round = comm->rounds - 1;
    time.site = site;
    comm->times[comm->count++] = time;
}

/* --- Threads */

uint32_t recorder_threads;
_Thread_local bool recorder_thread_known;

static struct {
    pthread_mutex_t lock;
    uint32_t inside;
    uint64_t last; /* when the clock was read */
    double time;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

void recorder_thread_add(void)
{
    recorder_thread_known = true;
    __atomic_fetch_add(&recorder_threads, 1, __ATOMIC_RELAXED);
}

int64_t recorder_clock(int change)
{
    uint64_t now;
    int64_t time;

    pthread_mutex_lock(&shared.lock);
    now = gba_clock_ns();
    if (shared.inside > 0)
        shared.time += (double)(now - shared.last) / shared.inside;
    shared.last = now;
    shared.inside += (uint32_t)change;
    time = (int64_t)shared.time;
    pthread_mutex_unlock(&shared.lock);
    return time;
}

/* --- Communicators */

/* A new place; NULL: no room. Under the lock. */
static struct recorder_comm *add(enum recorder_call call, uint64_t id)
{
    struct recorder_comm *comm = comm_count < RECORDER_COMMS ? calloc(1, sizeof *comm) : NULL;

    if (comm == NULL)
        return NULL;
    comm->call = call;
    comm->id = id;
    comms[comm_count++] = comm;
    return comm;
}

/* The place is used from now on. Under the lock. */
static void use(struct recorder_comm *comm, int size, const char *name)
{
    if (comm == NULL)
        return;
    comm->live = true;
    comm->size = size;
    (void)snprintf(comm->name, sizeof comm->name, "%s", name);
}

struct recorder_comm *recorder_comm_get(enum recorder_call call, uint64_t id, int size,
                                        const char *name)
{
    struct recorder_comm *found = NULL;
    bool taken = false;

    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < comm_count && found == NULL; i++)
        if (comms[i]->call == call && comms[i]->id == id && (id != 0 || !comms[i]->live))
            found = comms[i];
    if (found != NULL && found->live)
        taken = found->torn = true;
    else if (found == NULL)
        found = add(call, id);
    if (!taken)
        use(found, size, name);
    pthread_mutex_unlock(&lock);
    return taken ? NULL : found;
}

struct recorder_comm *recorder_comm_number(void *members, bool (*same)(void *, void *), int rank,
                                           int size, const char *name)
{
    static uint32_t numbers;
    struct recorder_comm *found = NULL;

    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < comm_count && found == NULL; i++)
        if (comms[i]->members != NULL && !comms[i]->live && same(comms[i]->members, members))
            found = comms[i];
    if (found == NULL)
        found = add(RECORDER_BARRIER, ((uint64_t)rank + 1) << 32 | ++numbers);
    if (found != NULL && found->members == NULL)
        found->members = members;
    use(found, size, name);
    pthread_mutex_unlock(&lock);
    return found;
}

void recorder_comm_release(struct recorder_comm *comm)
{
    if (comm == NULL)
        return;
    pthread_mutex_lock(&lock);
    comm->live = false;
    pthread_mutex_unlock(&lock);
}

struct recorder_comm *const *recorder_comms(uint32_t *count)
{
    *count = comm_count;
    return comms;
}
