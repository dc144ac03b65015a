/* SPDX-License-Identifier: BSD-3-Clause */
/* A design under test beside the model. */
#ifndef GBA_TESTS_LOCKSTEP_H
#define GBA_TESTS_LOCKSTEP_H

#include <stdint.h>

/* Accesses that were compared so far. */
extern uint64_t lockstep_accesses;

/* The program has this: the design breaks that rule. Does not return. */
__attribute__((noreturn, format(printf, 2, 3))) void lockstep_fail(const char *rule,
                                                                   const char *format, ...);

#endif
