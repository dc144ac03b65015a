/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mutex and the condition variable beneath opal_mutex_t, for an Open MPI that does not install
 * this header (5.0 and 6.0 do not). opal_mutex_t is a member of ompi_communicator_t, so the types
 * must be those that Open MPI was built with. The components compare sizes when they are opened
 * (gba_common_abi_check). The functions are those that its other headers use; all are thread-safe.
 */
#ifndef GBA_SHIM_THREADS_PTHREADS_MUTEX_H
#define GBA_SHIM_THREADS_PTHREADS_MUTEX_H

#include <pthread.h>

#include "opal/class/opal_object.h"
#include "opal/constants.h"

typedef pthread_mutex_t opal_thread_internal_mutex_t;
typedef pthread_cond_t opal_thread_internal_cond_t;

#define OPAL_THREAD_INTERNAL_MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER

/* No header makes a recursive one. */
#define opal_thread_internal_mutex_init(mutex, recursive) ((void)pthread_mutex_init(mutex, NULL))
#define opal_thread_internal_mutex_trylock(mutex)         (0 != pthread_mutex_trylock(mutex))
#define opal_thread_internal_mutex_lock(mutex)            ((void)pthread_mutex_lock(mutex))
#define opal_thread_internal_mutex_unlock(mutex)          ((void)pthread_mutex_unlock(mutex))
#define opal_thread_internal_mutex_destroy(mutex)         ((void)pthread_mutex_destroy(mutex))
#define opal_thread_internal_cond_init(cond)              ((void)pthread_cond_init(cond, NULL))
#define opal_thread_internal_cond_signal(cond)            ((void)pthread_cond_signal(cond))
#define opal_thread_internal_cond_destroy(cond)           ((void)pthread_cond_destroy(cond))

#endif
