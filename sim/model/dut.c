/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of model.h as the table of gba/spec/gba_dut.h, for benches that are not in C, and
 * for whatever is linked in the place of the model. An access has ended when it was offered, and
 * its stores have left: hosts that take none are not modelled. */
#include "gba/spec/gba_dut.h"

#include <stdlib.h>

#include "sim/model/model.h"

struct device {
    struct gba_model model;
    struct gba_model_effects effects;
    struct gba_dut_event *events; /* those before `taken` were taken */
    size_t count, room, taken;
};

static void add(struct device *device, uint32_t kind, uint32_t port, uint64_t address,
                uint64_t value)
{
    if (device->count == device->room) {
        device->room = 2 * device->room + 1024;
        device->events = realloc(device->events, device->room * sizeof device->events[0]);
        if (device->events == NULL)
            abort();
    }
    device->events[device->count++] =
        (struct gba_dut_event){.kind = kind, .port = port, .address = address, .value = value};
}

/* The events of an access, or of a change of a link to `up`. */
static void add_effects(struct device *device, uint32_t kind, uint32_t port, uint32_t up)
{
    const struct gba_model_effects *effects = &device->effects;

    add(device, kind, port, 0, up);
    for (uint32_t i = 0; i < effects->releases; i++)
        add(device, GBA_DUT_STORE, effects->release[i].port, effects->release[i].address,
            effects->release[i].sequence);
    for (uint32_t p = 0; effects->interrupt && p < GBA_PORTS_MAX; p++) {
        if ((effects->interrupts[p / 64] >> p % 64 & 1) != 0)
            add(device, GBA_DUT_INTERRUPT, p, 0, 0);
    }
    if (kind == GBA_DUT_TAKEN)
        add(device, GBA_DUT_ANSWERED, port, 0, effects->value);
}

static void *create(uint32_t groups, uint32_t ports, const uint64_t uuid[2])
{
    struct device *device = calloc(1, sizeof *device);

    if (device != NULL)
        gba_model_init(&device->model, groups, ports, uuid);
    return device;
}

static void destroy(void *argument)
{
    struct device *device = argument;

    free(device->events);
    free(device);
}

static void reset(void *argument)
{
    struct device *device = argument;
    const uint64_t uuid[2] = {device->model.uuid[0], device->model.uuid[1]};

    gba_model_init(&device->model, device->model.groups, device->model.ports, uuid);
    device->count = device->taken = 0;
}

static void make(void *argument, const struct gba_dut_access *access)
{
    struct device *device = argument;
    const struct gba_model_access a = {.write = access->write != 0,
                                       .width = (uint8_t)access->width,
                                       .port = (uint16_t)access->port,
                                       .address = access->address,
                                       .value = access->value,
                                       .random = access->random};

    gba_model_access(&device->model, &a, &device->effects);
    add_effects(device, GBA_DUT_TAKEN, access->port, 0);
}

static void set_link(void *argument, uint32_t port, uint32_t up, uint32_t quota)
{
    struct device *device = argument;

    device->effects.interrupt = false;
    device->effects.releases = 0;
    if (up != 0)
        gba_model_port_up(&device->model, port, quota);
    else
        gba_model_port_down(&device->model, port, &device->effects);
    add_effects(device, GBA_DUT_LINK, port, up);
}

static void set_ready(void *argument, uint32_t port, uint32_t ready)
{
    (void)argument;
    (void)port;
    (void)ready;
}

static int advance(void *argument, uint32_t cycles)
{
    (void)argument;
    (void)cycles;
    return 1;
}

static int take(void *argument, struct gba_dut_event *event)
{
    struct device *device = argument;

    if (device->taken == device->count) {
        device->taken = device->count = 0;
        return 0;
    }
    *event = device->events[device->taken++];
    return 1;
}

const struct gba_dut *gba_dut(void)
{
    static const struct gba_dut table = {.version = GBA_DUT_VERSION,
                                         .create = create,
                                         .destroy = destroy,
                                         .reset = reset,
                                         .access = make,
                                         .link = set_link,
                                         .ready = set_ready,
                                         .advance = advance,
                                         .event = take};

    return &table;
}
