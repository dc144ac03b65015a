/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop of an agreement over the list of candidates. */
#ifndef GBA_AGREE_LOOP_H
#define GBA_AGREE_LOOP_H

#include "gba/agree/agree.h"

/* The posted exchange, if any, is complete: read it, and post the next one. Returns as
 * gba_oob_t.min. */
gba_status_t gba_agree_step(struct gba_agreement *a);

#endif
