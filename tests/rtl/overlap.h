/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checker of test_overlap.c and test_vectors.c: what a design still owes, and what each of its
 * events must be. It knows no traffic.
 *
 * GBA_DUT=LIBRARY: the design (gba/spec/gba_dut.h); without it the model itself.
 */
#ifndef TESTS_RTL_OVERLAP_H
#define TESTS_RTL_OVERLAP_H

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "gba/spec/gba_dut.h"
#include "sim/model/control.h"
#include "sim/model/event.h"
#include "tests/suite.h"

#define PORTS  12u /* at most */
#define GROUPS 32u
/* Cycles after which an access was forgotten: one that waits for nothing, or for a lost port. */
#define SOON      3000u
#define FORGOTTEN 20000u
/* Arrivals with stores that may come before an access of another port to their group. */
#define OVERTAKEN 40u
/* A queue of 2^n entries. */
#define QUEUE(type, size) \
    struct {              \
        type at[size];    \
        uint32_t out, in; \
    }
#define COUNT(q) ((q)->in - (q)->out)
#define ROOM(q)  (sizeof(q)->at / sizeof(q)->at[0])
#define FRONT(q) (&(q)->at[(q)->out % ROOM(q)])
#define POP(q)   (&(q)->at[(q)->out++ % ROOM(q)])
#define PUSH(q, item) \
    (assert_true(COUNT(q) < ROOM(q)), (void)((q)->at[(q)->in++ % ROOM(q)] = (item)))

struct offered {
    struct gba_model_access access;
    uint64_t stores; /* that were due so far when it was offered */
};

struct answer {
    bool read;
    uint64_t value, optional; /* bits that may be set in addition: events that follow stores */
    uint32_t group;           /* of the event; GROUPS: a bit is a group */
};

struct due {
    struct gba_model_release release;
    uint64_t number; /* of all stores that were ever due */
};

static const uint64_t uuid[2] = {0x0123456789abcdefull, 0xfedcba9876543210ull};
static const struct gba_dut *dut;
static void *device;
static struct gba_model m;
static struct gba_model_effects effects;
static uint64_t numbered;
static unsigned long long seed, cycle, accesses, rounds, stores; /* of a run */
static struct port {
    QUEUE(struct gba_model_access, 1024) script; /* what the host does next */
    QUEUE(struct offered, 256) offered;
    QUEUE(struct answer, 256) answers;
    enum { STAYS, GOES_DOWN, GOES_UP } link;
    bool stalled;
    uint32_t quota;                         /* when the link goes up */
    uint64_t since, free_since, link_since; /* cycles from which an access or a link may wait */
    uint64_t stalled_at, stalled_until, down_at; /* down_at: the link goes down then; 0: not so */
    uint32_t interrupts, expected, possible; /* that came, that must come, that may in addition */
    uint32_t overtaken; /* arrivals with stores that came before the next access to their group */
    uint64_t taken, stored_at, stored; /* accesses; the last store, and its value */
} ports[PORTS];
static QUEUE(struct due, 1024) due[GROUPS][PORTS];
/* 1 + the last store of a completed round after which the event of a NOTIFY may come; 0: none. */
static uint64_t asked[GROUPS][PORTS];
static uint32_t port_count, group_count;
static const char *rule_of_access; /* names each difference; NULL: by its kind */

__attribute__((noreturn, format(printf, 2, 3))) static void broken(const char *rule,
                                                                   const char *format, ...)
{
    char text[300];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fail_msg("rule %s: %s; seed %llu, cycle %llu, access %llu",
             rule_of_access != NULL ? rule_of_access : rule, text, seed, cycle, accesses);
    abort();
}

#define expect(condition, rule) ((condition) ? (void)0 : broken(rule, "not: %s", #condition))

/* A port whose host has taken no store for so long that the device may drop its stores. [PORT-6] */
static bool is_lost(uint32_t port)
{
    uint32_t bound = dut->bounds[GBA_DUT_T_LOST];

    return ports[port].stalled && bound != 0 && cycle - ports[port].stalled_at >= bound;
}

/* Whether stores of the group are due; GROUPS: of any group, which were due by that number. lost:
 * also to ports that are lost. */
static bool has_due(uint32_t group, uint64_t number, bool lost)
{
    for (uint32_t g = group % GROUPS; g < (group == GROUPS ? group_count : group + 1); g++) {
        for (uint32_t p = 0; p < port_count; p++) {
            if (COUNT(&due[g][p]) != 0 && FRONT(&due[g][p])->number <= number &&
                (lost || !is_lost(p)))
                return true;
        }
    }
    return false;
}

static void count_interrupts(void)
{
    for (uint32_t p = 0; effects.interrupt && p < port_count; p++)
        ports[p].expected += effects.interrupts[p / 64] >> p % 64 & 1;
}

/* The event ROUND of a NOTIFY has come. */
static void raise_round(uint32_t group, uint32_t port)
{
    asked[group][port] = 0;
    gba_model_clear(&effects);
    gba_model_raise(&m, group, port, GBA_IRQ_ROUND, &effects);
    count_interrupts();
}

/* A member that a COMMAND has withdrawn gets no store any more. [ORD-3] */
static void drop_withdrawn(void)
{
    for (uint32_t i = 0; i < group_count * port_count; i++) {
        uint32_t group = i / port_count, n = COUNT(&due[group][i % port_count]);

        for (; n != 0; n--) {
            struct due store = *POP(&due[group][i % port_count]);

            if (m.group[group].table[store.release.member] != 0)
                PUSH(&due[group][i % port_count], store);
        }
    }
}

static bool is_arrival(const struct gba_model_access *a)
{
    return a->write && a->width == 8 &&
           ((a->address >= GBA_DOORBELL_BASE && a->address % GBA_DOORBELL_STRIDE == 0) ||
            (a->address < GBA_DEVICE_BASE && a->address % GBA_GROUP_STRIDE == GBA_REG_ARRIVAL));
}

static bool is_command(const struct gba_model_access *a)
{
    return a->write && a->width == 4 && a->address == GBA_PORT_REG(GBA_PORT_COMMAND);
}

/* Whether stores are due for which the access waits, unless it is an arrival that needs not. */
static bool is_blocked(const struct offered *o, bool lost)
{
    int group = gba_model_group_of(&m, o->access.address);

    if (is_command(&o->access))
        return has_due(GROUPS, lost ? numbered : o->stores, lost); /* it may have come later */
    return group >= 0 && has_due((uint32_t)group, numbered, lost);
}

/* Whether the event of a NOTIFY may have come. [NOTE-1] */
static bool may_show(uint32_t group, uint32_t port)
{
    return asked[group][port] != 0 && !has_due(group, asked[group][port] - 1, false);
}

/* The model makes the access, and its stores are due. An event that a NOTIFY requested waits until
 * the design shows it. */
static void make(const struct gba_model_access *access, int group)
{
    static struct gba_model_record before;

    if (group >= 0)
        before = m.group[group].record;
    gba_model_access(&m, access, &effects);
    rounds += effects.completed;
    for (uint32_t p = 0; effects.completed && before.notified != 0 && p < port_count; p++) {
        if ((before.notify[p / 64] >> p % 64 & 1) == 0)
            continue;
        m.group[group].record.events[p] = before.events[p];
        if (asked[group][p] == 0) /* else the event has come, but was not seen */
            asked[group][p] = numbered + effects.releases + 1;
        effects.interrupt = false;
    }
    count_interrupts();
    for (uint32_t i = 0; i < effects.releases; i++)
        PUSH(&due[group][effects.release[i].port], ((struct due){effects.release[i], ++numbered}));
}

/* The events of NOTIFY that a read may show already, because stores were made. [NOTE-1] */
static void find_optional(const struct gba_model_access *a, struct answer *answer)
{
    uint32_t first = a->address - GBA_PORT_REG(GBA_PORT_EVENTS);
    bool cause = a->address == GBA_PORT_REG(GBA_PORT_IRQ_CAUSE);

    answer->group = cause ? GROUPS : first / 4;
    for (uint32_t g = 0; !a->write && g < group_count; g++) {
        if (may_show(g, a->port) && (cause || first == 4 * g))
            answer->optional |= cause ? 1u << g : GBA_IRQ_ROUND;
    }
}

/* An arrival with stores has overtaken what other ports wait for in its group, and a COMMAND that
 * waits for no store any more. [ORD-3] */
static void overtake(int group)
{
    for (uint32_t p = 0; p < port_count; p++) {
        struct port *host = &ports[p];
        const struct offered *o = FRONT(&host->offered);

        if (COUNT(&host->offered) == 0 || m.port[p].up == 0 ||
            (is_command(&o->access) ? is_blocked(o, false)
                                    : gba_model_group_of(&m, o->access.address) != group))
            continue;
        if (++host->overtaken > OVERTAKEN)
            broken("ORD-3", "an access of port %u to %#x does not get its turn", p,
                   o->access.address);
    }
}

static void taken(uint32_t port)
{
    struct port *host = &ports[port];
    const struct offered o = *FRONT(&host->offered);
    int group = gba_model_group_of(&m, o.access.address);
    bool up = m.port[port].up != 0;
    bool early = up && is_blocked(&o, false);
    struct answer answer = {.read = !o.access.write, .group = GROUPS};

    if (COUNT(&host->offered) == 0)
        broken("ORD-1", "an access of port %u takes effect that its host did not make", port);
    (void)POP(&host->offered);
    host->since = host->free_since = cycle;
    host->overtaken = 0;
    accesses++;
    host->taken++;
    if (up)
        find_optional(&o.access, &answer);
    make(&o.access, group);
    if (effects.releases != 0)
        overtake(group);
    if (up && is_command(&o.access))
        drop_withdrawn();
    if (early && !(is_arrival(&o.access) && !effects.completed))
        broken("ORD-3", "an access of port %u to %#x overtakes stores", port, o.access.address);
    answer.value = effects.value;
    PUSH(&host->answers, answer);
}

static void answered(uint32_t port, uint64_t value)
{
    struct port *host = &ports[port];
    const struct answer answer = *FRONT(&host->answers);
    uint64_t shown = value ^ answer.value;

    if (COUNT(&host->answers) == 0)
        broken("ORD-1", "an answer to port %u without an access", port);
    (void)POP(&host->answers);
    if (!answer.read)
        return;
    if ((shown & ~answer.optional) != 0)
        broken("ORD-1", "port %u reads %#llx, not %#llx", port, (unsigned long long)value,
               (unsigned long long)answer.value);
    for (uint32_t g = 0; g < group_count; g++) {
        if (asked[g][port] != 0 && shown != 0 &&
            (answer.group == GROUPS ? shown >> g & 1 : answer.group == g))
            raise_round(g, port);
    }
}

/* A store that its port did not take lets those of other members go before. [REL-2] */
static void stored(const struct gba_dut_event *event)
{
    uint32_t group = (uint32_t)(event->address >> 32) - 1, port = event->port;
    uint64_t made = UINT64_MAX;

    for (uint32_t n = group < group_count ? COUNT(&due[group][port]) : 0; n != 0; n--) {
        struct due next = *POP(&due[group][port]);

        if (made == UINT64_MAX && next.release.address == event->address)
            made = next.release.sequence;
        else
            PUSH(&due[group][port], next);
    }
    if (made != event->value)
        broken("REL-4", "a store of %#llx to %#llx at port %u that is not due",
               (long long)event->value, (long long)event->address, port);
    stores++;
    ports[port].stored_at = cycle;
    ports[port].stored = event->value;
}

/* A link goes up or down as its host did, or down because its host takes no stores. */
static void linked(uint32_t port, bool up)
{
    struct port *host = &ports[port];

    if (!up && m.port[port].up == 0 && host->link != GOES_DOWN)
        return; /* it went down by itself, when its host took it down */
    if (host->link != (up ? GOES_UP : GOES_DOWN) && (up || !is_lost(port)))
        broken("PORT-4", "the link of port %u goes %s by itself", port, up ? "up" : "down");
    host->link = STAYS;
    if (up) {
        gba_model_port_up(&m, port, host->quota);
        return;
    }
    gba_model_port_down(&m, port, &effects);
    count_interrupts();
    for (uint32_t g = 0; g < group_count; g++) {
        due[g][port].out = due[g][port].in;
        host->possible += asked[g][port] != 0;
        asked[g][port] = 0;
    }
}

static void interrupted(uint32_t port)
{
    struct port *host = &ports[port];
    uint32_t more = host->possible;

    for (uint32_t g = 0; g < group_count; g++)
        more += may_show(g, port);
    if (++host->interrupts > host->expected + more)
        broken("IRQ-3", "an interrupt of port %u without a new event", port);
}

static void check_forgotten(void)
{
    for (uint32_t p = 0; p < port_count; p++) {
        struct port *host = &ports[p];

        if (COUNT(&host->offered) == 0 || is_blocked(FRONT(&host->offered), false))
            host->since = cycle;
        if (COUNT(&host->offered) == 0 || is_blocked(FRONT(&host->offered), true))
            host->free_since = cycle;
        if (cycle - host->since > FORGOTTEN || cycle - host->free_since > SOON)
            broken("ORD-2", "an access of port %u to %#x waits for nothing", p,
                   FRONT(&host->offered)->access.address);
        if (host->link != STAYS && cycle - host->link_since > FORGOTTEN)
            broken("PORT-4", "the link of port %u does not go %s", p,
                   host->link == GOES_UP ? "up" : "down");
    }
}

/* One cycle. Returns whether the design has nothing left to do. */
static bool step(void)
{
    struct gba_dut_event event;
    bool idle = dut->advance(device, 1) != 0;

    cycle++;
    while (dut->event(device, &event) != 0) {
        if (event.port >= PORTS)
            broken("PORT-1", "an event of port %u", event.port);
        if (event.kind == GBA_DUT_TAKEN)
            taken(event.port);
        else if (event.kind == GBA_DUT_ANSWERED)
            answered(event.port, event.value);
        else if (event.kind == GBA_DUT_STORE)
            stored(&event);
        else if (event.kind == GBA_DUT_INTERRUPT)
            interrupted(event.port);
        else
            linked(event.port, event.value != 0);
    }
    if (cycle % 64 == 0)
        check_forgotten();
    return idle;
}

/* Let the design work until that is so. */
#define UNTIL(condition, rule)                                 \
    for (uint64_t begin = cycle; !(condition); (void)step()) { \
        if (cycle - begin > 2 * FORGOTTEN)                     \
            broken(rule, "never: %s", #condition);             \
    }

static void offer(uint32_t port, struct gba_model_access access)
{
    struct port *host = &ports[port];
    const struct gba_dut_access a = {port,           access.write, access.width,
                                     access.address, access.value, access.random};

    access.port = (uint16_t)port;
    PUSH(&host->offered, ((struct offered){access, numbered}));
    dut->access(device, &a);
}

static void look(uint32_t port, uint32_t address, uint8_t width)
{
    offer(port, (struct gba_model_access){.width = width, .address = address});
}

static void set_link(uint32_t port, bool up)
{
    ports[port].link = up ? GOES_UP : GOES_DOWN;
    ports[port].link_since = cycle;
    dut->link(device, port, up, ports[port].quota);
}

static void set_ready(uint32_t port, bool ready)
{
    if (ports[port].stalled == !ready)
        return;
    ports[port].stalled = !ready;
    ports[port].stalled_at = cycle;
    dut->ready(device, port, ready);
}

/* Wait until the design has nothing left to do. A host that never took stores again goes down, the
 * others take them. */
static void rest(void)
{
    for (uint32_t p = 0; p < port_count; p++) {
        if (ports[p].stalled && ports[p].stalled_until == UINT64_MAX && ports[p].link == STAYS)
            set_link(p, false);
        UNTIL(ports[p].link == STAYS, "PORT-4");
        set_ready(p, true);
    }
    UNTIL(step(), "REL-2");
    for (uint32_t p = 0; p < PORTS; p++) {
        struct port *host = &ports[p];

        if (COUNT(&host->offered) != 0 || COUNT(&host->answers) != 0 || host->link != STAYS)
            broken("ORD-1", "an access or link of port %u is forgotten", p);
        for (uint32_t g = 0; g < group_count; g++) {
            if (COUNT(&due[g][p]) != 0)
                broken("REL-2", "%u stores of group %u to port %u were never made",
                       COUNT(&due[g][p]), g, p);
            if (asked[g][p] != 0)
                raise_round(g, p);
        }
        if (host->interrupts < host->expected || host->interrupts > host->expected + host->possible)
            broken("IRQ-3", "%u interrupts of port %u, not %u", host->interrupts, p,
                   host->expected);
        host->interrupts = host->expected = host->possible = 0;
    }
}

/* A device that is as after power-on, when all ports are down. up: they go up then. */
static void begin(bool up)
{
    memset(ports, 0, sizeof ports);
    memset(due, 0, sizeof due);
    memset(asked, 0, sizeof asked);
    gba_model_init(&m, group_count, port_count, uuid);
    for (uint32_t p = 0; p < PORTS; p++) {
        ports[p].since = ports[p].free_since = cycle;
        if (up && p < port_count)
            set_link(p, true);
    }
}

static void power_on(uint32_t groups, uint32_t count, bool up)
{
    group_count = groups;
    port_count = count;
    if (device != NULL)
        dut->destroy(device);
    device = dut->create(groups, count, uuid);
    assert_non_null(device);
    begin(up);
}

/* The table of the design. Ends the program with a line if there is none of this version. */
static const struct gba_dut *design(void)
{
    const char *path = getenv("GBA_DUT");
    void *library = path == NULL ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct gba_dut *(*table)(void) = gba_dut;

    if (path != NULL && library == NULL) {
        fprintf(stderr, "GBA_DUT must name the library of a design: %s\n", dlerror());
        exit(2);
    }
    if (library != NULL)
        *(void **)&table = dlsym(library, "gba_dut");
    if (table == NULL || table()->version != GBA_DUT_VERSION) {
        fprintf(stderr, "%s: no gba_dut() of version %u\n", path, GBA_DUT_VERSION);
        exit(2);
    }
    return table();
}

#endif
