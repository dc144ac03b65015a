/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thread-specific data: the header that opal/mca/threads/tsd.h includes, for an Open MPI that does
 * not install it. All functions are thread-safe.
 */
#ifndef GBA_SHIM_THREADS_PTHREADS_TSD_H
#define GBA_SHIM_THREADS_PTHREADS_TSD_H

#include <pthread.h>

#include "opal/constants.h"

typedef pthread_key_t opal_tsd_key_t;

static inline int opal_tsd_key_delete(opal_tsd_key_t key)
{
    return 0 == pthread_key_delete(key) ? OPAL_SUCCESS : OPAL_ERROR;
}

static inline int opal_tsd_set(opal_tsd_key_t key, void *value)
{
    return 0 == pthread_setspecific(key, value) ? OPAL_SUCCESS : OPAL_ERROR;
}

static inline int opal_tsd_get(opal_tsd_key_t key, void **value)
{
    *value = pthread_getspecific(key);
    return OPAL_SUCCESS;
}

#endif
