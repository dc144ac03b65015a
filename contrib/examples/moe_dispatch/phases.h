/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A step of the layer on this PE, in OpenSHMEM 1.4, and its phases, in this order. Each ends with a
 * synchronisation: step.c has the table.
 */
#ifndef MOE_PHASES_H
#define MOE_PHASES_H

#include "pe.h"

/*
 * Collective: route, dispatch, run the experts, combine. The results of this PE's tokens are then
 * in `result`. The kind of synchronisation may change from step to step. Returns NULL, or the
 * error; the job should then be ended.
 */
const char *moe_pe_step(struct moe_pe *pe, enum moe_sync sync);

/* Make my tokens, and choose their experts. */
void moe_make_tokens(struct moe_pe *pe);

/* Normal mode: put each token to my forwarder in each node that has one of its experts. */
void moe_send_across(struct moe_pe *pe);

/* Put the rows of the sources that I forward for to the PEs of the experts. Returns NULL or an
 * error. */
const char *moe_deliver(struct moe_pe *pe);

/* Run my experts, and put the results to the forwarders of their sources. Returns NULL or an error.
 */
const char *moe_run_experts(struct moe_pe *pe);

/* Add up the results of my group's experts. Normal mode: put the sums to the sources. */
void moe_reduce(struct moe_pe *pe);

/* Normal mode: add up the sums of all groups. */
void moe_combine(struct moe_pe *pe);

#endif
