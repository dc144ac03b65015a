/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A design under test that does many things at once, beside the model: accesses of several ports to
 * several groups, commands, links that go up and down, resets, hosts that take no release stores
 * for some time or for ever. The model makes each access when the design says that it takes effect.
 * From then on the stores are due, and the answer, the interrupts and the events are known.
 *
 * GBA_SEEDS="FIRST COUNT CYCLES": the random runs. A failure names the rule, the seed and the
 * cycle.
 */
#include "tests/rtl/overlap.h"

static uint64_t random_state;
static bool
    storm; /* hosts arrive without a pause, and mostly late, so stores are due all the time */

static uint32_t below(uint32_t count)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(random_state >> 33) % count;
}

static uint64_t bits64(void)
{
    return (uint64_t)below(1u << 31) << 40 ^ (uint64_t)below(1u << 31) << 20 ^ below(1u << 31);
}

static void reset(void)
{
    for (uint32_t p = 0; p < port_count; p++)
        set_ready(p, true);
    dut->reset(device);
    begin(true);
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
    const uint64_t value = GBA_ARRIVAL(sequence, m.group[group].record.generation, member);

    offer(port, (struct gba_model_access){true, 8, 0, GBA_DOORBELL(group), value, 0});
}

static void read_arrival(uint32_t port)
{
    look(port, GBA_GROUP_REG(0, GBA_REG_ARRIVAL), 8);
}

static void steps(uint32_t count)
{
    while (count-- != 0)
        (void)step();
}

TEST(test_ORD_2_ports_in_turn)
{
    power_on(1, 4, true);
    start(0, 4, 0, 4);
    for (uint32_t i = 0; i < 40; i++)
        read_arrival(i / 10);
    for (uint32_t i = 0; i < 8 && dut->bounds[0] != 0; i++) {
        const struct port *host = &ports[3 - i % 4];
        uint64_t before = host->taken, from = accesses;

        UNTIL(host->taken != before, "ORD-2");
        expect(accesses - from <= 6, "ORD-2"); /* of two ports in one of three lanes */
    }
    rest();
}

/* A host that polls the mailbox, or that commands, and reads a group gets one access for each one
 * of another port, also of its lane, to the mailbox, and to the group. The cycles in which the
 * control unit has the memories of the design do not count. */
static void crowd(struct gba_model_access access)
{
    power_on(1, 8, true);
    start(0, 7, 1, 7);
    for (uint32_t i = 0; i < 210 && dut->bounds[0] != 0; i++) {
        uint32_t port = 1 + i % 7;
        uint64_t from;

        for (; COUNT(&ports[0].offered) < 4; read_arrival(0))
            offer(0, access);
        steps(10 + i / 7);
        from = cycle;
        if (i % 3 == 0)
            read_arrival(port);
        else if (i % 3 == 1)
            look(port, GBA_PORT_REG(GBA_PORT_RESULT), 4);
        else
            arrive(port, 0, port - 1, 0);
        UNTIL(COUNT(&ports[port].offered) == 0, "ORD-2");
        /* After the one under way, and that one. */
        expect(cycle - from <= 3 * dut->bounds[GBA_DUT_T_ACCEPT], "TIME-1");
        UNTIL(COUNT(&due[0][port]) == 0, "ARR-5");
    }
    rest();
}

TEST(test_TIME_1_a_host_that_polls_the_mailbox)
{
    crowd((struct gba_model_access){.width = 4, .address = GBA_PORT_REG(GBA_PORT_RESULT)});
}

TEST(test_CMD_1_a_command_delays_no_other_port)
{
    crowd((struct gba_model_access){true, 4, 0, GBA_PORT_REG(GBA_PORT_COMMAND), GBA_CMD_MEMBER, 0});
}

/* A link changes while groups complete a round and release late members again: the control unit
 * gets the memories, and other ports get their accesses meanwhile. */
TEST(test_TIME_1_a_link_changes_beside_stores)
{
    power_on(7, 9, true);
    for (uint32_t g = 0; g < 7; g++)
        start(g, 64, 0, 7);
    for (uint32_t round = 1; round < 20 && dut->bounds[0] != 0; round++) {
        for (uint32_t i = 0; i < 64 * 7; i++)
            arrive(i / 7 % 7, i % 7, i / 7, round);
        UNTIL(m.group[6].core.sequence == round, "ORD-2");
        set_link(8, round % 2 == 0);
        for (uint64_t since = cycle, from; ports[8].link != STAYS;) {
            for (uint32_t p = 0; p < 7; p++) {
                if (COUNT(&ports[p].offered) == 0)
                    arrive(p, p, p, round);
            }
            from = cycle;
            look(7, GBA_DEVICE_BASE, 4);
            UNTIL(COUNT(&ports[7].offered) == 0, "ORD-2");
            expect(cycle - from <= 16 * dut->bounds[GBA_DUT_T_ACCEPT], "TIME-1"); /* of 8 ports */
            expect(cycle - since <= 64 * 7 * 2, "PORT-4");
        }
        rest();
    }
}

/* A host takes no store any more: the others go on, also accesses that wait for stores of another
 * group, and arrivals for the next round [ORD-3], and its link can go down. */
TEST(test_PORT_6_a_port_that_takes_nothing)
{
    uint64_t from;

    power_on(3, 4, true);
    start(0, 1, 0, 1);
    start(1, 2, 1, 2);
    start(2, 2, 0, 2);
    set_ready(0, false);
    from = cycle;
    arrive(0, 0, 0, 1);
    arrive(0, 2, 0, 1);
    arrive(1, 2, 1, 1);
    for (uint32_t round = 1; round < 4; round++) {
        arrive(1, 1, 0, round);
        arrive(2, 1, 1, round);
        look(3, GBA_GROUP_REG(1, GBA_REG_ARRIVAL), 8);
        UNTIL(ports[2].stored == round && COUNT(&due[1][1]) == 0 && COUNT(&ports[3].offered) == 0,
              "PORT-6");
    }
    arrive(1, 2, 1, 2);
    UNTIL(COUNT(&ports[1].offered) == 0, "ORD-3");
    expect(cycle - from < 900, "PORT-6"); /* the port is not lost yet */
    set_link(0, false);
    UNTIL(m.port[0].up == 0, "PORT-4");
    rest();
}

/* A COMMAND waits for what was due when it came, also behind an access of another port that waits:
 * ports 0 and 4 may share a lane of the design. */
TEST(test_ORD_3_a_command_behind_an_access_that_waits)
{
    uint64_t from;

    power_on(2, 8, true);
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
    static const uint32_t members[] = {2, 8, 64, 128, 708, 2, 8, 64, 128}, *bound;

    bound = dut->bounds;
    for (uint32_t i = 0; i < 9 && bound[0] != 0; i++) {
        uint32_t groups = i < 5 ? 1 : 8; /* that complete at once */
        uint64_t from = 0, first, last = 0;

        power_on(groups, 4, true);
        for (uint32_t g = 0; g < groups; g++)
            start(g, members[i], 0, 4);
        for (uint32_t n = 0; n < members[i]; n++) {
            from = cycle;
            for (uint32_t g = 0, member; g < groups; g++) {
                member = (n + g) % members[i];
                arrive(member % 4, g, member, 1);
            }
            for (uint32_t p = 0; p < 4; p++)
                UNTIL(COUNT(&ports[p].answers) + COUNT(&ports[p].offered) == 0, "ORD-2");
        }
        UNTIL(ports[0].stored == 1, "REL-2");
        first = cycle;
        rest();
        for (uint32_t p = 0; p < 4; p++)
            last = ports[p].stored_at > last ? ports[p].stored_at : last;
        printf("%u groups of %u members: last store after %llu cycles\n", groups, members[i],
               (unsigned long long)(last - from - 1));
        expect(groups > 1 || first - from - 1 <= bound[GBA_DUT_T_MATCH], "TIME-1");
        expect(last <= first + (groups * members[i] - 1) * bound[GBA_DUT_T_RELEASE], "TIME-1");
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
    power_on(1, 4, true);
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

    sequence += kind < (storm ? 3 : 75) ? 1 : kind < 92 ? 0 : kind < 94 ? 2 : 1u << below(32);
    value = GBA_ARRIVAL(sequence, m.group[group].record.generation - (below(30) == 0), member);
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

    if (what < (storm ? 4 : 16)) {
        plan_anything(port, group, member_of(group, port));
    } else if (what == 16) {
        plan_command(port, below(10), below(group_count + 1), r->generation + (below(4) == 0),
                     r->key + (below(4) == 0), below(4), below(3));
    } else if (r->life == GBA_LIFE_FREE) {
        plan_command(port, GBA_CMD_ALLOC, below(2) ? group : GBA_GROUP_ANY, 0, 0, 0,
                     below(40) ? 1 + below(5) : 60 + below(80));
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
    uint32_t pause = 1 + below(12), downs = 3u << below(8);

    cycle = accesses = rounds = stores = 0;
    storm = below(2) == 0;
    if (storm) {
        pause = 1;
        stalls = 1u << 30;
    }
    power_on(1 + below(storm ? 1 : 8), 1 + below(PORTS), true);
    for (; cycle < cycles; (void)step()) {
        for (uint32_t p = 0; p < port_count; p++) {
            struct port *host = &ports[p];
            bool up = m.port[p].up != 0;

            if (host->stalled ? cycle >= host->stalled_until || !up : below(stalls) == 0) {
                host->stalled_until = below(400) == 0 ? UINT64_MAX : cycle + below(stall);
                /* Also when the first stores come again. */
                host->down_at = host->stalled && up && below(downs) == 0 ? cycle + below(12) : 0;
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

TEST_MAIN(dut = design())
