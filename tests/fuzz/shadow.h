/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shadow: a second, naive implementation of gba/spec/device.md, to check the model against. It
 * keeps a flag for each member instead of masks, and history instead of state. It shares only
 * gba_regs.h and the structures with the model.
 */
#ifndef GBA_TESTS_FUZZ_SHADOW_H
#define GBA_TESTS_FUZZ_SHADOW_H

#include "sim/model/model.h"

/* Power-on. groups: 1 to GBA_GROUPS. */
void shadow_init(uint32_t groups);

/*
 * Follow one access of the model, and check its effects and the state after it. Aborts on a
 * violation, with a line on stderr that names the rule. before, after: the model around the access.
 */
void shadow_step(const struct gba_model_access *access, const struct gba_model_effects *effects,
                 const struct gba_model *before, const struct gba_model *after);

/* State of the shadow, so that the fuzzer can make valid arrivals. */
uint32_t shadow_sequence(uint32_t group);
uint32_t shadow_someone_missing(uint32_t group); /* a member that has not arrived, or 0 */

#endif
