/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of OpenSHMEM that the recorder replaces. shmem_init of Open MPI begins MPI, too.
 * The recorder is not linked with OpenSHMEM, because MPI programs are not. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <stddef.h>

#include "contrib/perf/measure.h"
#include "contrib/perf/recorder.h"

void shmem_init(void);
int shmem_init_thread(int required, int *provided);
void shmem_finalize(void);
void shmem_barrier_all(void);
void shmem_sync_all(void);
void shmem_barrier(int start, int log_stride, int size, long *work);
void shmem_sync(int start, int log_stride, int size, long *work);

/* The functions of Open MPI; NULL in an MPI program. */
static struct {
    void (*init)(void);
    int (*init_thread)(int, int *);
    void (*finalize)(void);
    void (*barrier_all)(void);
    void (*sync_all)(void);
    void (*barrier)(int, int, int, long *);
    void (*sync)(int, int, int, long *);
} next;

__attribute__((constructor)) static void find(void)
{
    *(void **)&next.init = dlsym(RTLD_NEXT, "shmem_init");
    *(void **)&next.init_thread = dlsym(RTLD_NEXT, "shmem_init_thread");
    *(void **)&next.finalize = dlsym(RTLD_NEXT, "shmem_finalize");
    *(void **)&next.barrier_all = dlsym(RTLD_NEXT, "shmem_barrier_all");
    *(void **)&next.sync_all = dlsym(RTLD_NEXT, "shmem_sync_all");
    *(void **)&next.barrier = dlsym(RTLD_NEXT, "shmem_barrier");
    *(void **)&next.sync = dlsym(RTLD_NEXT, "shmem_sync");
}

/* The barrier of an active set begins. Returns its record if it is to be timed, else NULL. */
static struct recorder_comm *enter(enum recorder_call call, int start, int log_stride, int size)
{
    static _Thread_local struct recorder_comm *last[RECORDER_SET_SYNC + 1];
    struct recorder_comm *record = last[call];
    const uint64_t set = (uint64_t)start << 32 | (uint64_t)log_stride << 24;
    const uint64_t group = recorder_hash(recorder_hash(1, set), (uint64_t)size);

    if (!recorder_active)
        return NULL;
    if (record == NULL || record->group != group) {
        record = recorder_comm_get(call, group, size, size == perf_job.size ? "all PEs" : "");
        recorder_comm_release(record); /* the next call finds it again */
        last[call] = record;
    }
    return record != NULL && recorder_enter(record) ? record : NULL;
}

#define TIMED(call, start, log_stride, size, run)                                       \
    do {                                                                                \
        struct recorder_comm *record_ = enter(call, start, log_stride, size);           \
        int64_t entered_ = record_ != NULL ? perf_now() : 0;                            \
                                                                                        \
        run;                                                                            \
        if (record_ != NULL)                                                            \
            recorder_leave(record_, entered_, perf_now(), __builtin_return_address(0)); \
    } while (0)

void shmem_init(void)
{
    next.init();
    recorder_start();
}

int shmem_init_thread(int required, int *provided)
{
    int rc = next.init_thread(required, provided);

    recorder_start();
    return rc;
}

void shmem_finalize(void)
{
    recorder_stop();
    next.finalize();
}

void shmem_barrier_all(void)
{
    TIMED(RECORDER_BARRIER_ALL, 0, 0, perf_job.size, next.barrier_all());
}

void shmem_sync_all(void)
{
    TIMED(RECORDER_SYNC_ALL, 0, 0, perf_job.size, next.sync_all());
}

void shmem_barrier(int start, int log_stride, int size, long *work)
{
    TIMED(RECORDER_SET_BARRIER, start, log_stride, size,
          next.barrier(start, log_stride, size, work));
}

void shmem_sync(int start, int log_stride, int size, long *work)
{
    TIMED(RECORDER_SET_SYNC, start, log_stride, size, next.sync(start, log_stride, size, work));
}
