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

/* sim/model with the names of firmware.h. */
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
    uint32_t groups_free;
    uint64_t quotas[GBA_PORTS_MAX];
    uint32_t thinking, commands; /* cycles of the control unit for this command; commands so far */
    bool writing; /* the bench writes the memories: the model has the values already */
};

static std::map<const struct gba_model *, struct rtl *> all;
static struct rtl *now;

static void event(struct rtl *rtl, uint32_t kind, uint32_t port, uint64_t address, uint64_t value)
{
    rtl->events.push_back({kind, port, address, value});
}

static void interrupt(struct rtl *rtl, uint32_t port)
{
    event(rtl, GBA_DUT_INTERRUPT, port, 0, 0);
    gba_model_interrupt(port, &rtl->effects);
}

static void store(struct rtl *rtl, const struct gba_model_release *release)
{
    event(rtl, GBA_DUT_STORE, release->port, release->address, release->sequence);
    if (rtl->effects.releases < GBA_MEMBERS_MAX)
        rtl->effects.release[rtl->effects.releases++] = *release;
}

static void take_release(struct rtl *rtl)
{
    const Vgba_device *top = rtl->top;
    const struct gba_model_group *group = &rtl->model->group[top->rel_group];
    struct gba_model_release release = {top->rel_address, top->rel_member, top->rel_sequence,
                                        top->rel_port};

    if (!top->rel_multicast) {
        store(rtl, &release);
        return;
    }
    /* What the egress of the ports does: each looks up the addresses of its members. */
    for (uint64_t bits = top->rel_set; bits != 0; bits &= bits - 1) {
        uint32_t member = top->rel_member + (uint32_t)__builtin_ctzll(bits);

        release.member = member;
        release.address = group->table[member];
        release.port = group->bound[member] == 0 ? 0 : group->bound[member] - 1u;
        store(rtl, &release);
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
    if (top->irq_valid)
        interrupt(rtl, top->irq_port);
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

static void follow_round(struct gba_model_group *group, uint64_t value)
{
    group->core.sequence = (uint32_t)value;
    group->core.arrived_count = value >> 32 & 0x3FF;
    group->core.status =
        (value >> 42 & 1) * GBA_STATUS_COMPLETE | (value >> 43 & 1) * GBA_STATUS_ERROR;
    group->core.last_error = value >> 44 & 7;
    for (uint32_t word = 0; word < GBA_MASK_WORDS; word++) {
        if ((value >> 48 >> word & 1) == 0)
            group->core.arrived_mask[word] = 0;
    }
}

/* Eight bytes of the mailbox, as the host finds them from GBA_PORT_GROUP on. */
static char *mailbox(struct gba_model_port *bank, uint32_t which)
{
    static const size_t at[] = {
        offsetof(struct gba_model_port, group), offsetof(struct gba_model_port, key),
        offsetof(struct gba_model_port, member), offsetof(struct gba_model_port, command)};

    return reinterpret_cast<char *>(bank) + at[which];
}

/* A memory that the engine writes. */
static void follow(struct gba_model *model, uint32_t memory, uint32_t index, uint64_t value)
{
    struct gba_model_group *group = &model->group[index % GBA_GROUPS];
    uint32_t word = index / GBA_GROUPS;

    switch (memory) {
    case M_ROUND:
        follow_round(group, value);
        break;
    case M_ARRIVED:
        group->core.arrived_mask[word] = value;
        break;
    case M_MAPPED:
        for (uint32_t i = word * 64; i < GBA_MEMBERS_MAX && i < word * 64 + 64; i++) {
            if ((value >> i % 64 & 1) == 0)
                group->table[i] = 0;
        }
        break;
    case M_TABLE:
        group->table[word] = value << 3;
        break;
    case M_NOTIFY:
        group->record.notified += (uint32_t)__builtin_popcountll(value);
        group->record.notified -= (uint32_t)__builtin_popcountll(group->record.notify[word]);
        group->record.notify[word] = value;
        break;
    case M_EVENTS:
        group->record.events[word] = (uint8_t)value;
        break;
    case M_MASK:
        model->port[index].irq_mask = (uint32_t)value;
        break;
    case M_MAILBOX:
        memcpy(mailbox(&model->port[index / 4], index % 4), &value, 8);
        break;
    default:
        if (memory >= M_COUNTER && memory < M_QUEUE)
            group->core.counters[memory - M_COUNTER] = value;
    }
}

void gba_rtl_wrote(int memory, int index, long long value)
{
    if (now->writing)
        return;
    follow(now->model, (uint32_t)memory, (uint32_t)index, (uint64_t)value);
    follow(&now->known, (uint32_t)memory, (uint32_t)index, (uint64_t)value);
}

/* Have the memories, until write_changes ends. */
static void hold(struct rtl *rtl)
{
    if (rtl->top->cu_hold)
        return;
    rtl->top->cu_hold = 1;
    for (settle(rtl); !rtl->top->cu_held; settle(rtl))
        edge(rtl);
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

/* Write a memory of the design. */
static void poke(struct rtl *rtl, uint32_t memory, uint32_t index, uint64_t value)
{
    Vgba_device *top = rtl->top;

    hold(rtl);
    top->cu_we = 1;
    top->cu_sel = memory;
    top->cu_index = index;
    top->cu_data = value;
    tick(rtl);
    top->cu_we = 0;
}

static void poke_changed(struct rtl *rtl, uint32_t memory, uint32_t index, uint64_t value,
                         uint64_t known)
{
    if (value != known)
        poke(rtl, memory, index, value);
}

static uint64_t config_of(const struct gba_model_group *group)
{
    uint32_t control = group->core.control;

    return group->core.member_count | (control & 1) << 10 | (control >> 2 & 3) << 11;
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

/* The words of masks that follow from arrays: members with an address, with a port; ports that the
 * group concerns. */
struct derived {
    uint64_t mapped[GBA_MASK_WORDS], joined[GBA_MASK_WORDS], concerns[GBA_MODEL_PORT_WORDS];
};

static void set_bit(uint64_t *mask, uint32_t bit)
{
    mask[bit / 64] |= 1ull << bit % 64;
}

static struct derived derived_of(const struct gba_model_group *group)
{
    const struct gba_model_record *record = &group->record;
    struct derived derived = {};

    if (record->holder != 0 && record->joined == 0)
        set_bit(derived.concerns, record->holder - 1);
    for (uint32_t member = 0; member < GBA_MEMBERS_MAX; member++) {
        if (group->table[member] != 0)
            set_bit(derived.mapped, member);
        if (group->bound[member] == 0)
            continue;
        set_bit(derived.joined, member);
        if (member < record->members)
            set_bit(derived.concerns, group->bound[member] - 1u);
    }
    return derived;
}

static uint32_t cause_of(const struct gba_model *model, uint32_t port)
{
    uint32_t cause = 0;

    for (uint32_t group = 0; group < model->groups; group++)
        cause |= (uint32_t)(model->group[group].record.events[port] != 0) << group;
    return cause;
}

static void write_group(struct rtl *rtl, uint32_t id)
{
    const struct gba_model_group *group = &rtl->model->group[id], *known = &rtl->known.group[id];
    struct derived is = derived_of(group), was = derived_of(known);

    poke_changed(rtl, M_CONFIG, id, config_of(group), config_of(known));
    poke_changed(rtl, M_ROUND, id, round_of(group), round_of(known));
    poke_changed(rtl, M_GENERATION, id, group->record.generation, known->record.generation);
    for (uint32_t i = 0; i < GBA_COUNTERS; i++)
        poke_changed(rtl, M_COUNTER + i, id, group->core.counters[i], known->core.counters[i]);
    for (uint32_t i = 0; i < GBA_MASK_WORDS; i++) {
        uint32_t word = i * GBA_GROUPS + id;

        poke_changed(rtl, M_MEMBERS, word, group->core.member_mask[i], known->core.member_mask[i]);
        poke_changed(rtl, M_ARRIVED, word, group->core.arrived_mask[i],
                     known->core.arrived_mask[i]);
        poke_changed(rtl, M_MAPPED, word, is.mapped[i], was.mapped[i]);
        poke_changed(rtl, M_JOINED, word, is.joined[i], was.joined[i]);
        poke_changed(rtl, M_CONCERNS, word, is.concerns[i], was.concerns[i]);
        poke_changed(rtl, M_NOTIFY, word, group->record.notify[i], known->record.notify[i]);
    }
    for (uint32_t i = 0; i < GBA_MEMBERS_MAX; i++) {
        poke_changed(rtl, M_TABLE, i * GBA_GROUPS + id, group->table[i] >> 3, known->table[i] >> 3);
        if (group->bound[i] != 0 && group->bound[i] != known->bound[i])
            poke(rtl, M_BOUND, i * GBA_GROUPS + id, group->bound[i] - 1u);
    }
    for (uint32_t port = 0; port < rtl->model->ports; port++) {
        if (group->record.events[port] == known->record.events[port])
            continue;
        poke(rtl, M_EVENTS, port * GBA_GROUPS + id, group->record.events[port]);
        poke(rtl, M_CAUSE, port, cause_of(rtl->model, port));
    }
}

static void write_port(struct rtl *rtl, uint32_t port)
{
    struct gba_model_port *bank = &rtl->model->port[port], *known = &rtl->known.port[port];
    bool changed = bank->up != known->up; /* the memories of a bank have no value before */

    for (uint32_t i = 0; i < 4; i++) {
        uint64_t value, was;

        memcpy(&value, mailbox(bank, i), 8);
        memcpy(&was, mailbox(known, i), 8);
        if (changed || value != was)
            poke(rtl, M_MAILBOX, port * 4 + i, value);
    }
    if (changed || bank->irq_mask != known->irq_mask)
        poke(rtl, M_MASK, port, bank->irq_mask);
    if (!changed)
        return;
    poke(rtl, M_CAUSE, port, cause_of(rtl->model, port));
    /* An access of the port waits no more, and those of the others begin to wait again. */
    for (uint32_t group = 0; bank->up == 0 && group < rtl->model->groups; group++)
        poke(rtl, M_QUEUE, group, 0);
    poke(rtl, M_UP, port, bank->up);
}

/* Write what the unit keeps about ports and the device. */
static void write_device(struct rtl *rtl)
{
    const struct gba_model *model = rtl->model;
    uint32_t groups_free = gba_control_groups_free(model);
    uint64_t held[GBA_PORTS_MAX + 1] = {};

    for (uint32_t group = 0; group < model->groups; group++)
        held[model->group[group].record.holder]++;
    for (uint32_t i = 0; i < model->ports; i++) {
        uint64_t quota = model->port[i].quota | held[i + 1] << 32;

        if (model->port[i].up)
            poke_changed(rtl, M_QUOTA, i, quota, rtl->quotas[i]);
        rtl->quotas[i] = model->port[i].up ? quota : ~0ull;
    }
    poke_changed(rtl, M_FREE, 0, groups_free, rtl->groups_free);
    rtl->groups_free = groups_free;
}

/* Write to the design what has changed in the model: in a group, or with -1 in the whole device. */
static void write_changes(struct rtl *rtl, int only)
{
    struct gba_model *model = rtl->model, *known = &rtl->known;

    rtl->writing = true;
    for (uint32_t i = 0; i < model->groups; i++) {
        if ((only >= 0 && i != (uint32_t)only) ||
            memcmp(&model->group[i], &known->group[i], sizeof(known->group[i])) == 0)
            continue;
        write_group(rtl, i);
        known->group[i] = model->group[i];
    }
    for (uint32_t i = 0; only < 0 && i < model->ports; i++) {
        if (memcmp(&model->port[i], &known->port[i], sizeof(known->port[i])) == 0)
            continue;
        write_port(rtl, i);
        known->port[i] = model->port[i];
    }
    if (only < 0) {
        write_device(rtl);
        poke_changed(rtl, M_BAD_ACCESS, 0, model->bad_access, known->bad_access);
    }
    rtl->writing = false;
}

/* Write what the bench has changed in its state. */
static void write_bench(struct rtl *rtl, int only)
{
    write_changes(rtl, only);
    rtl->known.bad_access = rtl->model->bad_access;
    rtl->top->cu_hold = 0;
}

/* Read the events of a port. */
static void read_events(struct rtl *rtl, uint32_t port)
{
    uint64_t cause = peek(rtl, M_CAUSE, port);

    for (uint32_t i = 0; i < rtl->model->groups; i++)
        rtl->model->group[i].record.events[port] =
            cause >> i & 1 ? (uint8_t)peek(rtl, M_EVENTS, port * GBA_GROUPS + i) : 0;
    rtl->model->port[port].irq_mask = (uint32_t)peek(rtl, M_MASK, port);
}

/* Read a group. events: also those of the ports of its members. */
static void read_group(struct rtl *rtl, uint32_t id, bool events)
{
    struct gba_model_group *group = &rtl->model->group[id];
    struct gba_model_record *record = &group->record;
    uint64_t round = peek(rtl, M_ROUND, id), mapped = 0, done[GBA_MODEL_PORT_WORDS + 1] = {};

    record->notified = 0;
    for (uint32_t i = 0; i < (rtl->model->ports + 63) / 64; i++) {
        record->notify[i] = peek(rtl, M_NOTIFY, i * GBA_GROUPS + id);
        record->notified += (uint32_t)__builtin_popcountll(record->notify[i]);
    }
    for (uint32_t member = 0; member < record->members; member++) {
        uint32_t port = group->bound[member]; /* + 1 */

        if (member % 64 == 0)
            mapped = peek(rtl, M_MAPPED, member / 64 * GBA_GROUPS + id);
        if ((mapped >> member % 64 & 1) == 0)
            group->table[member] = 0;
        else if (group->table[member] == 0)
            group->table[member] = 8; /* some address */
        if (events && port != 0 && (done[port / 64] >> port % 64 & 1) == 0)
            read_events(rtl, port - 1);
        set_bit(done, port);
    }
    for (uint32_t word = 0; word < GBA_MASK_WORDS; word++)
        group->core.arrived_mask[word] |= group->core.arrived_mask[word] == 0; /* of live words */
    follow_round(group, round);
}

/* Write what the firmware has changed, and interrupt ports. */
static void write_made(struct rtl *rtl, const struct gba_model_effects *made)
{
    write_changes(rtl, -1);
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

    for (uint32_t i = 0; i < 4; i++) {
        uint64_t value = peek(rtl, M_MAILBOX, port * 4 + i);

        memcpy(mailbox(bank, i), &value, 8);
    }
    id = bank->group;
    for (uint32_t i = 0; id == GBA_GROUP_ANY && i < rtl->model->groups; i++)
        id = rtl->model->group[i].record.life == GBA_LIFE_FREE ? i : id;
    if (id < rtl->model->groups)
        read_group(rtl, id, bank->command == GBA_CMD_LEAVE && bank->value == GBA_LEAVE_DIED);
    rtl->known = *rtl->model;
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
    for (uint32_t id = 0; !link.up && rtl->model->port[link.port].up && id < rtl->model->groups;
         id++) {
        if (rtl->model->group[id].record.life != GBA_LIFE_FREE)
            read_group(rtl, id, true);
    }
    if (!link.up && rtl->model->port[link.port].up)
        read_events(rtl, link.port);
    rtl->known = *rtl->model;
    gba_model_clear(&made);
    if (link.up)
        gba_firmware_port_up(rtl->model, link.port, link.quota);
    else
        gba_firmware_port_down(rtl->model, link.port, &made);
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
    return idle;
}

/* Let the design work until it has nothing left to do. */
static void work(struct rtl *rtl, struct gba_model_effects *effects)
{
    gba_model_clear(&rtl->effects);
    while (!cycle(rtl))
        ;
    rtl->model->bad_access = rtl->known.bad_access = rtl->top->bad_access;
    rtl->events.clear();
    *effects = rtl->effects;
}

void gba_model_access(struct gba_model *model, const struct gba_model_access *access,
                      struct gba_model_effects *effects)
{
    struct rtl *rtl = all[model];

    write_bench(rtl, gba_model_group_of(model, access->address));
    rtl->queue[access->port % LANES].push_back(*access);
    work(rtl, effects);
}

void gba_model_arrive(struct gba_model *model, uint32_t id, uint32_t port, uint64_t value,
                      struct gba_model_effects *effects)
{
    const struct gba_model_access access = {true, 8, (uint16_t)port, GBA_DOORBELL(id), value, 0};

    gba_model_access(model, &access, effects);
}

static void set_link(struct gba_model *model, struct link link, struct gba_model_effects *effects)
{
    struct rtl *rtl = all[model];

    write_bench(rtl, -1);
    rtl->links.push_back(link);
    work(rtl, effects);
}

void gba_model_port_up(struct gba_model *model, uint32_t port, uint32_t quota)
{
    struct gba_model_effects none;

    set_link(model, {port, 1, quota}, &none);
}

void gba_model_port_down(struct gba_model *model, uint32_t port, struct gba_model_effects *effects)
{
    set_link(model, {port, 0, 0}, effects);
}

/* The reset, for one cycle. */
static void reset(struct rtl *rtl)
{
    const uint64_t uuid[2] = {rtl->model->uuid[0], rtl->model->uuid[1]};

    gba_firmware_init(rtl->model, rtl->model->groups, rtl->model->ports, uuid);
    rtl->known = *rtl->model;
    rtl->groups_free = rtl->model->groups;
    memset(rtl->quotas, 0xFF, sizeof rtl->quotas);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        rtl->queue[lane].clear();
        rtl->offered[lane] = 0;
    }
    rtl->links.clear();
    rtl->thinking = 0;
    rtl->top->cu_hold = 0;
    rtl->top->req_valid = 0;
    rtl->top->rst = 1;
    rtl->writing = true;
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
    gba_firmware_init(model, groups, ports, uuid);
    rtl->top->groups = groups;
    rtl->top->ports = ports;
    rtl->top->multicast = multicast != NULL && atoi(multicast) != 0;
    for (int i = 0; i < 4; i++)
        rtl->top->uuid[i] = (uint32_t)(uuid[i / 2] >> 32 * (i % 2));
    reset(rtl);
    rtl->writing = true;
    do
        tick(rtl);
    while (!rtl->top->idle);
    rtl->writing = false;
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
    reset(static_cast<struct rtl *>(device));
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
    rtl->model->bad_access = rtl->known.bad_access = rtl->top->bad_access;
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
