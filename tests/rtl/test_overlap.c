/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A design under test that does many things at once, beside the model: accesses of several ports to
 * several groups, commands, links that go up and down, resets, hosts that take no release stores
 * for some time or for ever. The model makes each access when the design says that it takes effect.
 * From then on the stores are due, and the answer, the interrupts and the events are known.
 *
 *   GBA_DUT=LIBRARY test_overlap    without GBA_DUT: the model itself
 *
 * GBA_SEEDS="FIRST COUNT CYCLES": the random runs. A failure names the rule, the seed and the
 * cycle.
 */
#include <dlfcn.h>
#include <stdarg.h>

#include "gba/spec/gba_dut.h"
#include "sim/model/control.h"
#include "sim/model/event.h"
#include "tests/suite.h"

#define PORTS  12u /* at most */
#define GROUPS 32u
/* Cycles after which an access was forgotten: one that waits for nothing, or for a lost port. */
#define SOON      3000u
#define FORGOTTEN 20000u
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
static uint64_t random_state, numbered;
static unsigned long long seed, cycle, accesses, rounds, stores; /* of a run */
static struct port {
    QUEUE(struct gba_model_access, 1024) script; /* what the host does next */
    QUEUE(struct offered, 256) offered;
    QUEUE(struct answer, 256) answers;
    enum { STAYS, GOES_DOWN, GOES_UP } link;
    bool stalled;
    uint64_t since, free_since, link_since; /* cycles from which an access or a link may wait */
    uint64_t stalled_at, stalled_until, down_at; /* down_at: the link goes down then; 0: not so */
    uint32_t interrupts, expected, possible; /* that came, that must come, that may in addition */
    uint64_t taken, stored_at, stored;       /* accesses; the last store, and its value */
} ports[PORTS];
static QUEUE(struct due, 1024) due[GROUPS][PORTS];
/* 1 + the last store of a completed round after which the event of a NOTIFY may come; 0: none. */
static uint64_t asked[GROUPS][PORTS];
static uint32_t port_count, group_count;

__attribute__((noreturn, format(printf, 2, 3))) static void broken(const char *rule,
                                                                   const char *format, ...)
{
    char text[300];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fail_msg("rule %s: %s; seed %llu, cycle %llu, access %llu", rule, text, seed, cycle, accesses);
    abort();
}

#define expect(condition, rule) ((condition) ? (void)0 : broken(rule, "not: %s", #condition))

static uint32_t below(uint32_t count)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(random_state >> 33) % count;
}

static uint64_t bits64(void)
{
    return (uint64_t)below(1u << 31) << 40 ^ (uint64_t)below(1u << 31) << 20 ^ below(1u << 31);
}

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
    accesses++;
    host->taken++;
    if (up)
        find_optional(&o.access, &answer);
    make(&o.access, group);
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
        gba_model_port_up(&m, port, 0);
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
        if (event.port >= port_count)
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

static void set_link(uint32_t port, bool up)
{
    ports[port].link = up ? GOES_UP : GOES_DOWN;
    ports[port].link_since = cycle;
    dut->link(device, port, up, 0);
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
    for (uint32_t p = 0; p < port_count; p++) {
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

/* All ports of a device that is as after power-on go up. */
static void begin(void)
{
    memset(ports, 0, sizeof ports);
    memset(due, 0, sizeof due);
    memset(asked, 0, sizeof asked);
    gba_model_init(&m, group_count, port_count, uuid);
    for (uint32_t p = 0; p < port_count; p++) {
        ports[p].since = ports[p].free_since = cycle;
        set_link(p, true);
    }
}

static void power_on(uint32_t groups, uint32_t count)
{
    group_count = groups;
    port_count = count;
    if (device != NULL)
        dut->destroy(device);
    device = dut->create(groups, count, uuid);
    assert_non_null(device);
    begin();
}

static void reset(void)
{
    for (uint32_t p = 0; p < port_count; p++)
        set_ready(p, true);
    dut->reset(device);
    begin();
}

/* What a host does next. */
static void plan(uint32_t port, bool write, uint8_t width, uint32_t address, uint64_t value)
{
    const struct gba_model_access access = {write, width, 0, address, value, bits64()};

    PUSH(&ports[port].script, access);
}

static void plan_command(uint32_t port, uint32_t command, uint32_t group, uint32_t generation,
                         uint64_t key, uint32_t member, uint32_t value)
{
    plan(port, true, 4, GBA_PORT_REG(GBA_PORT_GROUP), group);
    plan(port, true, 4, GBA_PORT_REG(GBA_PORT_GENERATION), generation);
    plan(port, true, 8, GBA_PORT_REG(GBA_PORT_KEY), key);
    plan(port, true, 4, GBA_PORT_REG(GBA_PORT_MEMBER), member);
    plan(port, true, 4, GBA_PORT_REG(GBA_PORT_VALUE), value);
    plan(port, true, 4, GBA_PORT_REG(GBA_PORT_COMMAND), command);
    plan(port, false, 4, GBA_PORT_REG(GBA_PORT_RESULT), 0);
}

static void plan_flag(uint32_t port, uint32_t group, uint32_t member)
{
    uint64_t life = m.group[group].record.generation % 0x1000;

    plan(port, true, 8, GBA_TABLE_ENTRY(group, member),
         (uint64_t)(group + 1) << 32 | life << 20 | (member * 8 + 8));
}

/* All that was planned takes effect. */
static void play(void)
{
    for (uint32_t p = 0; p < port_count; p++) {
        while (COUNT(&ports[p].script) != 0) {
            offer(p, *POP(&ports[p].script));
            UNTIL(COUNT(&ports[p].offered) == 0, "ORD-2");
        }
    }
}

/* An armed group whose member m is that of port m % count + first. */
static void start(uint32_t group, uint32_t members, uint32_t first, uint32_t count)
{
    const struct gba_model_record *record = &m.group[group].record;

    plan_command(first, GBA_CMD_ALLOC, group, 0, 0, 0, members);
    play();
    for (uint32_t i = 0; i < members; i++) {
        plan_command(first + i % count, GBA_CMD_JOIN, group, record->generation, record->key, i, 0);
        plan_flag(first + i % count, group, i);
        play();
    }
    plan_command(first, GBA_CMD_ARM, group, record->generation, 0, 0, 0);
    play();
    assert_int_equal(record->life, GBA_LIFE_ARMED);
}

static void arrive(uint32_t port, uint32_t group, uint32_t member, uint32_t sequence)
{
    const uint64_t value = GBA_ARRIVAL(sequence, member);

    offer(port, (struct gba_model_access){true, 8, 0, GBA_DOORBELL(group), value, 0});
}

static void read_arrival(uint32_t port)
{
    offer(port, (struct gba_model_access){false, 8, 0, GBA_GROUP_REG(0, GBA_REG_ARRIVAL), 0, 0});
}

static void steps(uint32_t count)
{
    while (count-- != 0)
        (void)step();
}

TEST(test_ORD_1_two_last_arrivals_at_once)
{
    power_on(1, 4);
    start(0, 2, 0, 2);
    for (uint32_t round = 1; round < 20; round++) {
        arrive(round % 2, 0, round % 2, round);
        arrive(1 - round % 2, 0, 1 - round % 2, round);
        rest();
        expect(ports[0].stored == round && ports[1].stored == round, "ORD-1");
    }
}

TEST(test_ORD_2_ports_in_turn)
{
    uint64_t before[4];

    power_on(1, 4);
    start(0, 4, 0, 4);
    for (uint32_t i = 0; i < 40; i++)
        read_arrival(i % 4);
    for (uint32_t i = 0; i < 8 && dut->bounds[0] != 0; i++) {
        for (uint32_t p = 0; p < 4; p++)
            before[p] = ports[p].taken;
        UNTIL(ports[3 - i % 4].taken != before[3 - i % 4], "ORD-2");
        for (uint32_t p = 0; p < 4; p++)
            expect(ports[p].taken - before[p] <= 1 + (i == 0), "ORD-2");
    }
    rest();
}

/* An arrival for the next round does not wait for the stores of the last one. */
TEST(test_ORD_3_the_next_round_does_not_wait)
{
    power_on(1, 4);
    start(0, 64, 0, 4);
    for (uint32_t i = 0; i < 64; i++)
        arrive(i % 4, 0, i, 1);
    UNTIL(ports[0].stored == 1, "REL-2");
    set_ready(3, false);
    arrive(0, 0, 0, 2);
    read_arrival(1);
    UNTIL(COUNT(&ports[0].offered) == 0, "ORD-3");
    rest();
}

/* Groups complete rounds while a port takes no store for some time. */
TEST(test_REL_2_rounds_meet_at_a_port_that_takes_nothing)
{
    power_on(3, 4);
    for (uint32_t g = 0; g < 3; g++)
        start(g, 2, 0, 2);
    for (uint32_t stall = 1; stall < 40; stall++) {
        for (uint32_t g = 0; g < 3; g++)
            arrive(1, g, 1, stall);
        rest();
        set_ready(0, false);
        for (uint32_t g = 0; g < 3; g++)
            arrive(0, g, 0, stall);
        steps(stall);
        rest();
    }
}

/* Each late arrival at several groups is released again, while a port takes no store. */
TEST(test_ARR_5_late_arrivals_at_a_port_that_takes_nothing)
{
    power_on(4, 4);
    for (uint32_t g = 0; g < 4; g++)
        start(g, 1, g, 1);
    for (uint32_t stall = 1; stall < 40; stall++) {
        for (uint32_t g = 0; g < 4; g++) {
            set_ready(g, g != stall % 4);
            arrive(g, g, 0, 0);
        }
        steps(stall);
        rest();
    }
}

/* A host takes no store any more: the others go on, and its link can go down. */
TEST(test_PORT_6_a_port_that_takes_nothing)
{
    power_on(3, 4);
    start(0, 1, 0, 1);
    start(1, 2, 1, 2);
    start(2, 2, 0, 2);
    set_ready(0, false);
    arrive(0, 0, 0, 1);
    arrive(0, 2, 0, 1);
    arrive(1, 2, 1, 1);
    for (uint32_t round = 1; round < 4; round++) {
        arrive(1, 1, 0, round);
        arrive(2, 1, 1, round);
        UNTIL(ports[2].stored == round && COUNT(&due[1][1]) == 0, "PORT-6");
    }
    set_link(0, false);
    UNTIL(m.port[0].up == 0, "PORT-4");
    rest();
}

/* Two groups of 32 complete rounds at each moment; a COMMAND waits only for what was due before. */
TEST(test_ORD_3_no_command_starves)
{
    static uint64_t next[32][2]; /* the cycle in which the member arrives again */

    power_on(32, 8);
    for (uint32_t g = 0; g < 32; g++)
        start(g, 2, 1 + g % 6, 2);
    for (uint64_t begin = cycle; cycle == begin || COUNT(&ports[0].offered) != 0; (void)step()) {
        for (uint32_t i = 0; i < 64; i++) {
            uint32_t g = i / 2, n = i % 2, port = 1 + g % 6 + n;

            if (COUNT(&due[g][port]) != 0)
                next[g][n] = cycle + 500;
            else if (cycle == begin || cycle == next[g][n])
                arrive(port, g, n, m.group[g].core.sequence + 1);
        }
        if (cycle == begin)
            plan_command(0, GBA_CMD_MEMBER, 0, 0, 0, 0, 0);
        if (COUNT(&ports[0].script) != 0 && cycle > begin + 1000)
            offer(0, *POP(&ports[0].script));
    }
    rest();
}

/* A COMMAND waits for what was due when it came, also behind an access of another port that waits:
 * ports 0 and 4 may share a lane of the design. */
TEST(test_ORD_3_a_command_behind_an_access_that_waits)
{
    uint64_t from;

    power_on(2, 8);
    start(0, 1, 1, 1);
    start(1, 1, 2, 1);
    set_ready(1, false);
    arrive(1, 0, 0, 1);
    steps(30);
    read_arrival(0);
    steps(30);
    plan(4, true, 4, GBA_PORT_REG(GBA_PORT_COMMAND), GBA_CMD_MEMBER);
    offer(4, *POP(&ports[4].script));
    steps(30);
    set_ready(2, false);
    arrive(2, 1, 0, 1);
    steps(30);
    set_ready(1, true);
    from = cycle;
    UNTIL(COUNT(&ports[4].offered) == 0, "ORD-3");
    expect(cycle - from < 900, "ORD-3");
    rest();
}

TEST(test_TIME_1_bounds)
{
    static const uint32_t members[] = {2, 8, 64, 128, 708}, *bound;

    bound = dut->bounds;
    for (uint32_t i = 0; i < 5 && bound[0] != 0; i++) {
        uint64_t from = 0, first;

        power_on(1, 4);
        start(0, members[i], 0, 4);
        for (uint32_t n = 0; n < members[i]; n++) {
            from = cycle;
            arrive(n % 4, 0, n, 1);
            UNTIL(COUNT(&ports[n % 4].answers) + COUNT(&ports[n % 4].offered) == 0, "ORD-2");
        }
        UNTIL(ports[0].stored == 1, "REL-2");
        first = cycle;
        rest();
        expect(first - from - 1 <= bound[GBA_DUT_T_MATCH], "TIME-1");
        for (uint32_t p = 0; p < 4; p++)
            expect(ports[p].stored_at <= first + (members[i] - 1) * bound[GBA_DUT_T_RELEASE],
                   "TIME-1");
        from = cycle;
        first = accesses;
        for (uint32_t p = 0; p < 4; p++)
            arrive(p, 0, p, 2);
        UNTIL(accesses == first + 4, "ORD-2");
        expect(cycle - from <= bound[GBA_DUT_T_MATCH] + 3 * bound[GBA_DUT_T_ACCEPT], "TIME-1");
        reset();
        from = cycle;
        read_arrival(0);
        UNTIL(COUNT(&ports[0].offered) == 0, "CFG-8");
        expect(cycle - from <= bound[GBA_DUT_T_CLEAR] + bound[GBA_DUT_T_MATCH], "TIME-1");
    }
}

/* Stores to a host that takes none are dropped after T_LOST. A member that arrives again gets its
 * own. */
TEST(test_PORT_6_a_lost_port_until_it_takes_stores)
{
    if (0 == dut->bounds[GBA_DUT_T_LOST])
        return; /* the model loses no port by itself */
    power_on(1, 4);
    start(0, 2, 0, 2);
    set_ready(0, false);
    arrive(0, 0, 0, 1);
    arrive(1, 0, 1, 1);
    read_arrival(1);
    UNTIL(COUNT(&ports[1].offered) == 0, "PORT-6");
    due[0][0].out = due[0][0].in;
    set_ready(0, true);
    arrive(0, 0, 0, 1);
    UNTIL(ports[0].stored == 1, "ARR-5");
    rest();
}

/* A member of the port, from a random one on; if it can be, one that has not arrived. */
static uint32_t member_of(uint32_t group, uint32_t port)
{
    const struct gba_model_group *g = &m.group[group];
    uint32_t n = g->record.members, found = below(GBA_MEMBERS_MAX);

    for (uint32_t i = 0, at = below(n + 1); i < n; i++, at++) {
        if (g->bound[at % n] != port + 1)
            continue;
        found = at % n;
        if ((g->core.arrived_mask[found / 64] >> found % 64 & 1) == 0 && below(4) != 0)
            break;
    }
    return found;
}

/* Whether a NOTIFY of the port may cause an event at any time. Then the host acknowledges no event,
 * and leaves IRQ_MASK alone: the interrupts would depend on the order. */
static bool waits_for_round(uint32_t port)
{
    const struct port *host = &ports[port];
    bool waits = false;

    for (uint32_t g = 0; g < group_count; g++)
        waits = waits || asked[g][port] != 0 || (m.group[g].record.notify[0] >> port & 1) != 0;
    for (uint32_t i = host->offered.out; i != host->offered.in; i++)
        waits = waits || host->offered.at[i % ROOM(&host->offered)].access.address % 16 == 8;
    return waits;
}

/* Any access that neither commands nor maps a flag. */
static void plan_anything(uint32_t port, uint32_t group, uint32_t member)
{
    static const uint32_t halves[] = {GBA_PORT_REG(GBA_PORT_IRQ_CAUSE), GBA_PORT_REG(GBA_PORT_HELD),
                                      GBA_PORT_REG(GBA_PORT_IRQ_MASK),
                                      GBA_DEVICE_BASE + GBA_DEV_GROUPS_FREE};
    static const uint8_t widths[] = {1, 2, 4, 8, 4, 8, 0, 3};
    uint32_t r = below(44), address = below(8) ? below(GBA_BAR_SIZE) : (uint32_t)bits64();

    if (r < 4)
        plan(port, false, 4, halves[r], 0);
    else if (r < 8)
        plan(port, false, 4, GBA_PORT_EVENT(group), 0);
    else if (r < 12 && !waits_for_round(port))
        plan(port, true, 4, r < 10 ? GBA_PORT_EVENT(group) : GBA_PORT_REG(GBA_PORT_IRQ_MASK),
             below(r < 10 ? 20 : 1u << 31));
    else if (r < 20)
        plan(port, false, 4, GBA_GROUP_REG(group, 4 * (r - 12)), 0);
    else if (r < 34)
        plan(port, false, 8,
             r < 24 ? GBA_GROUP_REG(group, GBA_REG_MEMBER_MASK + 32 * (r - 20))
                    : GBA_GROUP_REG(group, GBA_REG_COUNTERS + 8 * (r - 24)),
             0);
    else if (r < 38)
        plan(port, below(4) == 0, 8, GBA_TABLE_ENTRY(group, member), below(8));
    else if (address / 0x1000 != GBA_PORT_BASE / 0x1000)
        plan(port, below(2) != 0, widths[below(8)], below(2) ? address & ~7u : address,
             bits64() | 1);
}

static void plan_round(uint32_t port, uint32_t group)
{
    uint32_t member = member_of(group, port), kind = below(100),
             sequence = m.group[group].core.sequence;
    uint64_t value;

    sequence += kind < 75 ? 1 : kind < 92 ? 0 : kind < 94 ? 2 : 1u << below(32);
    value = GBA_ARRIVAL(sequence, member);
    if (below(12) != 0)
        plan(port, true, 8, below(8) ? GBA_DOORBELL(group) : GBA_GROUP_REG(group, GBA_REG_ARRIVAL),
             value);
    else if ((m.group[group].record.events[port] & GBA_IRQ_ROUND) == 0)
        plan(port, true, 8, GBA_DOORBELL(group) + GBA_BELL_NOTIFY, value);
}

/* Whether the member has to join, or is one of the port without an address. */
static bool needs(uint32_t group, uint32_t member, uint32_t port)
{
    const struct gba_model_group *g = &m.group[group];

    return g->record.membership[member] == GBA_MEMBERSHIP_EMPTY ||
           (g->bound[member] == port + 1 && g->table[member] == 0);
}

/* The next thing that the host of a port does to a group, by what the group needs. */
static void plan_next(uint32_t port, uint32_t group)
{
    const struct gba_model_record *r = &m.group[group].record;
    uint32_t member, n, what = below(100);

    if (what < 16) {
        plan_anything(port, group, member_of(group, port));
    } else if (what == 16) {
        plan_command(port, below(10), below(group_count + 1), r->generation + (below(4) == 0),
                     r->key + (below(4) == 0), below(4), below(3));
    } else if (r->life == GBA_LIFE_FREE) {
        plan_command(port, GBA_CMD_ALLOC, below(2) ? group : GBA_GROUP_ANY, 0, 0, 0,
                     below(12) ? 1 + below(5) : 60 + below(80));
    } else if (r->life == GBA_LIFE_ALLOCATED) {
        member = below(r->members);
        for (n = 0; n < r->members && !needs(group, member, port); n++)
            member = (member + 1) % r->members;
        if (n == r->members)
            plan_command(port, r->present < n ? GBA_CMD_LEAVE : GBA_CMD_ARM, group, r->generation,
                         0, member_of(group, port), below(3) ? below(1000) : 0xFFFFFFFE);
        else if (m.group[group].bound[member] == 0)
            plan_command(port, GBA_CMD_JOIN, group, r->generation + (below(30) == 0),
                         r->key + (below(30) == 0), member, 0);
        if (n < r->members)
            plan_flag(port, group, member);
    } else if (below(r->present < r->members ? 4 : 3000) == 0) {
        plan_command(port, GBA_CMD_LEAVE, group, r->generation, 0, member_of(group, port),
                     below(2));
    } else {
        plan_round(port, group);
    }
}

/* Hosts do things at random for that many cycles. A host stops to take stores once in `stalls`
 * cycles, for `stall` cycles at most, or for ever, which ends when its link goes down; `depth`
 * accesses of a port are under way, and a new one comes in `pause` cycles. */
static void run(uint64_t cycles)
{
    uint32_t stalls = 30u << below(8), stall = 1u << below(10), depth = 1 + below(3);
    uint32_t pause = 1 + below(12);

    cycle = accesses = rounds = stores = 0;
    power_on(1 + below(8), 1 + below(PORTS));
    for (; cycle < cycles; (void)step()) {
        for (uint32_t p = 0; p < port_count; p++) {
            struct port *host = &ports[p];
            bool up = m.port[p].up != 0;

            if (host->stalled ? cycle >= host->stalled_until || !up : below(stalls) == 0) {
                host->stalled_until = below(50) == 0 ? UINT64_MAX : cycle + below(stall);
                /* Also when the first stores come again. */
                host->down_at = host->stalled && up && below(3) == 0 ? cycle + below(12) : 0;
                set_ready(p, host->stalled);
            }
            if (host->link == STAYS && ((up && cycle != 0 && cycle == host->down_at) ||
                                        below(!up                                 ? 200
                                              : host->stalled_until == UINT64_MAX ? 3000
                                                                                  : 40000) == 0))
                set_link(p, !up);
            if (COUNT(&host->offered) >= depth || below(pause) != 0)
                continue;
            if (COUNT(&host->script) == 0)
                plan_next(p, below(group_count));
            if (COUNT(&host->script) != 0)
                offer(p, *POP(&host->script));
        }
        if (below(3000) == 0)
            rest();
        if (below(15000) == 0)
            reset();
    }
    rest();
    printf("seed %llu: %u groups, %u ports: %llu accesses, %llu rounds, %llu stores\n", seed,
           group_count, port_count, accesses, rounds, stores);
}

TEST(test_ORD_1_at_random)
{
    unsigned long long first = 1, count = 20, cycles = 20000;

    if (getenv("GBA_SEEDS") != NULL)
        (void)sscanf(getenv("GBA_SEEDS"), "%llu %llu %llu", &first, &count, &cycles);
    for (; count-- != 0; first++) {
        seed = first;
        random_state = first * 2654435761u;
        run(cycles);
    }
}

static void load(void)
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
    if (table == NULL || (dut = table())->version != GBA_DUT_VERSION) {
        fprintf(stderr, "no gba_dut() of version %u\n", GBA_DUT_VERSION);
        exit(2);
    }
}

TEST_MAIN(load())
