/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every order of the actions that members, drivers and links of several ports can apply to one
 * group of the model. The search records what each member has done, and compares that with what the
 * device does.
 *
 * The drivers of a host follow the specification: they stop the stores of a member before they end
 * its membership. In every state each port also tries every action that it has no right to. Such an
 * action must change nothing.
 */
#ifndef GBA_TESTS_CONTROL_SEARCH_H
#define GBA_TESTS_CONTROL_SEARCH_H

#include "sim/model/model.h"
#include "tests/unit/search.h"

enum { MEMBERS_MAX = 4, PORTS_MAX = 3, TEAMS = 2, DOWNS = 1, LIMIT = 2000000 };

/* The hosts of a search: the port of each member. rounds: searched, at most 2. */
struct setting {
    uint32_t ports, members, rounds;
    uint8_t host[MEMBERS_MAX];
};

/* Faults that the search must find. */
enum mutant {
    CORRECT,
    ANY_PORT_ARRIVES,
    LEAVE_KEEPS_THE_FLAG,
    DOWN_KEEPS_MEMBERS,
    DOWN_SENDS_NO_EVENT,
    KEY_IS_NOT_CHECKED,
    GENERATION_STAYS,
    COPIES_COUNT,
    NOTIFY_NEVER_AT_ONCE,
    HOSTS_CONFIGURE,
    ARMED_WITH_WHO_IS_MAPPED,
    REPEATS_COUNT,
    MUTANTS
};

enum phase { ABSENT, JOINED, MAPPED, GONE };

struct member {
    uint8_t phase;
    uint8_t arrived; /* its newest arrival; 0: none */
    uint8_t flag;    /* the newest release in its memory */
    uint8_t unused;
};

/* A state: the parts of the model that can differ, and the records of the search. No padding. */
struct scene {
    uint64_t key, mask, arrived_mask, table[MEMBERS_MAX];
    uint32_t life, generation, count, member_count, present, joined, holder, notified, notify;
    uint32_t control, sequence, arrived_count, complete;
    uint16_t bound[MEMBERS_MAX];
    uint8_t membership[MEMBERS_MAX];
    uint8_t up[4];
    struct member member[TEAMS][MEMBERS_MAX];
    uint8_t wait[4]; /* bit r: the port has requested ROUND for round r */
    uint8_t teams;   /* allocated so far; the newest has the generation `teams` */
    uint8_t downs;
    uint8_t unused[6];
};
_Static_assert(sizeof(struct scene) % 8 == 0, "hashed by words");

static const struct setting *setting;
static enum mutant mutant;
static struct gba_model model;
static struct gba_model_effects effects;
static struct scene now;      /* the records of the search, while an action is made */
static const char *violation; /* of a rule; NULL: none so far */
static struct visited visited;

static void must(bool condition, const char *rule)
{
    if (!condition && violation == NULL)
        violation = rule;
}

/* --- between the model and a scene --- */

static void scene_store(struct scene *s)
{
    struct gba_model_group *g = &model.group[0];

    *s = now;
    s->key = g->record.key;
    s->mask = g->core.member_mask[0];
    s->arrived_mask = g->core.arrived_mask[0];
    s->life = g->record.life;
    s->generation = g->record.generation;
    s->count = g->record.members;
    s->member_count = g->core.member_count;
    s->present = g->record.present;
    s->joined = g->record.joined;
    s->holder = g->record.holder;
    s->notified = g->record.notified;
    s->notify = (uint32_t)g->record.notify[0];
    s->control = g->core.control;
    s->sequence = g->core.sequence;
    s->arrived_count = g->core.arrived_count;
    s->complete = g->core.status & GBA_STATUS_COMPLETE;
    memcpy(s->table, g->table, sizeof(s->table));
    memcpy(s->bound, g->bound, sizeof(s->bound));
    memcpy(s->membership, g->record.membership, sizeof(s->membership));
    for (uint32_t port = 0; port < setting->ports; port++)
        s->up[port] = model.port[port].up != 0;
}

static void scene_load(const struct scene *s)
{
    struct gba_model_group *g = &model.group[0];

    now = *s;
    g->record.key = s->key;
    g->core.member_mask[0] = s->mask;
    g->core.arrived_mask[0] = s->arrived_mask;
    g->record.life = s->life;
    g->record.generation = s->generation;
    g->record.members = s->count;
    g->core.member_count = s->member_count;
    g->record.present = s->present;
    g->record.joined = s->joined;
    g->record.holder = s->holder;
    g->record.notified = s->notified;
    g->record.notify[0] = s->notify;
    g->core.control = s->control;
    g->core.sequence = s->sequence;
    g->core.arrived_count = s->arrived_count;
    g->core.status = s->complete;
    memcpy(g->table, s->table, sizeof(s->table));
    memcpy(g->bound, s->bound, sizeof(s->bound));
    memcpy(g->record.membership, s->membership, sizeof(s->membership));
    memset(g->record.events, 0, PORTS_MAX);
    for (uint32_t port = 0; port < setting->ports; port++)
        model.port[port].up = s->up[port];
}

static uint64_t scene_hash(const struct scene *s)
{
    uint64_t words[sizeof(struct scene) / 8], hash = 1469598103934665603ull;

    memcpy(words, s, sizeof(words));
    for (size_t i = 0; i < sizeof(words) / 8; i++) {
        hash = (hash ^ words[i]) * 0x9E3779B97F4A7C15ull;
        hash ^= hash >> 29;
    }
    return hash | 1;
}

/* --- accesses and their effects --- */

/* The flag of a member of a team; the addresses only have to differ. */
static uint64_t flag_of(uint32_t team, uint32_t m)
{
    return 8 * (1 + team * MEMBERS_MAX + m);
}

static struct member *newest(uint32_t m)
{
    return &now.member[now.teams - 1][m];
}

static bool is_present(const struct member *member)
{
    return member->phase == JOINED || member->phase == MAPPED;
}

static bool port_is_present(uint32_t port)
{
    for (uint32_t m = 0; now.teams > 0 && m < setting->members; m++) {
        if (setting->host[m] == port && is_present(newest(m)))
            return true;
    }
    return false;
}

/* No member leaves early, and no member that has left is released. */
static void take_releases(void)
{
    for (uint32_t i = 0; i < effects.releases; i++) {
        const struct gba_model_release *release = &effects.release[i];
        uint32_t team = (uint32_t)(release->address / 8 - 1) / MEMBERS_MAX;
        uint32_t m = (uint32_t)(release->address / 8 - 1) % MEMBERS_MAX;

        must(team + 1 == now.teams, "a release goes to an older team");
        if (team + 1 != now.teams)
            return;
        must(is_present(newest(m)), "a release goes to a member that left");
        must(release->port == setting->host[m], "a release leaves through another port");
        for (uint32_t other = 0; other < setting->members; other++)
            must(newest(other)->arrived >= release->sequence, "a member leaves the round early");
        newest(m)->flag = (uint8_t)release->sequence;
    }
}

static void make(uint32_t port, uint32_t address, uint8_t width, uint64_t value)
{
    const struct gba_model_access access = {.write = true,
                                            .width = width,
                                            .port = (uint16_t)port,
                                            .address = address,
                                            .value = value,
                                            .random =
                                                mutant == GENERATION_STAYS ? 1 : now.teams + 1u};

    gba_model_access(&model, &access, &effects);
    take_releases();
}

static uint32_t generation_of(uint32_t team)
{
    return mutant == GENERATION_STAYS ? 1 : team + 1;
}

static uint32_t command(uint32_t port, uint32_t code, uint32_t team, uint32_t m, uint32_t value)
{
    struct gba_model_port *bank = &model.port[port];

    bank->group = 0;
    bank->generation = generation_of(team);
    bank->key = generation_of(team);
    bank->member = m;
    bank->value = value;
    bank->result = UINT32_MAX; /* of a port that is down */
    make(port, GBA_PORT_REG(GBA_PORT_COMMAND), 4, code);
    return bank->result;
}

/* Each port that must have these events has them, and no other port has. Then acknowledge. */
static void take_events(uint32_t events, uint32_t except)
{
    uint8_t *known = model.group[0].record.events;

    for (uint32_t port = 0; port < setting->ports; port++) {
        bool due = port != except && port_is_present(port);

        must((known[port] & events) == (due ? events : 0), "an event is missing, or too many");
        known[port] &= (uint8_t)~events;
    }
}

/* A port that requested ROUND gets it as soon as the round is complete, and not before. */
static void take_notified(void)
{
    uint8_t *known = model.group[0].record.events;

    for (uint32_t port = 0; port < setting->ports; port++) {
        uint32_t complete = now.wait[port] & ((2u << model.group[0].core.sequence) - 1);
        bool due = complete != 0;

        must(((known[port] & GBA_IRQ_ROUND) != 0) == due,
             "a sleeping member is not woken, or for nothing");
        now.wait[port] = port_is_present(port) ? now.wait[port] & (uint8_t)~complete : 0;
        known[port] = 0; /* also ERROR, for which there is no rule here */
    }
}

#endif
