/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mutex and the condition variable beneath opal_mutex_t, for an Open MPI that does not install
 * this header (5.0 and 6.0 do not). opal/mca/threads/mutex.h includes it inside extern "C" and
 * builds opal_mutex_t from these types. opal_mutex_t is a member of ompi_communicator_t, so the
 * types must be those that Open MPI was built with. The components compare sizes when they are
 * opened (abi.c).
 *
 * All functions are thread-safe; none is collective. Lock acquires and unlock releases.
 */
#ifndef GBA_SHIM_THREADS_PTHREADS_MUTEX_H
#define GBA_SHIM_THREADS_PTHREADS_MUTEX_H

#include <pthread.h>
#include <stdbool.h>

#include "opal/class/opal_object.h"
#include "opal/constants.h"

typedef pthread_mutex_t opal_thread_internal_mutex_t;
typedef pthread_cond_t opal_thread_internal_cond_t;

#define OPAL_THREAD_INTERNAL_MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER
#define OPAL_THREAD_INTERNAL_COND_INITIALIZER  PTHREAD_COND_INITIALIZER
#ifdef PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP
#define OPAL_THREAD_INTERNAL_RECURSIVE_MUTEX_INITIALIZER PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP
#endif

/* The Open MPI code for the result of a pthread function. */
static inline int gba_shim_code(int error)
{
    return 0 == error ? OPAL_SUCCESS : OPAL_ERROR;
}

static inline int opal_thread_internal_mutex_init(opal_thread_internal_mutex_t *mutex,
                                                  bool recursive)
{
    pthread_mutexattr_t kind;
    int error;

    if (!recursive)
        return gba_shim_code(pthread_mutex_init(mutex, NULL));
    error = pthread_mutexattr_init(&kind);
    if (0 != error)
        return gba_shim_code(error);
    error = pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    if (0 == error)
        error = pthread_mutex_init(mutex, &kind);
    (void)pthread_mutexattr_destroy(&kind);
    return gba_shim_code(error);
}

/* Returns 0: locked; 1: another thread holds it. */
static inline int opal_thread_internal_mutex_trylock(opal_thread_internal_mutex_t *mutex)
{
    return 0 != pthread_mutex_trylock(mutex);
}

static inline void opal_thread_internal_mutex_lock(opal_thread_internal_mutex_t *mutex)
{
    (void)pthread_mutex_lock(mutex);
}

static inline void opal_thread_internal_mutex_unlock(opal_thread_internal_mutex_t *mutex)
{
    (void)pthread_mutex_unlock(mutex);
}

static inline void opal_thread_internal_mutex_destroy(opal_thread_internal_mutex_t *mutex)
{
    (void)pthread_mutex_destroy(mutex);
}

static inline int opal_thread_internal_cond_init(opal_thread_internal_cond_t *cond)
{
    return gba_shim_code(pthread_cond_init(cond, NULL));
}

static inline void opal_thread_internal_cond_wait(opal_thread_internal_cond_t *cond,
                                                  opal_thread_internal_mutex_t *mutex)
{
    (void)pthread_cond_wait(cond, mutex);
}

static inline void opal_thread_internal_cond_signal(opal_thread_internal_cond_t *cond)
{
    (void)pthread_cond_signal(cond);
}

static inline void opal_thread_internal_cond_broadcast(opal_thread_internal_cond_t *cond)
{
    (void)pthread_cond_broadcast(cond);
}

static inline void opal_thread_internal_cond_destroy(opal_thread_internal_cond_t *cond)
{
    (void)pthread_cond_destroy(cond);
}

#endif
