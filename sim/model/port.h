/* SPDX-License-Identifier: BSD-3-Clause */
/* The port page, after the decoding of addresses. Pure. */
#ifndef GBA_SIM_PORT_H
#define GBA_SIM_PORT_H

#include "sim/model/model.h"

/* Read or write a register of the page of access->port. The register exists, and takes the access.
 * Returns GBA_ERROR_NONE, or GBA_ERROR_CONFIG: nothing has changed, and nothing is counted yet. */
uint64_t gba_model_port_load(const struct gba_model *model, uint32_t port, uint32_t offset);
uint32_t gba_model_port_store(struct gba_model *model, const struct gba_model_access *access,
                              uint32_t offset, struct gba_model_effects *effects);

#endif
