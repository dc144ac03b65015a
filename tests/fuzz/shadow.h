/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shadow: a second, naive implementation of gba/spec/device.md, to check the model against. It
 * keeps a flag for each member instead of masks, and history instead of state. It shares only
 * gba_regs.h and the structures with the model.
 */
#ifndef GBA_TESTS_FUZZ_SHADOW_H
#define GBA_TESTS_FUZZ_SHADOW_H

#include "sim/model/model.h"

#define SHADOW_PORTS 4u /* ports at most */

/* Power-on. groups: 1 to GBA_GROUPS. ports: 0 to SHADOW_PORTS. */
void shadow_init(uint32_t groups, uint32_t ports);

/*
 * Follow one access of the model, and check its effects and the state after it. Aborts on a
 * violation, with a line on stderr that names the rule. before, after: the model around the access.
 */
void shadow_step(const struct gba_model_access *access, const struct gba_model_effects *effects,
                 const struct gba_model *before, const struct gba_model *after);

/* Follow the link of a port that went up (then `effects` are cleared) or down, likewise. */
void shadow_link(uint32_t port, bool up, uint32_t quota, const struct gba_model_effects *effects,
                 const struct gba_model *after);

/* State of the shadow, so that the fuzzer can make valid arrivals and commands. */
uint32_t shadow_sequence(uint32_t group);
uint32_t shadow_someone_missing(uint32_t group);          /* a member that has not arrived, or 0 */
uint32_t shadow_port_of(uint32_t group, uint32_t member); /* 0 if there is none */
uint32_t shadow_generation(uint32_t group);
uint64_t shadow_key(uint32_t group);
bool shadow_is_up(uint32_t port); /* any number */

#endif
