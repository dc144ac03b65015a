/* SPDX-License-Identifier: BSD-3-Clause */
/* A step of the layer on this PE, in OpenSHMEM 1.4. */
#ifndef MOE_STEP_H
#define MOE_STEP_H

#include "pe.h"

/*
 * Collective: route, dispatch, run the experts, combine. The results of this PE's tokens are then
 * in `result`. The kind of synchronisation may change from step to step. Returns NULL, or the
 * error; the job should then be ended.
 */
const char *moe_pe_step(struct moe_pe *pe, enum moe_sync sync);

#endif
