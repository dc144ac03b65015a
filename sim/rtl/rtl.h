/* SPDX-License-Identifier: BSD-3-Clause */
/* What a library in the place of sim/model is made of. Not thread-safe. */
#ifndef GBA_SIM_RTL_RTL_H
#define GBA_SIM_RTL_RTL_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/model/model.h"

/* sim/model, which is the firmware, with the names of firmware.h. */
void gba_firmware_init(struct gba_model *model, uint32_t groups, uint32_t ports,
                       const uint64_t uuid[2]);
void gba_firmware_port_up(struct gba_model *model, uint32_t port, uint32_t quota);
void gba_firmware_port_down(struct gba_model *model, uint32_t port,
                            struct gba_model_effects *effects);
void gba_firmware_access(struct gba_model *model, const struct gba_model_access *access,
                         struct gba_model_effects *effects);

#endif
