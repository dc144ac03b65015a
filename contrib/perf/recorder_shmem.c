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
    if (record == NULL)
        recorder_count(call);
    return record != NULL && recorder_enter(record) ? record : NULL;
}

#define TIMED(call, function, start, log_stride, size, ...)                             \
    do {                                                                                \
        struct recorder_comm *record_ = enter(call, start, log_stride, size);           \
        int64_t entered_;                                                               \
        RECORDER_NEXT(function);                                                        \
                                                                                        \
        entered_ = record_ != NULL ? perf_now() : 0;                                    \
        next(__VA_ARGS__);                                                              \
        if (record_ != NULL)                                                            \
            recorder_leave(record_, entered_, perf_now(), __builtin_return_address(0)); \
    } while (0)

void shmem_init(void)
{
    RECORDER_NEXT(shmem_init);
    next();
    recorder_start();
}

int shmem_init_thread(int required, int *provided)
{
    int rc;

    RECORDER_NEXT(shmem_init_thread);
    rc = next(required, provided);
    recorder_start();
    return rc;
}

void shmem_finalize(void)
{
    RECORDER_NEXT(shmem_finalize);
    recorder_stop();
    next();
}

void shmem_barrier_all(void)
{
    TIMED(RECORDER_BARRIER_ALL, shmem_barrier_all, 0, 0, perf_job.size);
}

void shmem_sync_all(void)
{
    TIMED(RECORDER_SYNC_ALL, shmem_sync_all, 0, 0, perf_job.size);
}

void shmem_barrier(int start, int log_stride, int size, long *work)
{
    TIMED(RECORDER_SET_BARRIER, shmem_barrier, start, log_stride, size, start, log_stride, size,
          work);
}

void shmem_sync(int start, int log_stride, int size, long *work)
{
    TIMED(RECORDER_SET_SYNC, shmem_sync, start, log_stride, size, start, log_stride, size, work);
}
