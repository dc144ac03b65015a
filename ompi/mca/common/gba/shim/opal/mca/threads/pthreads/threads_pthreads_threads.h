/* SPDX-License-Identifier: BSD-3-Clause */
/* The header that opal/mca/threads/threads.h includes, for an Open MPI that does not install it. */
#ifndef GBA_SHIM_THREADS_PTHREADS_THREADS_H
#define GBA_SHIM_THREADS_PTHREADS_THREADS_H

#include <pthread.h>
#include <signal.h>

/* The function that the parameter threads_pthreads_yield_strategy selects; libopen-pal has it. */
extern void (*opal_threads_pthreads_yield_fn)(void);

/* Yield the core in the way that Open MPI's parameter selects. Thread-safe. */
static inline void opal_thread_yield(void)
{
    opal_threads_pthreads_yield_fn();
}

#endif
