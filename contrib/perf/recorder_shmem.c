/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of OpenSHMEM that the recorder replaces. shmem_init of Open MPI begins MPI, too.
 * The recorder is not linked with OpenSHMEM, because MPI programs are not. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#include "contrib/perf/measure.h"
#include "contrib/perf/recorder_calls.h"

void shmem_init(void);
int shmem_init_thread(int required, int *provided);
void shmem_finalize(void);
void shmem_barrier_all(void);
void shmem_sync_all(void);
void shmem_barrier(int start, int log_stride, int size, long *work);
void shmem_sync(int start, int log_stride, int size, long *work);

/* The record of an active set; NULL if there is no room. */
static struct recorder_comm *set_find(enum recorder_call call, int start, int log_stride, int size)
{
    static _Thread_local struct recorder_comm *last[RECORDER_SET_SYNC + 1];
    struct recorder_comm *record = last[call];
    const uint64_t id = ((uint64_t)start + 1) << 32 | (uint64_t)log_stride << 26 | (uint64_t)size;

    if (record == NULL || record->id != id) {
        record = recorder_comm_get(call, id, size, size == perf_job.size ? "all PEs" : "");
        recorder_comm_release(record); /* the next call finds it again */
        last[call] = record;
    }
    return record;
}

#define TIMED(call, function, start, log_stride, size, ...)                                 \
    do {                                                                                    \
        struct recorder_comm *record_ = NULL;                                               \
        struct recorder_doing doing_;                                                       \
        struct recorder_visit visit_;                                                       \
        bool timed_;                                                                        \
        RECORDER_NEXT(function);                                                            \
        recorder_call_begin(&doing_, #function, NULL, MPI_COMM_NULL, RECORDER_SITE);        \
        if (recorder_active && (record_ = set_find(call, start, log_stride, size)) == NULL) \
            recorder_count(call);                                                           \
        timed_ = record_ != NULL && recorder_enter(record_);                                \
        recorder_visit_begin(&visit_, timed_);                                              \
        next(__VA_ARGS__);                                                                  \
        recorder_visit_end(&visit_, timed_);                                                \
        if (timed_)                                                                         \
            recorder_leave(record_, visit_.time, RECORDER_SITE);                            \
        recorder_call_end(&doing_);                                                         \
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

/* --- The waits for a word of this PE, which are only shown */

#define WAIT_UNTIL(name, type)                                                         \
    void shmem_##name##_wait_until(volatile type *word, int compare, type value);      \
    void shmem_##name##_wait_until(volatile type *word, int compare, type value)       \
    {                                                                                  \
        struct recorder_doing doing;                                                   \
                                                                                       \
        RECORDER_NEXT(shmem_##name##_wait_until);                                      \
        recorder_call_begin(&doing, "shmem_" #name "_wait_until", NULL, MPI_COMM_NULL, \
                            RECORDER_SITE);                                            \
        next(word, compare, value);                                                    \
        recorder_call_end(&doing);                                                     \
    }

WAIT_UNTIL(short, short)
WAIT_UNTIL(int, int)
WAIT_UNTIL(long, long)
WAIT_UNTIL(longlong, long long)
WAIT_UNTIL(ushort, unsigned short)
WAIT_UNTIL(uint, unsigned int)
WAIT_UNTIL(ulong, unsigned long)
WAIT_UNTIL(ulonglong, unsigned long long)
WAIT_UNTIL(int32, int32_t)
WAIT_UNTIL(int64, int64_t)
WAIT_UNTIL(uint32, uint32_t)
WAIT_UNTIL(uint64, uint64_t)
WAIT_UNTIL(size, size_t)
WAIT_UNTIL(ptrdiff, ptrdiff_t)
