/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of model.h as the table of gba/spec/gba_dut.h, for benches that are not in C, and
 * for whatever is linked in the place of the model. */
#include "gba/spec/gba_dut.h"

#include <stdlib.h>

#include "sim/model/model.h"

struct device {
    struct gba_model model;
    struct gba_model_effects effects;
    uint32_t stores_taken, ports_taken; /* of the effects */
};

static void *create(uint32_t groups, uint32_t ports, const uint64_t uuid[2])
{
    struct device *device = calloc(1, sizeof *device);

    if (device != NULL)
        gba_model_init(&device->model, groups, ports, uuid);
    return device;
}

static void begin(struct device *device)
{
    device->stores_taken = 0;
    device->ports_taken = 0;
}

static uint64_t make(void *argument, const struct gba_dut_access *access)
{
    struct device *device = argument;
    const struct gba_model_access a = {.write = access->write != 0,
                                       .width = (uint8_t)access->width,
                                       .port = (uint16_t)access->port,
                                       .address = access->address,
                                       .value = access->value,
                                       .random = access->random};

    begin(device);
    gba_model_access(&device->model, &a, &device->effects);
    return device->effects.value;
}

static void arrive(void *argument, uint32_t group, uint32_t port, uint64_t value)
{
    struct device *device = argument;

    begin(device);
    gba_model_arrive(&device->model, group, port, value, &device->effects);
}

static void port_up(void *argument, uint32_t port, uint32_t quota)
{
    struct device *device = argument;

    gba_model_port_up(&device->model, port, quota);
}

static void port_down(void *argument, uint32_t port)
{
    struct device *device = argument;

    begin(device);
    gba_model_port_down(&device->model, port, &device->effects);
}

/* Each call has done everything at its return. */
static int advance(void *argument, uint32_t cycles)
{
    (void)argument;
    (void)cycles;
    return 1;
}

static int store(void *argument, struct gba_dut_store *store)
{
    struct device *device = argument;
    const struct gba_model_release *release = &device->effects.release[device->stores_taken];

    if (device->stores_taken >= device->effects.releases)
        return 0;
    *store = (struct gba_dut_store){
        .port = release->port, .address = release->address, .value = release->sequence};
    device->stores_taken++;
    return 1;
}

static int interrupt(void *argument, uint32_t *port)
{
    struct device *device = argument;
    uint32_t p = device->ports_taken;

    if (!device->effects.interrupt)
        return 0;
    while (p < GBA_PORTS_MAX && (device->effects.interrupts[p / 64] >> p % 64 & 1) == 0)
        p++;
    device->ports_taken = p + 1;
    if (p >= GBA_PORTS_MAX)
        return 0;
    *port = p;
    return 1;
}

const struct gba_dut *gba_dut(void)
{
    static const struct gba_dut table = {.version = GBA_DUT_VERSION,
                                         .create = create,
                                         .destroy = free,
                                         .access = make,
                                         .arrive = arrive,
                                         .port_up = port_up,
                                         .port_down = port_down,
                                         .advance = advance,
                                         .store = store,
                                         .interrupt = interrupt};

    return &table;
}

/* The state, for a comparison to the last bit. */
const void *gba_dut_state(void *device);
const void *gba_dut_state(void *device)
{
    return &((struct device *)device)->model;
}
