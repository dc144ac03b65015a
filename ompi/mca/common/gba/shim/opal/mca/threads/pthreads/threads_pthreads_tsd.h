/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thread-specific data: the header that opal/mca/threads/tsd.h includes, for an Open MPI that does
 * not install it. Thread-safe.
 */
#ifndef GBA_SHIM_THREADS_PTHREADS_TSD_H
#define GBA_SHIM_THREADS_PTHREADS_TSD_H

#include <pthread.h>

typedef pthread_key_t opal_tsd_key_t;

#define opal_tsd_get(key, value) ((void)(*(value) = pthread_getspecific(key)))

#endif
