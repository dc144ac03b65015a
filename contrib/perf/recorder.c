/* SPDX-License-Identifier: BSD-3-Clause */
/* The barriers of this process, by communicator. */
#include "contrib/perf/recorder.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

const char *const recorder_call_names[RECORDER_CALLS] = {"MPI_Barrier",    "shmem_barrier_all",
                                                         "shmem_sync_all", "shmem_barrier",
                                                         "shmem_sync",     "MPI_Ibarrier"};
uint64_t recorder_counted[RECORDER_CALLS];

static struct recorder_comm *comms[RECORDER_COMMS];
static uint32_t comm_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects both */

void recorder_thin(struct recorder_comm *comm, unsigned int shift)
{
    uint32_t kept = 0;
    uint64_t rounds = comm->rounds;

    comm->shift = shift;
    for (uint32_t i = 0; i < comm->count; i++) {
        comm->rounds = comm->times[i].round;
        if (recorder_enter(comm))
            comm->times[kept++] = comm->times[i];
    }
    comm->rounds = rounds;
    comm->count = kept;
}

void recorder_leave(struct recorder_comm *comm, int64_t entered, int64_t left, const void *site)
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
    comm->times[comm->count++] = (struct recorder_time){entered, left, comm->rounds - 1, site};
}

struct recorder_comm *recorder_comm_get(enum recorder_call call, uint64_t group, int size,
                                        const char *name)
{
    struct recorder_comm *found = NULL;
    uint64_t alike = 0; /* communicators with the same members, whose order is the same on all */

    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < comm_count && found == NULL; i++) {
        if (comms[i]->call != call || comms[i]->group != group)
            continue;
        alike++;
        if (!comms[i]->live)
            found = comms[i];
    }
    if (found == NULL && comm_count < RECORDER_COMMS &&
        (found = calloc(1, sizeof *found)) != NULL) {
        found->call = call;
        found->group = group;
        found->id = recorder_hash(recorder_hash(group, call), alike);
        comms[comm_count++] = found;
    }
    if (found != NULL) {
        found->live = true;
        found->size = size;
        (void)snprintf(found->name, sizeof found->name, "%s", name);
    }
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

static int by_id(const void *left, const void *right)
{
    const struct recorder_comm *a = *(struct recorder_comm *const *)left;
    const struct recorder_comm *b = *(struct recorder_comm *const *)right;

    return (a->id > b->id) - (a->id < b->id);
}

struct recorder_comm *const *recorder_comms(uint32_t *count)
{
    qsort(comms, comm_count, sizeof(struct recorder_comm *), by_id);
    *count = comm_count;
    return comms;
}
