/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A runtime that carries notices (gba_notice_t) between members that are threads, for the worlds of
 * team_world.h: one thread delivers them, late and out of order, and answers, whatever the members
 * are doing. The linker has to put a function of this in the place of gba_recovery_register
 * (-Wl,--wrap): all members are in one process here, and each needs an id of its own.
 */
#ifndef GBA_TESTS_NOTICE_WORLD_H
#define GBA_TESTS_NOTICE_WORLD_H

#include "tests/unit/team_world.h"

/* Between them the members of w may run, once. */
void notices_start(struct world *w, uint32_t size);
void notices_stop(struct world *w);

/* Those that were sent since notices_start, answers included. */
unsigned notices_sent(void);

#endif
