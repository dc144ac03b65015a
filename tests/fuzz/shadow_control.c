/* SPDX-License-Identifier: BSD-3-Clause */
/* The shadow of ports and of the control unit. */
#include <string.h>

#include "tests/fuzz/shadow_state.h"

struct shadow_bank shadow_banks[SHADOW_PORTS];
static bool expect_irq[SHADOW_PORTS];
static struct shadow *commanded;

void shadow_begin(void)
{
    memset(expect_irq, 0, sizeof(expect_irq));
    commanded = NULL;
}

struct shadow *shadow_commanded(void)
{
    return commanded;
}

uint32_t shadow_port_of(uint32_t group, uint32_t member)
{
    return shadows[group].owner[member] == 0 ? 0 : shadows[group].owner[member] - 1;
}

uint32_t shadow_generation(uint32_t group)
{
    return shadows[group].generation;
}

uint64_t shadow_key(uint32_t group)
{
    return shadows[group].key;
}

bool shadow_is_up(uint32_t port)
{
    return port < shadow_ports && shadow_banks[port].up;
}

void shadow_event(struct shadow *s, uint32_t port, uint32_t events)
{
    uint32_t g = (uint32_t)(s - shadows);

    if (shadow_ports == 0) {
        expect_irq[0] = true;
        return;
    }
    if ((s->events[port] | events) != s->events[port] && (shadow_banks[port].mask & 1u << g))
        expect_irq[port] = true;
    s->events[port] |= events;
}

static uint32_t owned(const struct shadow *s, uint32_t port)
{
    uint32_t n = 0;

    for (uint32_t m = 0; m < s->size; m++)
        n += s->owner[m] == port + 1;
    return n;
}

bool shadow_concerns(const struct shadow *s, uint32_t port)
{
    return owned(s, port) > 0 || (s->holder == port + 1 && !s->anyone);
}

/* Send events to the ports with members. */
static void send_event(struct shadow *s, uint32_t except, uint32_t events)
{
    for (uint32_t port = 0; port < shadow_ports; port++) {
        if (port != except && owned(s, port) > 0)
            shadow_event(s, port, events);
    }
}

static void release_group(struct shadow *s)
{
    if (s->life == SHADOW_TAKEN && s->holder != 0)
        shadow_event(s, s->holder - 1, GBA_IRQ_FREED);
    shadow_reset(s);
    s->life = SHADOW_FREE;
    s->size = s->holder = 0;
    s->key = 0;
    s->anyone = false;
    memset(s->left, 0, sizeof(s->left));
    memset(s->asks, 0, sizeof(s->asks));
}

static void remove_member(struct shadow *s, uint32_t m)
{
    uint32_t port = s->owner[m] - 1;

    s->address[m] = 0;
    s->owner[m] = 0;
    s->left[m] = true;
    if (owned(s, port) == 0)
        s->asks[port] = false;
}

static void release_if_empty(struct shadow *s)
{
    for (uint32_t m = 0; m < s->size; m++) {
        if (s->owner[m] != 0)
            return;
    }
    if (s->life != SHADOW_FREE && s->anyone)
        release_group(s);
}

static uint32_t held(uint32_t port)
{
    uint32_t n = 0;

    for (uint32_t g = 0; g < shadow_groups; g++)
        n += shadows[g].holder == port + 1;
    return n;
}

static uint32_t alloc(struct shadow_bank *bank, uint32_t port, uint64_t random)
{
    struct shadow *s = NULL;

    if (bank->value - 1 > 707 || (bank->group >= shadow_groups && bank->group + 1 != 0))
        return GBA_RESULT_PARAM;
    if (bank->quota && held(port) >= bank->quota)
        return GBA_RESULT_LIMIT;
    for (uint32_t g = shadow_groups; g-- > 0;) {
        if (shadows[g].life == SHADOW_FREE && (bank->group == g || bank->group + 1 == 0))
            s = &shadows[g];
    }
    if (s == NULL)
        return GBA_RESULT_NO_GROUP;
    shadow_reset(s);
    s->life = SHADOW_ALLOCATED;
    s->size = s->count = bank->value;
    for (uint32_t m = 0; m < s->size; m++)
        s->member[m] = true;
    s->holder = port + 1;
    s->key = bank->key = random;
    bank->generation = ++s->generation;
    bank->group = (uint32_t)(s - shadows);
    commanded = s;
    return GBA_RESULT_OK;
}

static uint32_t join(struct shadow *s, const struct shadow_bank *bank, uint32_t port)
{
    if (s->key != bank->key)
        return GBA_RESULT_STALE;
    if (bank->member >= s->size)
        return GBA_RESULT_PARAM;
    if (s->owner[bank->member] != 0 || s->left[bank->member])
        return GBA_RESULT_BUSY;
    s->owner[bank->member] = port + 1;
    s->anyone = true;
    return GBA_RESULT_OK;
}

static uint32_t arm(struct shadow *s, const struct shadow_bank *bank, uint32_t port)
{
    if (owned(s, port) == 0)
        return GBA_RESULT_PARAM;
    if (s->life == SHADOW_ARMED || !shadow_whole(s))
        return GBA_RESULT_BUSY;
    s->life = SHADOW_ARMED;
    s->sequence = bank->value;
    s->control = GBA_CONTROL_ENABLE | GBA_CONTROL_ARM | GBA_CONTROL_IRQ_EN;
    return GBA_RESULT_OK;
}

static uint32_t leave(struct shadow *s, const struct shadow_bank *bank, uint32_t port)
{
    if (bank->member >= s->size || s->owner[bank->member] != port + 1 || bank->value > 1)
        return GBA_RESULT_PARAM;
    remove_member(s, bank->member);
    if (bank->value == GBA_LEAVE_DIED)
        send_event(s, port, GBA_IRQ_DIED);
    release_if_empty(s);
    return GBA_RESULT_OK;
}

static uint32_t take_back(struct shadow *s, uint32_t port)
{
    if (s->holder != port + 1)
        return GBA_RESULT_PARAM;
    if (s->life != SHADOW_ARMED)
        return GBA_RESULT_BUSY;
    for (uint32_t m = 0; m < GBA_MEMBERS_MAX; m++) {
        if (s->arrived[m])
            return GBA_RESULT_BUSY;
    }
    s->control = 0;
    memset(s->address, 0, sizeof(s->address));
    memset(s->asks, 0, sizeof(s->asks));
    s->life = SHADOW_TAKEN;
    send_event(s, SHADOW_PORTS, GBA_IRQ_TAKEN);
    return GBA_RESULT_OK;
}

static uint32_t remove_port(struct shadow *s, uint32_t port)
{
    uint32_t removed = 0;

    for (uint32_t m = 0; m < s->size; m++) {
        if (s->owner[m] == port + 1) {
            remove_member(s, m);
            removed++;
        }
    }
    return removed;
}

static uint32_t report(const struct shadow *s, struct shadow_bank *bank)
{
    uint32_t m = bank->member;

    if (m >= s->size)
        return GBA_RESULT_PARAM;
    bank->value = s->left[m]         ? GBA_MEMBERSHIP_LEFT
                  : s->owner[m] == 0 ? GBA_MEMBERSHIP_EMPTY
                                     : (s->owner[m] - 1) * 65536 + (s->address[m] != 0 ? 2 : 1);
    return GBA_RESULT_OK;
}

static uint32_t execute(uint32_t port, uint64_t random)
{
    struct shadow_bank *bank = &shadow_banks[port];
    uint32_t code = bank->command;
    struct shadow *s;

    if (code == GBA_CMD_ALLOC)
        return alloc(bank, port, random);
    if (code == 0 || code > GBA_CMD_MEMBER)
        return GBA_RESULT_PARAM;
    if (bank->group >= shadow_groups)
        return GBA_RESULT_STALE;
    s = commanded = &shadows[bank->group];
    if (s->life == SHADOW_FREE || s->generation != bank->generation)
        return GBA_RESULT_STALE;
    if (s->life == SHADOW_TAKEN &&
        (code == GBA_CMD_JOIN || code == GBA_CMD_ARM || code == GBA_CMD_TAKE_BACK))
        return GBA_RESULT_STALE;
    switch (code) {
    case GBA_CMD_JOIN:
        return join(s, bank, port);
    case GBA_CMD_ARM:
        return arm(s, bank, port);
    case GBA_CMD_LEAVE:
        return leave(s, bank, port);
    case GBA_CMD_TAKE_BACK:
        return take_back(s, port);
    case GBA_CMD_MEMBER:
        return report(s, bank);
    case GBA_CMD_FREE:
        if (s->holder != port + 1 || s->anyone)
            return GBA_RESULT_PARAM;
        release_group(s);
        return GBA_RESULT_OK;
    default: /* CONFIRM */
        if (owned(s, port) == 0)
            return GBA_RESULT_PARAM;
        if (s->life != SHADOW_TAKEN)
            return GBA_RESULT_BUSY;
        remove_port(s, port);
        release_if_empty(s);
        return GBA_RESULT_OK;
    }
}

void shadow_port_changes(uint32_t port, bool up, uint32_t quota)
{
    bool was_up = shadow_banks[port].up;

    shadow_banks[port] = (struct shadow_bank){.up = up, .quota = up ? quota : 0};
    for (uint32_t g = 0; was_up && !up && g < shadow_groups; g++) {
        struct shadow *s = &shadows[g];

        if (remove_port(s, port) > 0)
            send_event(s, port, GBA_IRQ_PORT_DOWN);
        if (s->holder == port + 1 && !s->anyone)
            release_group(s);
        if (s->holder == port + 1)
            s->holder = 0;
        release_if_empty(s);
        s->events[port] = 0;
    }
}

/* --- the port page --- */

static uint32_t cause(uint32_t port)
{
    uint32_t bits = 0;

    for (uint32_t g = 0; g < shadow_groups; g++)
        bits |= (uint32_t)(shadows[g].events[port] > 0) << g;
    return bits;
}

static uint32_t write_event(uint32_t port, uint32_t g, uint32_t value)
{
    if (g >= shadow_groups || value > GBA_IRQ_BITS)
        return GBA_ERROR_CONFIG;
    commanded = &shadows[g];
    commanded->events[port] &= ~value;
    return GBA_ERROR_NONE;
}

static uint32_t write_port(const struct gba_model_access *access, uint32_t offset)
{
    struct shadow_bank *bank = &shadow_banks[access->port];
    uint32_t value = (uint32_t)access->value;
    uint32_t *const plain[] = {&bank->group, &bank->generation, NULL,
                               NULL,         &bank->member,     &bank->value};

    if (offset >= GBA_PORT_EVENTS)
        return write_event(access->port, (offset - GBA_PORT_EVENTS) / 4, value);
    if (offset == GBA_PORT_KEY) {
        bank->key = access->value;
    } else if (offset == GBA_PORT_COMMAND) {
        bank->command = value;
        bank->result = execute(access->port, access->random);
    } else if (offset == GBA_PORT_IRQ_MASK) {
        expect_irq[access->port] = (cause(access->port) & value & ~bank->mask) != 0;
        bank->mask = value;
    } else if (offset >= GBA_PORT_GROUP && offset <= GBA_PORT_VALUE) {
        *plain[(offset - GBA_PORT_GROUP) / 4] = value;
    } else {
        return GBA_ERROR_ACCESS; /* read-only */
    }
    return GBA_ERROR_NONE;
}

uint32_t shadow_port_page(const struct gba_model_access *access, uint32_t offset, uint64_t *value)
{
    const uint32_t port = access->port;
    const struct shadow_bank *bank = &shadow_banks[port];
    const uint64_t regs[] = {port,
                             bank->quota,
                             held(port),
                             0,
                             cause(port),
                             bank->mask,
                             0,
                             0,
                             bank->group,
                             bank->generation,
                             bank->key,
                             0,
                             bank->member,
                             bank->value,
                             bank->command,
                             bank->result};
    bool hole = offset == 0xC || offset == 0x18 || offset == 0x1C || offset == 0x2C ||
                (offset >= 0x40 && offset < GBA_PORT_EVENTS) ||
                offset >= GBA_PORT_EVENTS + 4 * GBA_GROUPS;

    if (hole || offset % 4 != 0 || access->width != (offset == GBA_PORT_KEY ? 8 : 4))
        return GBA_ERROR_ACCESS;
    if (access->write)
        return write_port(access, offset);
    if (offset < GBA_PORT_EVENTS)
        *value = regs[offset / 4];
    else if ((offset - GBA_PORT_EVENTS) / 4 < shadow_groups)
        *value = shadows[(offset - GBA_PORT_EVENTS) / 4].events[port];
    return GBA_ERROR_NONE;
}

/* --- checks --- */

void shadow_check_record(const struct shadow *s, const struct gba_model_group *group)
{
    const struct gba_model_record *record = &group->record;

    CHECK(record->life == s->life, "CMD: state of the record");
    CHECK(record->generation == s->generation && record->key == s->key, "CMD-2: handle");
    CHECK(record->members == s->size && record->holder == s->holder, "CMD-2: size and holder");
    for (uint32_t m = 0; m < GBA_MEMBERS_MAX; m++) {
        CHECK(group->bound[m] == s->owner[m], "PORT-5: ports of the members");
        CHECK(record->membership[m] == (s->left[m]    ? GBA_MEMBERSHIP_LEFT
                                        : s->owner[m] ? GBA_MEMBERSHIP_JOINED
                                                      : GBA_MEMBERSHIP_EMPTY),
              "CMD-3, CMD-5: memberships");
    }
    for (uint32_t port = 0; port < shadow_ports; port++) {
        CHECK(record->events[port] == s->events[port], "IRQ-1: events");
        CHECK((record->notify[0] >> port & 1) == s->asks[port], "NOTE-1, NOTE-3: requests");
    }
}

void shadow_check_ports(const struct gba_model_effects *effects, const struct gba_model *after)
{
    bool any = false;

    for (uint32_t port = 0; port < SHADOW_PORTS; port++) {
        bool irq = effects->interrupt && (effects->interrupts[0] >> port & 1) != 0;

        CHECK(irq == expect_irq[port], "ERR-5, IRQ-3, IRQ-4: interrupts");
        any = any || irq;
    }
    CHECK(effects->interrupt == any, "IRQ-3: no interrupt at a port that does not exist");
    for (uint32_t port = 0; port < shadow_ports; port++) {
        const struct gba_model_port *a = &after->port[port];
        const struct shadow_bank *b = &shadow_banks[port];

        CHECK(a->up == b->up && a->quota == b->quota && a->irq_mask == b->mask, "PORT-3: bank");
        CHECK(a->group == b->group && a->generation == b->generation && a->key == b->key &&
                  a->member == b->member && a->value == b->value,
              "CMD-1: arguments and results");
        CHECK(a->command == b->command && a->result == b->result, "CMD-1: RESULT");
    }
}
