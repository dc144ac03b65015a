/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A second, naive reading of gba/spec/device.md, to check the model against: flags for each member
 * instead of masks, history instead of state. It shares no code with the model but the header.
 */
#ifndef GBA_TESTS_FUZZ_SHADOW_H
#define GBA_TESTS_FUZZ_SHADOW_H

#include "sim/model/model.h"

/* Power-on. groups: that the device has. */
void shadow_init(uint32_t groups);

/*
 * Follow one access of the model and abort with a line on stderr that names the rule, if an effect
 * or the state after it breaks one. before, after: the model around the access.
 */
void shadow_step(const struct gba_model_access *access, const struct gba_model_effects *effects,
                 const struct gba_model *before, const struct gba_model *after);

/* What the shadow knows, so that the fuzzer can aim. */
uint32_t shadow_sequence(uint32_t group);
uint32_t shadow_someone_missing(uint32_t group); /* a member that has not arrived, or 0 */

#endif
