/* SPDX-License-Identifier: BSD-3-Clause */
/* The device and its ports: sessions attach, make accesses, and detach. */
#include "sim/switch/core/switch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/model/control.h"
#include "sim/model/event.h"
#include "sim/switch/core/state.h"

struct gba_switch *gba_switch_create(const struct gba_switch_config *config)
{
    const struct gba_switch_latency *latency = &config->latency;
    struct gba_switch *device = calloc(1, sizeof(*device));

    if (device == NULL)
        return NULL;
    device->config = *config;
    device->delayed = latency->up != 0 || latency->match != 0 || latency->release != 0 ||
                      latency->down != 0 || latency->jitter != 0;
    device->random = latency->seed;
    device->armed = UINT64_MAX;
    gba_model_init(&device->model, config->groups, config->ports, config->uuid);
    return device;
}

void gba_switch_destroy(struct gba_switch *device)
{
    if (device == NULL)
        return;
    for (uint32_t port = 0; port < device->ports_used; port++) {
        gba_switch_fifo_clear(&device->port[port].up);
        gba_switch_fifo_clear(&device->port[port].down);
    }
    free(device);
}

/* A write of COMMAND. */
static void execute(struct gba_switch *device, struct gba_model_access *access)
{
    uint32_t command = (uint32_t)access->value;
    struct gba_model_port *bank = &device->model.port[access->port];

    if (command == GBA_CMD_ALLOC && gba_switch_at_limit(device, access->port)) {
        /* The control unit has no record of users, so refuse the command here. [CMD-2] */
        bank->command = command;
        bank->result = GBA_RESULT_LIMIT;
        return;
    }
    gba_switch_note_command(device, access->port, command);
    if (command == GBA_CMD_ALLOC)
        access->random = device->config.random(device->config.context);
    gba_switch_make(device, access);
    if (command == GBA_CMD_ALLOC && bank->result == GBA_RESULT_OK)
        gba_switch_note_alloc(device, access->port, bank->group);
}

static void bring_up(struct gba_switch *device, uint32_t number,
                     const struct gba_switch_session_ops *ops, void *session,
                     const struct gba_switch_identity *identity)
{
    device->port[number] = (struct gba_switch_port){
        .attached = true, .ops = *ops, .session = session, .identity = *identity};
    if (number >= device->ports_used)
        device->ports_used = number + 1;
    gba_model_port_up(&device->model, number, device->config.quota);
}

int gba_switch_attach(struct gba_switch *device, const struct gba_switch_session_ops *ops,
                      void *session, const struct gba_switch_identity *identity)
{
    uint32_t number = 0;

    while (number < device->model.ports && device->port[number].attached)
        number++;
    if (number == device->model.ports)
        return GBA_SWITCH_NO_PORT;
    if (gba_switch_at_port_limit(device, identity))
        return GBA_SWITCH_PORT_QUOTA;
    bring_up(device, number, ops, session, identity);
    return (int)number;
}

void gba_switch_detach(struct gba_switch *device, uint32_t number)
{
    struct gba_switch_port *port = &device->port[number];

    if (!port->attached)
        return;
    gba_switch_note_down(device, number);
    gba_switch_fifo_clear(&port->up);
    gba_switch_fifo_clear(&port->down);
    port->attached = false;
    gba_model_port_down(&device->model, number, &device->effects);
    gba_switch_emit(device, 0);
}

void gba_switch_reset(struct gba_switch *device, uint32_t number)
{
    struct gba_switch_port before = device->port[number];

    if (!before.attached)
        return;
    gba_switch_detach(device, number);
    bring_up(device, number, &before.ops, before.session, &before.identity);
}

uint64_t gba_switch_read(struct gba_switch *device, uint32_t port, uint32_t address, unsigned width)
{
    struct gba_model_access access = {
        .width = (uint8_t)width, .port = (uint16_t)port, .address = address};
    uint64_t value;

    gba_switch_push_up(device, port);
    value = gba_switch_make(device, &access);
    gba_switch_push_down(device, port);
    return value;
}

void gba_switch_write(struct gba_switch *device, uint32_t port, uint32_t address, unsigned width,
                      uint64_t value)
{
    struct gba_model_access access = {.write = true,
                                      .width = (uint8_t)width,
                                      .port = (uint16_t)port,
                                      .address = address,
                                      .value = value};
    uint32_t into = address - GBA_DOORBELL_BASE; /* wraps for a lower address */

    if (width == 8 && into < GBA_GROUPS * GBA_DOORBELL_STRIDE &&
        (into % GBA_DOORBELL_STRIDE == GBA_BELL_ARRIVAL ||
         into % GBA_DOORBELL_STRIDE == GBA_BELL_NOTIFY)) {
        gba_switch_ring(device, port, into / GBA_DOORBELL_STRIDE, into % GBA_DOORBELL_STRIDE,
                        value);
        return;
    }
    gba_switch_push_up(device, port);
    if (address == GBA_PORT_REG(GBA_PORT_COMMAND) && width == 4)
        execute(device, &access);
    else
        gba_switch_make(device, &access);
}

static uint64_t load(struct gba_switch *device, uint32_t port, uint32_t reg, unsigned width)
{
    struct gba_model_access access = {
        .width = (uint8_t)width, .port = (uint16_t)port, .address = GBA_PORT_REG(reg)};

    return gba_switch_make(device, &access);
}

uint32_t gba_switch_command(struct gba_switch *device, uint32_t port, uint32_t command,
                            struct gba_switch_mailbox *mailbox)
{
    uint32_t result;

    gba_switch_write(device, port, GBA_PORT_REG(GBA_PORT_GROUP), 4, mailbox->group);
    gba_switch_write(device, port, GBA_PORT_REG(GBA_PORT_GENERATION), 4, mailbox->generation);
    gba_switch_write(device, port, GBA_PORT_REG(GBA_PORT_KEY), 8, mailbox->key);
    gba_switch_write(device, port, GBA_PORT_REG(GBA_PORT_MEMBER), 4, mailbox->member);
    gba_switch_write(device, port, GBA_PORT_REG(GBA_PORT_VALUE), 4, mailbox->value);
    gba_switch_write(device, port, GBA_PORT_REG(GBA_PORT_COMMAND), 4, command);
    mailbox->group = (uint32_t)load(device, port, GBA_PORT_GROUP, 4);
    mailbox->generation = (uint32_t)load(device, port, GBA_PORT_GENERATION, 4);
    mailbox->key = load(device, port, GBA_PORT_KEY, 8);
    mailbox->member = (uint32_t)load(device, port, GBA_PORT_MEMBER, 4);
    mailbox->value = (uint32_t)load(device, port, GBA_PORT_VALUE, 4);
    result = (uint32_t)load(device, port, GBA_PORT_RESULT, 4);
    gba_switch_push_down(device, port);
    return result;
}

void gba_switch_set_host(struct gba_switch *device, uint32_t port, const char *host)
{
    struct gba_switch_identity *identity = &device->port[port].identity;

    snprintf(identity->host, sizeof(identity->host), "%s", host);
    for (uint32_t i = 0; i < device->ports_used; i++)
        if (strcmp(device->lost[i], identity->host) == 0)
            device->lost[i][0] = '\0';
}

void gba_switch_lose(struct gba_switch *device, uint32_t number)
{
    memcpy(device->lost[number], device->port[number].identity.host, sizeof(device->lost[number]));
}

const char *gba_switch_lost(const struct gba_switch *device, uint32_t number)
{
    return device->lost[number];
}

void gba_switch_set_batch_job(struct gba_switch *device, uint32_t port, const char *job)
{
    struct gba_switch_identity *identity = &device->port[port].identity;

    snprintf(identity->batch_job, sizeof(identity->batch_job), "%s", job);
}

const struct gba_model *gba_switch_model(const struct gba_switch *device)
{
    return &device->model;
}

const struct gba_switch_identity *gba_switch_user(const struct gba_switch *device, uint32_t port)
{
    return device->port[port].attached ? &device->port[port].identity : NULL;
}
