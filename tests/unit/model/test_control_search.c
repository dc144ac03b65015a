/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The promise of the device with several hosts, in every order of accesses, commands and port
 * failures: no member leaves a round early, none that has left is released, and no group is given
 * to a team while a member of another one can still reach it. Also with faults that must be found.
 */

#include "tests/suite.h"
#include "tests/unit/model/control_search.h"

static struct gba_model_group *const group = &model.group[0];

/* --- the allowed actions of drivers and members --- */

static void do_alloc(uint32_t port)
{
    uint32_t result;

    if (mutant == GENERATION_STAYS && group->record.life == GBA_LIFE_FREE)
        group->record.generation = 0;
    result = command(port, GBA_CMD_ALLOC, 0, 0, setting->members);
    must((result == GBA_RESULT_OK) ==
             (group->record.generation != now.generation || mutant == GENERATION_STAYS),
         "ALLOC");
    if (result != GBA_RESULT_OK)
        return;
    for (uint32_t team = 0; team < now.teams; team++) {
        for (uint32_t m = 0; m < setting->members; m++)
            must(!is_present(&now.member[team][m]), "a group is given to two teams");
    }
    now.teams++;
}

static void do_free(uint32_t port, uint32_t team)
{
    if (command(port, GBA_CMD_FREE, team, 0, 0) == GBA_RESULT_OK) {
        for (uint32_t m = 0; m < setting->members; m++)
            must(!is_present(&now.member[team][m]), "FREE with members");
    }
}

static void end_members(uint32_t port)
{
    for (uint32_t team = 0; team < now.teams; team++) {
        for (uint32_t m = 0; m < setting->members; m++) {
            if (setting->host[m] == port)
                now.member[team][m].phase = GONE;
        }
    }
}

static void do_down(uint32_t port)
{
    struct gba_model_group old = *group;
    bool had = port_is_present(port);

    gba_model_port_down(&model, port, &effects);
    for (uint32_t m = 0; m < setting->members && mutant == DOWN_KEEPS_MEMBERS; m++) {
        if (setting->host[m] == port && group->record.life != GBA_LIFE_FREE) {
            group->table[m] = old.table[m];
            group->bound[m] = old.bound[m];
        }
    }
    if (mutant == DOWN_SENDS_NO_EVENT)
        memset(group->record.events, 0, PORTS_MAX);
    end_members(port);
    now.up[port] = 0;
    now.wait[port] = 0;
    now.downs++;
    if (had)
        take_events(GBA_IRQ_PORT_DOWN, port);
}

static void do_join(uint32_t team, uint32_t m)
{
    struct member *member = &now.member[team][m];

    if (command(setting->host[m], GBA_CMD_JOIN, team, m, 0) != GBA_RESULT_OK)
        return;
    must(team + 1 == now.teams, "JOIN with the handle of an older team");
    must(member->phase == ABSENT, "JOIN twice");
    member->phase = JOINED;
}

static void do_map(uint32_t team, uint32_t m)
{
    make(setting->host[m], GBA_TABLE_ENTRY(0, m), 8, flag_of(team, m));
    if (effects.error == GBA_ERROR_NONE)
        now.member[team][m].phase = MAPPED;
}

static void do_arm(uint32_t team, uint32_t m)
{
    if (mutant == ARMED_WITH_WHO_IS_MAPPED && group->record.life == GBA_LIFE_ALLOCATED) {
        group->core.member_count = 0;
        group->core.member_mask[0] = 0;
        for (uint32_t i = 0; i < setting->members; i++) {
            group->core.member_count += group->table[i] != 0;
            group->core.member_mask[0] |= (uint64_t)(group->table[i] != 0) << i;
        }
    }
    command(setting->host[m], GBA_CMD_ARM, team, 0, 0);
}

static void do_arrive(uint32_t team, uint32_t m, uint32_t round)
{
    bool all = true;

    if (mutant == REPEATS_COUNT && round == group->core.sequence + 1)
        group->core.arrived_mask[0] &= ~(1ull << m);
    now.member[team][m].arrived = (uint8_t)round;
    make(setting->host[m], GBA_DOORBELL(0), 8, GBA_ARRIVAL(round, generation_of(team), m));
    if (group->record.life != GBA_LIFE_ARMED || team + 1 != now.teams)
        return;
    for (uint32_t i = 0; i < setting->members; i++)
        all = all && newest(i)->arrived >= round;
    must(!all || group->core.sequence >= round, "an arrival is lost");
    for (uint32_t i = 0; all && i < setting->members; i++)
        must(!is_present(newest(i)) || newest(i)->flag >= round, "a release is lost");
}

static void do_notify(uint32_t team, uint32_t m)
{
    const struct member *member = &now.member[team][m];
    uint32_t port = setting->host[m];

    make(port, GBA_DOORBELL(0) + GBA_BELL_NOTIFY, 8,
         GBA_ARRIVAL(member->arrived, generation_of(team), m));
    if (effects.error != GBA_ERROR_NONE)
        return;
    if (mutant == NOTIFY_NEVER_AT_ONCE)
        group->record.events[port] = 0;
    now.wait[port] |= (uint8_t)(1u << member->arrived);
}

static void do_leave(uint32_t team, uint32_t m, uint32_t how)
{
    uint32_t port = setting->host[m];
    uint64_t address = group->table[m];

    must(command(port, GBA_CMD_LEAVE, team, m, how) == GBA_RESULT_OK, "LEAVE");
    now.member[team][m].phase = GONE;
    if (mutant == LEAVE_KEEPS_THE_FLAG && group->record.life == GBA_LIFE_ARMED) {
        group->table[m] = address;
        group->bound[m] = (uint16_t)(1 + port);
    }
    if (how != 0)
        take_events(GBA_IRQ_DIED, port);
    if (!port_is_present(port))
        now.wait[port] = 0;
}

/* --- the forbidden actions of a port --- */

static void try_commands(uint32_t port, uint32_t team)
{
    struct gba_model_port *bank = &model.port[port];

    for (uint32_t m = 0; m < setting->members; m++) {
        if (setting->host[m] != port)
            must(command(port, GBA_CMD_LEAVE, team, m, 0) != GBA_RESULT_OK, "LEAVE of another");
        /* The right generation and a wrong key. */
        command(port, 0, team, m, 0);
        bank->key = mutant == KEY_IS_NOT_CHECKED ? group->record.key : 99;
        bank->result = UINT32_MAX;
        make(port, GBA_PORT_REG(GBA_PORT_COMMAND), 4, GBA_CMD_JOIN);
        must(bank->result != GBA_RESULT_OK, "JOIN without the key");
    }
    if (group->record.holder != 1 + port)
        must(command(port, GBA_CMD_FREE, team, 0, 0) != GBA_RESULT_OK, "FREE of another");
    if (!port_is_present(port))
        must(command(port, GBA_CMD_ARM, team, 0, 0) != GBA_RESULT_OK, "ARM by a stranger");
}

static void try_member(uint32_t port, uint32_t m)
{
    uint32_t as = mutant == ANY_PORT_ARRIVES ? setting->host[m] : port;

    for (uint32_t ahead = 0; ahead < 2; ahead++) {
        uint64_t value = GBA_ARRIVAL(group->core.sequence + ahead, group->record.generation, m);

        make(as, GBA_DOORBELL(0), 8, value);
        make(port, GBA_GROUP_REG(0, GBA_REG_ARRIVAL), 8, value);
        make(port, GBA_DOORBELL(0) + GBA_BELL_NOTIFY, 8, value);
    }
    make(port, GBA_TABLE_ENTRY(0, m), 8, 0);
    make(port, GBA_TABLE_ENTRY(0, m), 8, flag_of(0, m));
}

/* What the member of an older team has stored to its doorbell, which the fabric delivers again. */
static void try_copies(uint32_t team, uint32_t m)
{
    uint32_t generation = mutant == COPIES_COUNT ? group->record.generation : generation_of(team);

    for (uint32_t round = 1; round <= now.member[team][m].arrived; round++) {
        uint64_t value = GBA_ARRIVAL(round, generation, m);

        make(setting->host[m], GBA_DOORBELL(0), 8, value);
        make(setting->host[m], GBA_DOORBELL(0) + GBA_BELL_NOTIFY, 8, value);
    }
}

static void try_registers(uint32_t port)
{
    for (uint32_t control = 0; control < 16; control++)
        make(port, GBA_GROUP_REG(0, GBA_REG_CONTROL), 4, control);
    if (mutant == HOSTS_CONFIGURE)
        group->core.control = 0;
    make(port, GBA_GROUP_REG(0, GBA_REG_SEQUENCE), 4, 1);
    make(port, GBA_GROUP_REG(0, GBA_REG_MEMBER_COUNT), 4, 1);
    make(port, GBA_GROUP_REG(0, GBA_REG_MEMBER_MASK), 8, 1);
}

/* Every action without a right leaves the scene unchanged, except for errors. */
static void try_all(const struct scene *s)
{
    struct scene after;

    scene_load(s);
    for (uint32_t port = 0; port < setting->ports; port++) {
        if (now.teams > 0)
            try_commands(port, now.teams - 1u);
        for (uint32_t m = 0; m < setting->members; m++) {
            if (setting->host[m] != port)
                try_member(port, m);
        }
        try_registers(port);
    }
    for (uint32_t team = 0; team + 1 < now.teams; team++) {
        for (uint32_t m = 0; m < setting->members; m++)
            try_copies(team, m);
    }
    memset(group->record.events, 0, PORTS_MAX);
    group->core.status &= GBA_STATUS_COMPLETE;
    scene_store(&after);
    must(memcmp(&after, s, sizeof(after)) == 0, "a port did what is not its right");
}

/* --- the search --- */

/* The end of an action: check its effects, and keep the scene. */
static void keep(const struct scene *before)
{
    struct scene after;

    take_notified();
    group->core.status &= GBA_STATUS_COMPLETE;
    scene_store(&after);
    if (memcmp(&after, before, sizeof(after)) != 0)
        visit(&visited, &after, scene_hash(&after));
}

#define ACTION(call)   \
    do {               \
        scene_load(s); \
        call;          \
        keep(s);       \
    } while (0)

static void expand_member(const struct scene *s, uint32_t team, uint32_t m)
{
    const struct member *member = &s->member[team][m];

    if (!s->up[setting->host[m]])
        return;
    if (member->phase == ABSENT)
        ACTION(do_join(team, m));
    if (member->phase == JOINED)
        ACTION(do_map(team, m));
    if (is_present(member)) {
        ACTION(do_arm(team, m));
        ACTION(do_leave(team, m, 0));
        ACTION(do_leave(team, m, GBA_LEAVE_DIED));
    }
    if (member->phase != MAPPED || !(s->control & GBA_CONTROL_ARM || member->arrived > 0))
        return;
    if (member->arrived == member->flag && member->arrived < setting->rounds)
        ACTION(do_arrive(team, m, member->arrived + 1u));
    if (member->arrived > 0) {
        ACTION(do_arrive(team, m, member->arrived));
        ACTION(do_notify(team, m));
    }
}

static void expand(const struct scene *s)
{
    for (uint32_t port = 0; port < setting->ports; port++) {
        if (!s->up[port]) {
            ACTION(gba_model_port_up(&model, port, 0); now.up[port] = 1);
            continue;
        }
        if (s->teams < TEAMS)
            ACTION(do_alloc(port));
        for (uint32_t team = 0; team < s->teams; team++)
            ACTION(do_free(port, team));
        if (s->downs < DOWNS)
            ACTION(do_down(port));
    }
    for (uint32_t team = 0; team < s->teams; team++) {
        for (uint32_t m = 0; m < setting->members; m++)
            expand_member(s, team, m);
    }
}

/* Search all scenes, or until the first violation. Returns the violation, or NULL. */
static const char *search(const struct setting *hosts, enum mutant which)
{
    static const uint64_t uuid[2] = {1, 2};
    struct scene s;

    setting = hosts;
    mutant = which;
    violation = NULL;
    gba_model_init(&model, 1, hosts->ports, uuid);
    memset(&now, 0, sizeof(now));
    for (uint32_t port = 0; port < hosts->ports; port++)
        gba_model_port_up(&model, port, 0);
    visited_open(&visited, sizeof(s), LIMIT);
    scene_store(&s);
    visit(&visited, &s, scene_hash(&s));
    while (violation == NULL && visited_next(&visited, &s)) {
        try_all(&s);
        expand(&s);
        assert_true(visited.states < LIMIT);
    }
    visited_close(&visited);
    return violation;
}

static const struct setting two_by_two = {
    .ports = 2, .members = 4, .rounds = 1, .host = {0, 0, 1, 1}};
static const struct setting three_by_one = {
    .ports = 3, .members = 3, .rounds = 2, .host = {0, 1, 2}};

static void search_all(const struct setting *hosts)
{
    const char *found = search(hosts, CORRECT);

    if (found != NULL)
        fail_msg("%s", found);
    print_message("%u states\n", visited.states);
}

TEST(test_two_ports_with_two_members)
{
    search_all(&two_by_two);
}

TEST(test_three_ports)
{
    search_all(&three_by_one);
}

/* The search finds each injected fault. */
TEST(test_mutants_are_found)
{
    for (int which = CORRECT + 1; which < MUTANTS; which++) {
        const char *found = search(&three_by_one, (enum mutant)which);

        if (found == NULL)
            fail_msg("mutant %d is not found in %u states", which, visited.states);
        print_message("mutant %d: %s, after %u states\n", which, found, visited.states);
    }
}

TEST_MAIN()
