/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of a port: its interrupts and its mailbox. */
#include "sim/model/port.h"

#include <string.h>

#include "sim/model/control.h"
#include "sim/model/event.h"

/* The groups with events at a port. [IRQ-1] */
static uint32_t cause(const struct gba_model *model, uint32_t port)
{
    uint32_t bits = 0;

    for (uint32_t group = 0; group < model->groups; group++)
        bits |= (uint32_t)(model->group[group].record.events[port] != 0) << group;
    return bits;
}

uint64_t gba_model_port_load(const struct gba_model *model, uint32_t port, uint32_t offset)
{
    const struct gba_model_port *bank = &model->port[port];
    uint32_t group;

    switch (offset) {
    case GBA_PORT_NUMBER:
        return port;
    case GBA_PORT_QUOTA:
        return bank->quota;
    case GBA_PORT_HELD:
        return gba_control_held(model, port);
    case GBA_PORT_IRQ_CAUSE:
        return cause(model, port);
    case GBA_PORT_IRQ_MASK:
        return bank->irq_mask;
    case GBA_PORT_GROUP:
        return bank->group;
    case GBA_PORT_GENERATION:
        return bank->generation;
    case GBA_PORT_KEY:
        return bank->key;
    case GBA_PORT_MEMBER:
        return bank->member;
    case GBA_PORT_VALUE:
        return bank->value;
    case GBA_PORT_COMMAND:
        return bank->command;
    case GBA_PORT_RESULT:
        return bank->result;
    default: /* the events of a group that the device may not have */
        group = (offset - GBA_PORT_EVENTS) / 4;
        return group < model->groups ? model->group[group].record.events[port] : 0;
    }
}

static uint32_t alloc(struct gba_model *model, uint32_t port, uint64_t random)
{
    struct gba_model_port *bank = &model->port[port];
    uint32_t group = bank->group;
    uint32_t result = gba_control_alloc(model, port, &group, bank->value, random);

    if (result != GBA_RESULT_OK)
        return result;
    bank->group = group;
    bank->generation = model->group[group].record.generation;
    bank->key = random;
    return GBA_RESULT_OK;
}

/* Execute a command with the arguments in the mailbox. [CMD-1] */
static uint32_t execute(struct gba_model *model, uint32_t port, uint64_t random,
                        struct gba_model_effects *effects)
{
    struct gba_model_port *bank = &model->port[port];

    switch (bank->command) {
    case GBA_CMD_ALLOC:
        return alloc(model, port, random);
    case GBA_CMD_JOIN:
        return gba_control_join(model, port, bank->group, bank->generation, bank->key,
                                bank->member);
    case GBA_CMD_ARM:
        return gba_control_arm(model, port, bank->group, bank->generation, bank->value);
    case GBA_CMD_LEAVE:
        return gba_control_leave(model, port, bank->group, bank->generation, bank->member,
                                 bank->value, effects);
    case GBA_CMD_FREE:
        return gba_control_free(model, port, bank->group, bank->generation);
    case GBA_CMD_MEMBER:
        return gba_control_member(model, bank->group, bank->generation, bank->member, &bank->value);
    default:
        return GBA_RESULT_PARAM;
    }
}

/* Groups that become unmasked may have events already: they interrupt now. [IRQ-4] */
static void write_mask(struct gba_model *model, uint32_t port, uint32_t mask,
                       struct gba_model_effects *effects)
{
    struct gba_model_port *bank = &model->port[port];

    if ((cause(model, port) & mask & ~bank->irq_mask) != 0)
        gba_model_interrupt(port, effects);
    bank->irq_mask = mask;
}

/* Write 1 to acknowledge. [IRQ-2] */
static uint32_t acknowledge(struct gba_model *model, uint32_t port, uint32_t group, uint32_t events)
{
    if (group >= model->groups || (events & ~GBA_IRQ_BITS) != 0)
        return GBA_ERROR_CONFIG;
    model->group[group].record.events[port] &= (uint8_t)~events;
    return GBA_ERROR_NONE;
}

uint32_t gba_model_port_store(struct gba_model *model, const struct gba_model_access *access,
                              uint32_t offset, struct gba_model_effects *effects)
{
    struct gba_model_port *bank = &model->port[access->port];
    uint32_t value = (uint32_t)access->value;

    switch (offset) {
    case GBA_PORT_IRQ_MASK:
        write_mask(model, access->port, value, effects);
        break;
    case GBA_PORT_GROUP:
        bank->group = value;
        break;
    case GBA_PORT_GENERATION:
        bank->generation = value;
        break;
    case GBA_PORT_KEY:
        bank->key = access->value;
        break;
    case GBA_PORT_MEMBER:
        bank->member = value;
        break;
    case GBA_PORT_VALUE:
        bank->value = value;
        break;
    case GBA_PORT_COMMAND:
        bank->command = value;
        bank->result = execute(model, access->port, access->random, effects);
        break;
    default:
        return acknowledge(model, access->port, (offset - GBA_PORT_EVENTS) / 4, value);
    }
    return GBA_ERROR_NONE;
}

void gba_model_port_up(struct gba_model *model, uint32_t port, uint32_t quota)
{
    model->port[port] = (struct gba_model_port){.up = 1, .quota = quota};
}

void gba_model_port_down(struct gba_model *model, uint32_t port, struct gba_model_effects *effects)
{
    gba_model_clear(effects);
    if (model->port[port].up == 0)
        return;
    /* First the bank: a port that is down is not interrupted. */
    memset(&model->port[port], 0, sizeof(model->port[port]));
    for (uint32_t group = 0; group < model->groups; group++)
        gba_control_port_leave(model, port, group, effects);
}
