/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/agree/cost.h"

static uint32_t ns_of(uint64_t ps)
{
    const uint64_t ns = (ps + 500) / 1000;

    return ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

static uint16_t limited(uint64_t value)
{
    return value < UINT16_MAX ? (uint16_t)value : UINT16_MAX;
}

void gba_cost_terms_set(struct gba_cost_terms *terms, const struct gba_cluster *cluster)
{
    const uint64_t ends = cluster->o_send + cluster->o_recv;

    *terms = (struct gba_cost_terms){
        .turn = ns_of(cluster->turn),
        .message = ns_of(ends + cluster->L + (GBA_CLUSTER_BYTES - 1) * cluster->G),
        .send = ns_of(ends > cluster->g ? ends : cluster->g),
        .device = ns_of(cluster->device_issue + cluster->device_up + cluster->device_match +
                        cluster->device_down),
        .port = limited(ns_of(cluster->device_accept + cluster->device_release)),
        .store = limited(ns_of(cluster->store)),
        .line = limited(ns_of(cluster->atomic + GBA_CLUSTER_RELOAD)),
        .cores =
            limited((cluster->cores + cluster->hosts_per_machine - 1) / cluster->hosts_per_machine),
        .leaf = limited(cluster->leaf),
        .pod = limited(cluster->pod),
        .pod_more = limited(ns_of(cluster->pod_hops * cluster->hop)),
        .far_more = limited(ns_of(cluster->far_hops * cluster->hop)),
        .store_next = limited(ns_of(gba_cluster_store_next(cluster))),
        .load = limited(ns_of(gba_cluster_load(cluster))),
        .load_next = limited(ns_of(gba_cluster_load_next(cluster)))};
}

/* Signals of an algorithm: rounds one after the other, the signals of a member, and their time. */
struct way {
    uint32_t rounds;
    uint64_t signals, ns;
};

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* What signals take. In shared memory a member stores to the line of each peer, and polls one line
 * of its own after the other: a line that it did not poll before is loaded once. */
struct signal {
    uint32_t one, out, in; /* the first one; each further one that a member sends, or receives */
    uint32_t several;      /* once, if a member receives several */
};

static struct signal signal_of(const struct gba_cost_terms *terms, uint32_t hosts)
{
    if (hosts > 1)
        return (struct signal){terms->message, terms->send, terms->send, 0};
    return (struct signal){terms->store, terms->store_next, terms->load_next, terms->load_next};
}

/* A round in which a member sends and receives `signals`, of which the first takes `one` and each
 * other one `more`. */
static void way_add(struct way *way, uint64_t signals, uint64_t one, uint64_t more)
{
    way->rounds++;
    way->signals += signals;
    way->ns += one + (signals - 1) * more;
}

/* What a message to that many hosts ahead takes longer than one at a switch. */
static uint32_t further(const struct gba_cost_terms *terms, uint64_t hosts)
{
    return hosts > terms->pod ? terms->far_more : hosts > terms->leaf ? terms->pod_more : 0;
}

/*
 * An algorithm among n members, evenly on `hosts`. gba/algo/README.md has what each sends.
 * A round waits for its slowest signal. From half a leaf on many signals leave it, and those of
 * shorter rounds leave it once on the way from one member to another.
 */
static struct way way_of(const struct gba_cost_terms *terms, int32_t choice, uint32_t n,
                         uint32_t radix, uint32_t hosts)
{
    const struct gba_algorithm *algorithm = &gba_algorithms[choice];
    const uint64_t k = (algorithm->by_radix || algorithm->tree) && radix > 2 ? radix : 2;
    const struct signal signal = signal_of(terms, hosts);
    const uint64_t half = 1 == hosts ? 1 : 2; /* a message's `send` is that of both ends */
    struct way way = {0, 0, 0};

    if (algorithm->pulls && n > 1)
        way_add(&way, n - 1, signal.one, 1 == hosts ? terms->load : terms->send);
    for (uint64_t reach = 1; reach < n && !algorithm->pulls; reach *= k) {
        const uint64_t last = smaller((k - 1) * reach, n - 1);
        const uint64_t lanes = smaller(k - 1, (n - 1) / reach);
        const uint32_t longer = further(terms, smaller(2 * last, n) * hosts / n);

        if (1 == reach)
            way.ns += (uint64_t)further(terms, hosts) - longer;
        if (!algorithm->tree) {
            way_add(&way, lanes, (uint64_t)signal.one + longer + (lanes > 1 ? signal.several : 0),
                    larger(signal.out, signal.in));
            continue;
        }
        /* Up, a member only receives its children's signals; down, it only sends them. */
        way_add(&way, smaller(k, n - 1), (uint64_t)signal.one + longer, signal.in / half);
        way_add(&way, smaller(k, n - 1), (uint64_t)signal.one + longer, signal.out / half);
    }
    return way;
}

/* The ranks that share a core; 0: each has one. */
static uint64_t ranks_on_core(const struct gba_cost_terms *terms, const struct gba_cost_team *team)
{
    const uint32_t cores = 0 == terms->cores ? 1 : terms->cores;

    return team->oversubscribed && team->members > 1 ? (team->largest + cores - 1) / cores : 0;
}

/*
 * The turns of the processes of a host that share cores. Each process runs once, and with several
 * rounds again in every other round: in the other half the member that it waits for has run before
 * (gba/algo/README.md, "Measurements": 2.0, 1.5 and 3.0 times the floor for 3, 4 and 5 rounds).
 */
static uint64_t turns(const struct gba_cost_terms *terms, const struct gba_cost_team *team,
                      uint32_t rounds)
{
    return rounds > 0 ? ranks_on_core(terms, team) * terms->turn * (rounds + 1) / 2 : 0;
}

/* Gather and release in a node: one line for all, and the release word. */
static uint64_t node(const struct gba_cost_terms *terms, const struct gba_cost_team *team)
{
    const uint64_t n = team->largest;

    return n > 1 ? n * terms->line + UINT64_C(2) * terms->store : 0;
}

static uint64_t group(const struct gba_cost_terms *terms, uint32_t members)
{
    return terms->device + (uint64_t)(members - 1) * terms->port;
}

/* Among the node leaders. The groups of several domains have two rounds, with the barrier of the
 * domain leaders between them. */
static uint64_t leaders(const struct gba_cost_terms *terms, const struct gba_cost_team *team,
                        struct gba_choice choice)
{
    const uint32_t domains = team->domains > 1 ? team->domains : 1;

    if (choice.group)
        return group(terms, (team->hosts + domains - 1) / domains) * (1 == domains ? 1u : 2u) +
               way_of(terms, GBA_ALGORITHM_V1, domains, 2, team->hosts).ns;
    return way_of(terms, choice.algorithm, team->hosts, choice.radix, team->hosts).ns;
}

uint64_t gba_cost(const struct gba_cost_terms *terms, const struct gba_cost_team *team,
                  struct gba_choice choice)
{
    const bool one_host = 1 == team->hosts;
    struct way way;

    if (choice.fallback)
        return 0;
    if (GBA_HIERARCHY_NODE == choice.hierarchy && one_host && !choice.group)
        return node(terms, team) + turns(terms, team, 1);
    if (GBA_HIERARCHY_NODE == choice.hierarchy) /* a turn to arrive, and a turn to leave */
        return node(terms, team) + turns(terms, team, 3) + leaders(terms, team, choice);
    if (choice.group)
        return group(terms, team->members) + turns(terms, team, 1);
    way = way_of(terms, choice.algorithm, team->members, choice.radix, team->hosts);
    /* The messages of the other ranks of a core take its time, too. */
    if (!one_host && ranks_on_core(terms, team) > 1)
        way.ns += (ranks_on_core(terms, team) - 1) * way.signals * terms->send;
    return way.ns + turns(terms, team, way.rounds);
}
