/* SPDX-License-Identifier: BSD-3-Clause */
/* The model as the bus sees it: the decoding of addresses, and the accesses that each register
 * takes. */
#include "sim/model/model.h"

#include <string.h>

#include "sim/model/control.h"
#include "sim/model/event.h"
#include "sim/model/group.h"
#include "sim/model/port.h"

enum { READABLE = 1, WRITABLE = 2 };

/*
 * The registers of a page: `count` registers of `width` bytes from `offset` on. Any other width at
 * an offset is refused, so that no access touches two registers. ARRIVAL and its halves are three
 * entries, because each has its own width and direction. [ACC-5]
 */
struct reg {
    uint32_t offset;
    uint32_t count;
    uint8_t width;
    uint8_t direction;
};

static const struct reg group_regs[] = {
    {GBA_REG_GROUP_ID, 1, 4, READABLE},
    {GBA_REG_MEMBER_COUNT, 1, 4, READABLE | WRITABLE},
    {GBA_REG_CONTROL, 1, 4, READABLE | WRITABLE},
    {GBA_REG_STATUS, 1, 4, READABLE},
    {GBA_REG_ARRIVAL, 1, 8, READABLE | WRITABLE},
    {GBA_REG_ARRIVED_COUNT, 1, 4, READABLE},
    {GBA_REG_SEQUENCE, 1, 4, READABLE | WRITABLE},
    {GBA_REG_LAST_ERROR, 1, 4, READABLE},
    {GBA_REG_GENERATION, 1, 4, READABLE},
    {GBA_REG_MEMBER_MASK, GBA_MASK_WORDS, 8, READABLE | WRITABLE},
    {GBA_REG_ARRIVED_MASK, GBA_MASK_WORDS, 8, READABLE},
    {GBA_REG_COUNTERS, GBA_COUNTERS, 8, READABLE},
};

static const struct reg device_regs[] = {
    {GBA_DEV_ID, 1, 4, READABLE},         {GBA_DEV_VERSION, 1, 4, READABLE},
    {GBA_DEV_GROUPS, 1, 4, READABLE},     {GBA_DEV_MEMBERS_MAX, 1, 4, READABLE},
    {GBA_DEV_BAD_ACCESS, 1, 8, READABLE}, {GBA_DEV_GROUPS_FREE, 1, 4, READABLE},
    {GBA_DEV_PORTS, 1, 4, READABLE},      {GBA_DEV_UUID, 2, 8, READABLE},
};

static const struct reg port_regs[] = {
    {GBA_PORT_NUMBER, 1, 4, READABLE},
    {GBA_PORT_QUOTA, 1, 4, READABLE},
    {GBA_PORT_HELD, 1, 4, READABLE},
    {GBA_PORT_IRQ_CAUSE, 1, 4, READABLE},
    {GBA_PORT_IRQ_MASK, 1, 4, READABLE | WRITABLE},
    {GBA_PORT_GROUP, 1, 4, READABLE | WRITABLE},
    {GBA_PORT_GENERATION, 1, 4, READABLE | WRITABLE},
    {GBA_PORT_KEY, 1, 8, READABLE | WRITABLE},
    {GBA_PORT_MEMBER, 1, 4, READABLE | WRITABLE},
    {GBA_PORT_VALUE, 1, 4, READABLE | WRITABLE},
    {GBA_PORT_COMMAND, 1, 4, READABLE | WRITABLE},
    {GBA_PORT_RESULT, 1, 4, READABLE},
    {GBA_PORT_EVENTS, GBA_GROUPS, 4, READABLE | WRITABLE},
};

static const struct reg table_regs[] = {
    {0, GBA_MEMBERS_MAX, GBA_TABLE_ENTRY_SIZE, READABLE | WRITABLE},
};

static const struct reg doorbell_regs[] = {
    {GBA_BELL_ARRIVAL, 1, 8, WRITABLE},
    {GBA_BELL_NOTIFY, 1, 8, WRITABLE},
};

#define ENTRIES(array) (sizeof(array) / sizeof((array)[0]))

/* Whether one of the registers takes an access of this offset, width and direction. [ACC-1, ACC-2,
 * ACC-3] */
static bool reg_takes(const struct reg *regs, size_t entries, uint32_t offset, uint8_t width,
                      bool write)
{
    for (size_t i = 0; i < entries; i++) {
        const struct reg *reg = &regs[i];

        if (reg->width == width && offset >= reg->offset &&
            offset < reg->offset + reg->count * reg->width && offset % reg->width == 0)
            return (reg->direction & (write ? WRITABLE : READABLE)) != 0;
    }
    return false;
}

/* Address decoding. [MAP-1, MAP-2, MAP-3] */
enum aperture { GROUP_PAGE, DEVICE_PAGE, PORT_PAGE, TABLE, DOORBELL, NOWHERE };

static enum aperture decode(uint32_t address, uint32_t *group, uint32_t *offset)
{
    static const struct {
        uint32_t base, stride, count;
        enum aperture aperture;
    } map[] = {
        {GBA_GROUP_BASE, GBA_GROUP_STRIDE, GBA_GROUPS, GROUP_PAGE},
        {GBA_DEVICE_BASE, GBA_DEVICE_SIZE, 1, DEVICE_PAGE},
        {GBA_PORT_BASE, GBA_PORT_SIZE, 1, PORT_PAGE},
        {GBA_TABLE_BASE, GBA_TABLE_STRIDE, GBA_GROUPS, TABLE},
        {GBA_DOORBELL_BASE, GBA_DOORBELL_STRIDE, GBA_GROUPS, DOORBELL},
    };

    *group = 0;
    *offset = 0;
    for (size_t i = 0; i < ENTRIES(map); i++) {
        /* An address below the base wraps to an offset far behind the aperture. */
        uint32_t into = address - map[i].base;

        if (into < map[i].stride * map[i].count) {
            *group = into / map[i].stride;
            *offset = into % map[i].stride;
            return map[i].aperture;
        }
    }
    return NOWHERE;
}

static uint64_t read_device(const struct gba_model *model, uint32_t offset)
{
    switch (offset) {
    case GBA_DEV_ID:
        return GBA_DEV_ID_VALUE;
    case GBA_DEV_VERSION:
        return model->version;
    case GBA_DEV_GROUPS:
        return model->groups;
    case GBA_DEV_MEMBERS_MAX:
        return GBA_MEMBERS_MAX;
    case GBA_DEV_BAD_ACCESS:
        return gba_word_load_relaxed(&model->bad_access);
    case GBA_DEV_GROUPS_FREE:
        return gba_control_groups_free(model);
    case GBA_DEV_PORTS:
        return model->ports;
    default:
        return model->uuid[(offset - GBA_DEV_UUID) / 8];
    }
}

/* The value of a refused read: all ones, in its width. [ACC-4] */
static uint64_t read_none(uint8_t width)
{
    return width >= 8 ? GBA_READ_NONE : (1ull << (8 * width)) - 1;
}

static bool group_takes(enum aperture aperture, uint32_t offset,
                        const struct gba_model_access *access)
{
    switch (aperture) {
    case GROUP_PAGE:
        return reg_takes(group_regs, ENTRIES(group_regs), offset, access->width, access->write);
    case TABLE:
        return reg_takes(table_regs, ENTRIES(table_regs), offset, access->width, access->write);
    default:
        return reg_takes(doorbell_regs, ENTRIES(doorbell_regs), offset, access->width,
                         access->write);
    }
}

/* Write an entry of the release table. JOIN decides whose entry it is. [PORT-5] */
static uint32_t write_table(struct gba_model_group *group, uint32_t port, uint32_t member,
                            uint64_t address)
{
    if (!gba_model_is_bound(group, member, port))
        return GBA_ERROR_MEMBER;
    return gba_model_store_table(group, member, address);
}

/* A bus address is visible only to the host that it belongs to. [PORT-5] */
static uint64_t read_table(const struct gba_model_group *group, uint32_t port, uint32_t member)
{
    return gba_model_is_bound(group, member, port) ? group->table[member] : 0;
}

/* Make a write that the register takes. */
static void write_group(struct gba_model *model, uint32_t id, enum aperture aperture,
                        uint32_t offset, const struct gba_model_access *access,
                        struct gba_model_effects *effects)
{
    uint64_t value = access->value;
    uint32_t error = GBA_ERROR_CONFIG; /* only the control unit configures [CFG-9] */

    if (aperture == DOORBELL && offset == GBA_BELL_NOTIFY) {
        gba_model_notify(model, id, access->port, value, effects);
        return;
    }
    if (aperture == DOORBELL || (aperture == GROUP_PAGE && offset == GBA_REG_ARRIVAL)) {
        gba_model_arrive(model, id, access->port, value, effects);
        return;
    }
    if (aperture == TABLE)
        error = write_table(&model->group[id], access->port, offset / GBA_TABLE_ENTRY_SIZE, value);
    gba_model_report(model, id, access->port, error, effects);
}

/* Access a group that exists. */
static void access_group(struct gba_model *model, uint32_t id, enum aperture aperture,
                         uint32_t offset, const struct gba_model_access *access,
                         struct gba_model_effects *effects)
{
    const struct gba_model_group *group = &model->group[id];

    if (!group_takes(aperture, offset, access)) {
        if (!access->write)
            effects->value = read_none(access->width);
        gba_model_report(model, id, access->port, GBA_ERROR_ACCESS, effects);
    } else if (access->write) {
        write_group(model, id, aperture, offset, access, effects);
    } else if (aperture == TABLE) {
        effects->value = read_table(group, access->port, offset / GBA_TABLE_ENTRY_SIZE);
    } else {
        effects->value = gba_model_load(group, id, offset, access->width);
    }
}

/* Access the device page or the port page. Returns the error. */
static uint32_t access_page(struct gba_model *model, enum aperture aperture, uint32_t offset,
                            const struct gba_model_access *access,
                            struct gba_model_effects *effects)
{
    const bool device = aperture == DEVICE_PAGE;
    const struct reg *regs = device ? device_regs : port_regs;
    size_t entries = device ? ENTRIES(device_regs) : ENTRIES(port_regs);

    if (!reg_takes(regs, entries, offset, access->width, access->write))
        return GBA_ERROR_ACCESS;
    if (access->write)
        return gba_model_port_store(model, access, offset, effects);
    effects->value =
        device ? read_device(model, offset) : gba_model_port_load(model, access->port, offset);
    return GBA_ERROR_NONE;
}

/* Whether the access reaches the device. [PORT-3] */
static bool is_up(const struct gba_model *model, uint32_t port)
{
    return port < model->ports && model->port[port].up != 0;
}

void gba_model_access(struct gba_model *model, const struct gba_model_access *access,
                      struct gba_model_effects *effects)
{
    uint32_t group, offset;
    enum aperture aperture = decode(access->address, &group, &offset);

    gba_model_clear(effects);
    if (!is_up(model, access->port)) {
        effects->value = access->write ? 0 : read_none(access->width);
        return;
    }
    if (aperture == DEVICE_PAGE || aperture == PORT_PAGE) {
        effects->error = access_page(model, aperture, offset, access, effects);
    } else if (aperture != NOWHERE && group < model->groups) {
        access_group(model, group, aperture, offset, access, effects);
        return;
    } else {
        effects->error = GBA_ERROR_ACCESS;
    }
    if (effects->error == GBA_ERROR_NONE)
        return;
    /* The error belongs to no group. [ERR-3] */
    gba_word_add_relaxed(&model->bad_access, 1);
    if (!access->write)
        effects->value = read_none(access->width);
}

int gba_model_group_of(const struct gba_model *model, uint32_t address)
{
    uint32_t group, offset;
    enum aperture aperture = decode(address, &group, &offset);

    if (aperture == DEVICE_PAGE || aperture == PORT_PAGE || aperture == NOWHERE ||
        group >= model->groups)
        return -1;
    return (int)group;
}

void gba_model_init(struct gba_model *model, uint32_t groups, uint32_t ports,
                    const uint64_t uuid[2])
{
    memset(model, 0, sizeof(*model));
    model->groups = groups;
    model->ports = ports;
    model->version = GBA_REGS_MAJOR << 16 | GBA_REGS_MINOR;
    model->uuid[0] = uuid[0];
    model->uuid[1] = uuid[1];
}

void gba_model_uuid(const struct gba_model *model, uint8_t bytes[16])
{
    for (uint32_t i = 0; i < 16; i++)
        bytes[i] = (uint8_t)(model->uuid[i / 8] >> 8 * (i % 8));
}
