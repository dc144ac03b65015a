/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of sim/model/model.h on the design of gba_device.sv. A program is linked with them
 * instead of the model.
 *
 * The control unit is sim/model/control.c as firmware, on the caller's struct gba_model. What hosts
 * and engine change is read from the design before it runs, and what it has changed is written when
 * it returns, both over the pins. The struct keeps the rest: records, bindings, quotas.
 *
 * It also shows the caller the state of the design: it follows each write of a memory. Tests change
 * it, too: what differs from the last state is written to the design before the next access.
 */
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>

#include "Vgba_device.h"
#include "verilated.h"

extern "C" {
#include "gba/spec/gba_dut.h"
#include "sim/model/control.h"
#include "sim/model/event.h"
#include "sim/model/port.h"

/* Functions of sim/model with the names that rtl.mk gives them. */
void gba_firmware_init(struct gba_model *model, uint32_t groups, uint32_t ports,
                       const uint64_t uuid[2]);
void gba_firmware_port_up(struct gba_model *model, uint32_t port, uint32_t quota);
void gba_firmware_port_down(struct gba_model *model, uint32_t port,
                            struct gba_model_effects *effects);

/* The bench of the design has this: a memory was written. */
void gba_rtl_wrote(int memory, int index, long long value);
}

/* The memories of the design, by the numbers that the control unit uses. The low bits of an index
 * are the group. */
enum {
    M_CONFIG,     /* IRQ_EN, ARM, ENABLE, MEMBER_COUNT: 1, 1, 1, 10 bits */
    M_ROUND,      /* words in use: 14, NOTIFY: 1, LAST_ERROR: 3, ERROR, COMPLETE: 1, 1,
                   * ARRIVED_COUNT: 10, SEQUENCE: 32 */
    M_GENERATION, /* by group, as the two before */
    M_MEMBERS,    /* words of masks */
    M_ARRIVED,
    M_MAPPED, /* members with an address */
    M_TABLE,  /* by member: addresses / 8 */
    M_BOUND,  /* ports, likewise */
    M_JOINED, /* words: members with a port */
    M_CONCERNS,
    M_NOTIFY, /* words of ports, as many */
    M_EVENTS, /* by port */
    M_CAUSE,  /* by port, without a group, as the two below */
    M_MASK,
    M_UP,
    M_FREE, /* GBA_DEV_GROUPS_FREE */
    M_COUNTER,
    M_QUEUE = M_COUNTER + 10, /* by group: the accesses that wait; takes 0 */
    M_MAILBOX,                /* by port: four registers of 8 bytes from GBA_PORT_GROUP on */
    M_QUOTA,                  /* by port: HELD, QUOTA: 6, 32 bits */
    M_BAD_ACCESS
};

/* A change of the link of a port that waits for the control unit. */
struct link {
    uint32_t port, up, quota;
};

/* The access of a port that the design has accepted. */
struct accepted {
    struct gba_model_access access;
    bool has_effect; /* it has taken effect */
};

struct rtl {
    struct gba_model *model;
    struct gba_model known;           /* what the design has */
    struct gba_model_effects effects; /* of the access under way */
    Vgba_device *top;
    std::deque<struct gba_model_access> queue[LANES];
    size_t offered[LANES]; /* which one of the queue */
    struct accepted accepted[1024];
    std::deque<struct link> links;
    std::deque<struct gba_dut_event> events;
    uint32_t thinking, commands; /* cycles of the control unit for this command; commands so far */
    bool writing; /* the bench writes the memories: the model has the values already */
};

static std::map<const struct gba_model *, struct rtl *> all;
static struct rtl *now;

static void event(struct rtl *rtl, uint32_t kind, uint32_t port, uint64_t address, uint64_t value)
{
    rtl->events.push_back({kind, port, address, value});
}

static void take_release(struct rtl *rtl)
{
    const Vgba_device *top = rtl->top;
    const struct gba_model_group *group = &rtl->model->group[top->rel_group];

    for (uint64_t set = top->rel_multicast ? top->rel_set : 1; set != 0; set &= set - 1) {
        uint32_t member = top->rel_member + (uint32_t)__builtin_ctzll(set);
        struct gba_model_release release = {top->rel_address, member, top->rel_sequence,
                                            top->rel_port};

        /* What the egress of the ports does: each looks up the addresses of its members. */
        if (top->rel_multicast) {
            release.address = group->table[member];
            release.port = group->bound[member] == 0 ? 0 : group->bound[member] - 1u;
        }
        event(rtl, GBA_DUT_STORE, release.port, release.address, release.sequence);
        if (rtl->effects.releases < GBA_MEMBERS_MAX)
            rtl->effects.release[rtl->effects.releases++] = release;
    }
}

/* The half of a cycle before the edge: the outputs follow the inputs. */
static void settle(struct rtl *rtl)
{
    rtl->top->clk = 0;
    rtl->top->eval();
}

/* The access that the lane offers after one of that port: the first one of the next port. */
static size_t next_of(const std::deque<struct gba_model_access> &queue, uint32_t port)
{
    size_t next = 0;

    for (size_t i = 1; i < queue.size(); i++) {
        if ((uint16_t)(queue[i].port - port - 1) < (uint16_t)(queue[next].port - port - 1))
            next = i;
    }
    return next;
}

static uint32_t pin_port(uint32_t port)
{
    return port < 1023 ? port : 1023u; /* a port that cannot exist, as one that does not */
}

/* The design accepts what the lane offers. */
static void accept(struct rtl *rtl, uint32_t lane)
{
    std::deque<struct gba_model_access> &queue = rtl->queue[lane];
    auto offered = queue.begin() + (ptrdiff_t)rtl->offered[lane];
    const struct gba_model_access access = *offered;

    queue.erase(offered);
    rtl->offered[lane] = next_of(queue, access.port);
    rtl->accepted[pin_port(access.port)] = {access, false};
}

static void take_effect(struct rtl *rtl, struct accepted *accepted)
{
    if (!accepted->has_effect)
        event(rtl, GBA_DUT_TAKEN, accepted->access.port, 0, 0);
    accepted->has_effect = true;
}

static void answer(struct rtl *rtl)
{
    const Vgba_device *top = rtl->top;
    struct accepted *accepted = &rtl->accepted[top->resp_port];

    take_effect(rtl, accepted);
    rtl->effects.value = top->resp_value;
    rtl->effects.error = top->resp_error;
    rtl->effects.completed = top->resp_completed;
    event(rtl, GBA_DUT_ANSWERED, accepted->access.port, 0, top->resp_value);
}

static void edge(struct rtl *rtl)
{
    Vgba_device *top = rtl->top;
    uint32_t accepted;

    if (top->rel_valid)
        take_release(rtl);
    if (top->irq_valid) {
        event(rtl, GBA_DUT_INTERRUPT, top->irq_port, 0, 0);
        gba_model_interrupt(top->irq_port, &rtl->effects);
    }
    accepted = top->rst ? 0 : top->req_ready;
    now = rtl;
    top->clk = 1;
    top->eval();
    top->req_valid &= ~accepted;
    if (accepted != 0)
        accept(rtl, (uint32_t)__builtin_ctz(accepted));
    if (top->resp_valid)
        answer(rtl);
}

static void tick(struct rtl *rtl)
{
    settle(rtl);
    edge(rtl);
}

static uint64_t round_of(const struct gba_model_group *group)
{
    const struct gba_model_core *core = &group->core;
    uint64_t live = 0;

    for (uint32_t word = 0; word < GBA_MASK_WORDS; word++)
        live |= (uint64_t)(core->arrived_mask[word] != 0) << word;
    return live << 48 | (uint64_t)(group->record.notified != 0) << 47 |
           (uint64_t)core->last_error << 44 | (uint64_t)(core->status >> 2 & 3) << 42 |
           (uint64_t)core->arrived_count << 32 | core->sequence;
}

/* A word of a mask: members with an address, members with a port, ports that the group concerns. */
static uint64_t mask_of(const struct gba_model *model, uint32_t memory, uint32_t index)
{
    const struct gba_model_group *group = &model->group[index % GBA_GROUPS];
    uint32_t last = memory == M_CONCERNS ? model->ports : GBA_MEMBERS_MAX;
    uint64_t mask = 0;

    for (uint32_t i = index / GBA_GROUPS * 64, bit = 0; i < last && bit < 64; i++, bit++) {
        bool is = memory == M_MAPPED   ? group->table[i] != 0
                  : memory == M_JOINED ? group->bound[i] != 0
                                       : gba_model_concerns(group, i);

        mask |= (uint64_t)is << bit;
    }
    return mask;
}

static uint64_t cause_of(const struct gba_model *model, uint32_t port)
{
    uint32_t cause = 0;

    for (uint32_t group = 0; group < model->groups; group++)
        cause |= (uint32_t)(model->group[group].record.events[port] != 0) << group;
    return cause;
}

/* A field of the model that a memory has as it is, little endian. set: its new value, or NULL. */
static uint64_t field(void *at, size_t size, const uint64_t *set)
{
    uint64_t value = 0;

    if (set != NULL)
        memcpy(at, set, size);
    memcpy(&value, at, size);
    return value;
}

/* What a memory has in that state. set: the new value of a field, or NULL. */
static uint64_t value_of(struct gba_model *model, uint32_t memory, uint32_t index,
                         const uint64_t *set = NULL)
{
    /* Eight bytes of the mailbox each, as the host finds them from GBA_PORT_GROUP on. */
    static const size_t mailbox[] = {
        offsetof(struct gba_model_port, group), offsetof(struct gba_model_port, key),
        offsetof(struct gba_model_port, member), offsetof(struct gba_model_port, command)};
    struct gba_model_group *group = &model->group[index % GBA_GROUPS];
    uint32_t word = index / GBA_GROUPS, control = group->core.control;

    switch (memory) {
    case M_CONFIG:
        return group->core.member_count | (control & 1) << 10 | (control >> 2 & 3) << 11;
    case M_ROUND:
        return round_of(group);
    case M_GENERATION:
        return group->record.generation;
    case M_MEMBERS:
        return group->core.member_mask[word];
    case M_ARRIVED:
        return field(&group->core.arrived_mask[word], 8, set);
    case M_MAPPED:
    case M_JOINED:
    case M_CONCERNS:
        return mask_of(model, memory, index);
    case M_TABLE:
        return group->table[word] >> 3;
    case M_BOUND:
        return group->bound[word] - 1u;
    case M_NOTIFY:
        return field(&group->record.notify[word], 8, set);
    case M_EVENTS:
        return field(&group->record.events[word], 1, set);
    case M_CAUSE:
        return cause_of(model, index);
    case M_MASK:
        return field(&model->port[index].irq_mask, 4, set);
    case M_UP:
        return model->port[index].up;
    case M_FREE:
        return gba_control_groups_free(model);
    case M_MAILBOX:
        return field((char *)&model->port[index / 4] + mailbox[index % 4], 8, set);
    case M_QUOTA:
        return (uint64_t)gba_control_held(model, index) << 32 | model->port[index].quota;
    case M_BAD_ACCESS:
        return model->bad_access;
    default:
        return field(&group->core.counters[memory - M_COUNTER], 8, set);
    }
}

static void follow_round(struct gba_model_group *group, uint64_t value)
{
    group->core.sequence = (uint32_t)value;
    group->core.arrived_count = value >> 32 & 0x3FF;
    group->core.status = (value >> 42 & 3) << 2;
    group->core.last_error = value >> 44 & 7;
    for (uint32_t word = 0; word < GBA_MASK_WORDS; word++) {
        if ((value >> 48 >> word & 1) == 0)
            group->core.arrived_mask[word] = 0;
        else if (group->core.arrived_mask[word] == 0)
            group->core.arrived_mask[word] = 1; /* some member */
    }
}

static void follow_mapped(struct gba_model_group *group, uint32_t word, uint64_t value)
{
    for (uint32_t i = word * 64; i < GBA_MEMBERS_MAX && i < word * 64 + 64; i++) {
        if ((value >> i % 64 & 1) == 0)
            group->table[i] = 0;
        else if (group->table[i] == 0)
            group->table[i] = 8; /* some address */
    }
}

static void follow(struct gba_model *model, uint32_t memory, uint32_t index, uint64_t value)
{
    struct gba_model_group *group = &model->group[index % GBA_GROUPS];
    uint32_t word = index / GBA_GROUPS;

    if (memory == M_ROUND) {
        follow_round(group, value);
    } else if (memory == M_MAPPED) {
        follow_mapped(group, word, value);
    } else if (memory == M_TABLE) {
        group->table[word] = value << 3;
    } else {
        uint64_t before = value_of(model, memory, index);

        (void)value_of(model, memory, index, &value);
        if (memory == M_NOTIFY)
            group->record.notified +=
                (uint32_t)(__builtin_popcountll(value) - __builtin_popcountll(before));
    }
}

/* The design has that value in a memory: the engine wrote it, or it was read. */
static void has(struct rtl *rtl, uint32_t memory, uint32_t index, uint64_t value)
{
    follow(rtl->model, memory, index, value);
    follow(&rtl->known, memory, index, value);
}

void gba_rtl_wrote(int memory, int index, long long value)
{
    if (!now->writing)
        has(now, (uint32_t)memory, (uint32_t)index, (uint64_t)value);
}

/* Read a memory of the design. */
static uint64_t peek(struct rtl *rtl, uint32_t memory, uint32_t index)
{
    rtl->top->cu_sel = memory;
    rtl->top->cu_index = index;
    tick(rtl);
    settle(rtl);
    return rtl->top->cu_value;
}

/* Write a memory of the design, which is held from then on. */
static void poke(struct rtl *rtl, uint32_t memory, uint32_t index, uint64_t value)
{
    Vgba_device *top = rtl->top;

    top->cu_hold = 1;
    for (settle(rtl); !top->cu_held; settle(rtl))
        edge(rtl);
    top->cu_we = 1;
    top->cu_sel = memory;
    top->cu_index = index;
    top->cu_data = value;
    tick(rtl);
    top->cu_we = 0;
}

/* Write a location of a memory, if it has changed in the model. */
static void write(struct rtl *rtl, uint32_t memory, uint32_t index, bool always = false)
{
    uint64_t value = value_of(rtl->model, memory, index);

    if (always || value != value_of(&rtl->known, memory, index))
        poke(rtl, memory, index, value);
}

/* Locations of a group in a memory; 0: the memory is by port. */
static uint32_t locations(uint32_t memory)
{
    if (memory < M_MEMBERS || memory >= M_COUNTER)
        return 1;
    if (memory == M_TABLE || memory == M_BOUND)
        return GBA_MEMBERS_MAX;
    if (memory == M_EVENTS)
        return GBA_PORTS_MAX;
    return memory < M_EVENTS ? GBA_MASK_WORDS : 0;
}

static void write_group(struct rtl *rtl, uint32_t id)
{
    for (uint32_t memory = 0; memory < M_QUEUE; memory++) {
        for (uint32_t i = 0; i < locations(memory); i++) {
            if (memory != M_BOUND || rtl->model->group[id].bound[i] != 0)
                write(rtl, memory, i * GBA_GROUPS + id);
        }
    }
}

static void write_port(struct rtl *rtl, uint32_t port)
{
    uint32_t up = rtl->model->port[port].up;
    bool all = up != rtl->known.port[port].up; /* the memories of a bank have no value before */

    for (uint32_t i = 0; i < 4; i++)
        write(rtl, M_MAILBOX, port * 4 + i, all);
    write(rtl, M_MASK, port, all);
    write(rtl, M_CAUSE, port, all);
    write(rtl, M_QUOTA, port, all);
    /* An access of the port waits no more, and those of the others begin to wait again. */
    for (uint32_t group = 0; all && up == 0 && group < rtl->model->groups; group++)
        poke(rtl, M_QUEUE, group, 0);
    write(rtl, M_UP, port);
}

/* Write to the design what has changed in the model. */
static void write_changes(struct rtl *rtl)
{
    struct gba_model *model = rtl->model, *known = &rtl->known;

    if (memcmp(model, known, sizeof *known) == 0)
        return;
    rtl->writing = true;
    for (uint32_t i = 0; i < model->groups; i++) {
        if (memcmp(&model->group[i], &known->group[i], sizeof known->group[i]) != 0)
            write_group(rtl, i);
    }
    for (uint32_t i = 0; i < model->ports; i++)
        write_port(rtl, i);
    write(rtl, M_FREE, 0);
    write(rtl, M_BAD_ACCESS, 0);
    rtl->writing = false;
    *known = *model;
}

/* Read a location of a memory into the model. */
static void read(struct rtl *rtl, uint32_t memory, uint32_t index)
{
    has(rtl, memory, index, peek(rtl, memory, index));
}

/* Read the events of a port. */
static void read_events(struct rtl *rtl, uint32_t port)
{
    uint64_t cause = peek(rtl, M_CAUSE, port);

    for (uint32_t i = port * GBA_GROUPS; i < port * GBA_GROUPS + rtl->model->groups; i++)
        has(rtl, M_EVENTS, i, cause >> i % GBA_GROUPS & 1 ? peek(rtl, M_EVENTS, i) : 0);
    read(rtl, M_MASK, port);
}

/* Read a group. events: also those of the ports of its members. */
static void read_group(struct rtl *rtl, uint32_t id, bool events)
{
    const struct gba_model_group *group = &rtl->model->group[id];

    read(rtl, M_ROUND, id);
    for (uint32_t word = 0; word * 64 < rtl->model->ports; word++)
        read(rtl, M_NOTIFY, word * GBA_GROUPS + id);
    for (uint32_t word = 0; word * 64 < group->record.members; word++)
        read(rtl, M_MAPPED, word * GBA_GROUPS + id);
    for (uint32_t port = 0; events && port < rtl->model->ports; port++) {
        if (gba_model_concerns(group, port))
            read_events(rtl, port);
    }
}

/* Write what the firmware has changed, and interrupt ports. */
static void write_made(struct rtl *rtl, const struct gba_model_effects *made)
{
    write_changes(rtl);
    for (uint32_t port = 0; made->interrupt && port < GBA_PORTS_MAX; port++) {
        if ((made->interrupts[port / 64] >> port % 64 & 1) == 0)
            continue;
        rtl->top->cu_irq_valid = 1;
        rtl->top->cu_irq_port = port;
        tick(rtl); /* cu_irq_ready: always while the engine is held */
        rtl->top->cu_irq_valid = 0;
    }
}

/* Execute the firmware on the command of a port. */
static void run_command(struct rtl *rtl)
{
    uint32_t port = rtl->top->cu_port, id;
    struct accepted *accepted = &rtl->accepted[port];
    struct gba_model_port *bank = &rtl->model->port[port];
    struct gba_model_effects made;

    for (uint32_t i = 0; i < 4; i++)
        read(rtl, M_MAILBOX, port * 4 + i);
    id = bank->group;
    for (uint32_t i = 0; id == GBA_GROUP_ANY && i < rtl->model->groups; i++)
        id = rtl->model->group[i].record.life == GBA_LIFE_FREE ? i : id;
    if (id < rtl->model->groups)
        read_group(rtl, id, bank->command == GBA_CMD_LEAVE && bank->value == GBA_LEAVE_DIED);
    take_effect(rtl, accepted);
    gba_model_clear(&made);
    /* The access again: the command, which is in the mailbox, executes. Never refused. */
    accepted->access.value = bank->command;
    (void)gba_model_port_store(rtl->model, &accepted->access, GBA_PORT_COMMAND, &made);
    write_made(rtl, &made);
    rtl->top->cu_done = 1;
    tick(rtl);
    rtl->top->cu_done = 0;
}

/* Make the oldest change of a link. */
static void change_link(struct rtl *rtl)
{
    struct link link = rtl->links.front();
    struct gba_model_effects made;

    rtl->links.pop_front();
    gba_model_clear(&made);
    if (link.up) {
        gba_firmware_port_up(rtl->model, link.port, link.quota);
    } else if (rtl->model->port[link.port].up) {
        for (uint32_t id = 0; id < rtl->model->groups; id++) {
            if (rtl->model->group[id].record.life != GBA_LIFE_FREE)
                read_group(rtl, id, true);
        }
        read_events(rtl, link.port);
        gba_firmware_port_down(rtl->model, link.port, &made);
    }
    event(rtl, GBA_DUT_LINK, link.port, 0, link.up);
    write_made(rtl, &made);
}

/* What the control unit does in this cycle. It changes links, and thinks about each fourth
 * command for 40 cycles, in which the engine goes on. Returns whether it has something to do. */
static bool run_unit(struct rtl *rtl)
{
    Vgba_device *top = rtl->top;

    rtl->thinking = top->cu_valid ? rtl->thinking + 1 : 0;
    if (rtl->links.empty() && rtl->thinking < (rtl->commands % 4 == 0 ? 40 : 1))
        return top->cu_valid;
    top->cu_hold = 1;
    settle(rtl);
    if (!top->cu_held || top->rel_valid) /* the store of this cycle comes first */
        return true;
    if (!rtl->links.empty()) {
        change_link(rtl);
    } else {
        run_command(rtl);
        rtl->thinking = 0;
        rtl->commands++;
    }
    top->cu_hold = 0;
    settle(rtl);
    return true;
}

/* Set bits of an input, which is a number or an array by its width: little endian. */
static void set_bits(void *input, uint32_t first, uint32_t count, uint64_t value)
{
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *byte = (uint8_t *)input + (first + i) / 8, bit = (uint8_t)(1u << (first + i) % 8);

        *byte = (uint8_t)((value >> i & 1) != 0 ? *byte | bit : *byte & ~bit);
    }
}

/* Put the access on the lane of its port. */
static void request(Vgba_device *top, const struct gba_model_access *access)
{
    uint32_t lane = access->port % LANES;

    top->req_valid |= 1u << lane;
    set_bits(&top->req_write, lane, 1, access->write);
    set_bits(&top->req_width, 4 * lane, 4, access->width < 15 ? access->width : 15u);
    set_bits(&top->req_port, 10 * lane, 10, pin_port(access->port));
    set_bits(&top->req_address, 32 * lane, 32, access->address);
    set_bits(&top->req_value, 64 * lane, 64, access->value);
}

/* One cycle of the clock, and what the control unit does meanwhile. Returns whether nothing is left
 * to do. */
static bool cycle(struct rtl *rtl)
{
    Vgba_device *top = rtl->top;
    uint32_t waiting;
    bool idle;

    for (uint32_t lane = 0; lane < LANES; lane++) {
        if (!rtl->queue[lane].empty())
            request(top, &rtl->queue[lane][rtl->offered[lane]]);
    }
    settle(rtl);
    idle = !run_unit(rtl) && top->idle;
    waiting = top->req_wait;
    edge(rtl);
    for (; waiting != 0; waiting &= waiting - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(waiting);
        size_t *offered = &rtl->offered[lane];

        *offered = next_of(rtl->queue[lane], rtl->queue[lane][*offered].port);
    }
    rtl->model->bad_access = rtl->known.bad_access = top->bad_access;
    return idle;
}

/* Write what the bench has changed in that group, or with -1 anywhere, and let the design work
 * until it has nothing left to do. */
static void work(struct rtl *rtl, int group, struct gba_model_effects *effects)
{
    const struct gba_model *model = rtl->model, *known = &rtl->known;

    if (group < 0 || memcmp(&model->group[group], &known->group[group], sizeof *known->group) != 0)
        write_changes(rtl);
    rtl->top->cu_hold = 0;
    gba_model_clear(&rtl->effects);
    while (!cycle(rtl))
        ;
    rtl->events.clear();
    *effects = rtl->effects;
}

void gba_model_access(struct gba_model *model, const struct gba_model_access *access,
                      struct gba_model_effects *effects)
{
    all[model]->queue[access->port % LANES].push_back(*access);
    work(all[model], gba_model_group_of(model, access->address), effects);
}

void gba_model_arrive(struct gba_model *model, uint32_t id, uint32_t port, uint64_t value,
                      struct gba_model_effects *effects)
{
    const struct gba_model_access access = {true, 8, (uint16_t)port, GBA_DOORBELL(id), value, 0};

    gba_model_access(model, &access, effects);
}

void gba_model_port_up(struct gba_model *model, uint32_t port, uint32_t quota)
{
    struct gba_model_effects none;

    all[model]->links.push_back({port, 1, quota});
    work(all[model], -1, &none);
}

void gba_model_port_down(struct gba_model *model, uint32_t port, struct gba_model_effects *effects)
{
    all[model]->links.push_back({port, 0, 0});
    work(all[model], -1, effects);
}

/* The reset, for one cycle. */
static void reset(struct rtl *rtl, uint32_t groups, uint32_t ports, const uint64_t uuid[2])
{
    gba_firmware_init(rtl->model, groups, ports, uuid);
    rtl->known = *rtl->model;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        rtl->queue[lane].clear();
        rtl->offered[lane] = 0;
    }
    rtl->links.clear();
    rtl->thinking = 0;
    rtl->top->cu_hold = 0;
    rtl->top->req_valid = 0;
    rtl->top->rst = 1;
    rtl->writing = true; /* with any registers */
    tick(rtl);
    rtl->writing = false;
    rtl->top->rst = 0;
    rtl->events.clear();
}

void gba_model_init(struct gba_model *model, uint32_t groups, uint32_t ports,
                    const uint64_t uuid[2])
{
    const char *multicast = getenv("GBA_RTL_MULTICAST"); /* 1: on */
    struct rtl *rtl = all[model];

    if (rtl == NULL) {
        VerilatedContext *context = new VerilatedContext;

        rtl = new struct rtl();
        /* Any state before the reset. */
        context->randReset(2);
        context->randSeed(1);
        rtl->top = new Vgba_device(context);
        rtl->top->cu_done = rtl->top->cu_we = rtl->top->cu_irq_valid = 0;
        for (uint32_t port = 0; port < GBA_PORTS_MAX; port++)
            set_bits(&rtl->top->rel_ready, port, 1, 1);
        rtl->model = model;
        all[model] = rtl;
    }
    rtl->top->groups = groups;
    rtl->top->ports = ports;
    rtl->top->multicast = multicast != NULL && atoi(multicast) != 0;
    for (int i = 0; i < 4; i++)
        rtl->top->uuid[i] = (uint32_t)(uuid[i / 2] >> 32 * (i % 2));
    reset(rtl, groups, ports, uuid);
    do
        tick(rtl);
    while (!rtl->top->idle);
}

/* The design as the table of gba_dut.h. */
static void *dut_create(uint32_t groups, uint32_t ports, const uint64_t uuid[2])
{
    struct gba_model *model = new struct gba_model;

    gba_model_init(model, groups, ports, uuid);
    return all[model];
}

static void dut_destroy(void *device)
{
    struct rtl *rtl = static_cast<struct rtl *>(device);

    all.erase(rtl->model);
    delete rtl->model;
    delete rtl->top;
    delete rtl;
}

static void dut_reset(void *device)
{
    struct rtl *rtl = static_cast<struct rtl *>(device);
    const uint64_t uuid[2] = {rtl->model->uuid[0], rtl->model->uuid[1]};

    reset(rtl, rtl->model->groups, rtl->model->ports, uuid);
}

static void dut_access(void *device, const struct gba_dut_access *a)
{
    struct rtl *rtl = static_cast<struct rtl *>(device);

    rtl->queue[a->port % LANES].push_back(
        {a->write != 0, (uint8_t)a->width, (uint16_t)a->port, a->address, a->value, a->random});
}

static void dut_link(void *device, uint32_t port, uint32_t up, uint32_t quota)
{
    static_cast<struct rtl *>(device)->links.push_back({port, up, quota});
}

static void dut_ready(void *device, uint32_t port, uint32_t ready)
{
    set_bits(&static_cast<struct rtl *>(device)->top->rel_ready, port, 1, ready != 0);
}

static int dut_advance(void *device, uint32_t cycles)
{
    struct rtl *rtl = static_cast<struct rtl *>(device);
    bool idle = false;

    for (uint32_t i = 0; i < cycles && !idle; i++)
        idle = cycle(rtl);
    return idle;
}

static int dut_event(void *device, struct gba_dut_event *event)
{
    struct rtl *rtl = static_cast<struct rtl *>(device);

    if (rtl->events.empty())
        return 0;
    *event = rtl->events.front();
    rtl->events.pop_front();
    return 1;
}

const struct gba_dut *gba_dut(void)
{
    /* T_LOST is shorter than PATIENCE, because a cycle of advance() may be longer. */
    static const struct gba_dut table = {GBA_DUT_VERSION, {2, 7, 3, 384, 1024},
                                         dut_create,      dut_destroy,
                                         dut_reset,       dut_access,
                                         dut_link,        dut_ready,
                                         dut_advance,     dut_event};

    return &table;
}
