/* SPDX-License-Identifier: BSD-3-Clause */
/* An arrival as an access of the bus, for a library in the place of the model. Include it once. */
#include "sim/rtl/rtl.h"

void gba_model_arrive(struct gba_model *model, uint32_t id, uint32_t port, uint64_t value,
                      struct gba_model_effects *effects)
{
    const struct gba_model_access access = {.write = true,
                                            .width = 8,
                                            .port = (uint16_t)port,
                                            .address = GBA_DOORBELL(id),
                                            .value = value};

    gba_model_access(model, &access, effects);
}
