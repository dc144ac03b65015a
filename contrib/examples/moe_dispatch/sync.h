/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CrossRankSync: the synchronisation at the end of dispatch and of combine, after which each PE may
 * read what others have put to it. There are three kinds of it, chosen by pe->sync:
 *
 *   barrier  moe_sync_meet is shmem_barrier_all, and the other calls do nothing
 *   flags    moe_sync_raise sends a flag to each receiver, moe_sync_await waits for those of the
 *            senders, and moe_sync_meet does nothing
 *   cores    in moe_sync_meet core i of n signals the PEs i, i + n and so on, and waits for their
 *            signals; then the cores meet: a barrier. The other calls do nothing
 *
 * A phase puts its data, then calls moe_sync_quiet, moe_sync_raise for each receiver, and
 * moe_sync_meet. The phase that reads the data calls moe_sync_await first.
 */
#ifndef MOE_SYNC_H
#define MOE_SYNC_H

#include "pe.h"

/* Complete my puts: they are in place, and their sources may change. */
void moe_sync_quiet(struct moe_pe *pe);

/* Announce to PE `to` that the data of this step is in place. flag: its symmetric address. */
void moe_sync_raise(struct moe_pe *pe, struct moe_flag *flag, int to);

/* Wait for `count` of my flags. */
void moe_sync_await(struct moe_pe *pe, struct moe_flag *flags, int count);

void moe_sync_meet(struct moe_pe *pe);

#endif
