/* SPDX-License-Identifier: BSD-3-Clause */
/* Open MPI's way to yield the core, for an Open MPI that does not install this header. */
#ifndef GBA_SHIM_THREADS_PTHREADS_H
#define GBA_SHIM_THREADS_PTHREADS_H

/* The function that the parameter threads_pthreads_yield_strategy selects; libopen-pal has it. */
extern void (*opal_threads_pthreads_yield_fn)(void);

#endif
