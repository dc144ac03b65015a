/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared memory, with a line for each flag. A store reaches a core that polls the line after
 * `store`. The first load of a line that another core has written takes a time of its own, which
 * does not show if the store comes later. Such loads overlap if no other core reads the lines: the
 * processor issues the next one before it knows what the first one finds. Lines that several cores
 * read are loaded one after the other, because each store takes the line away from all of them. A
 * store to a line that another core polls leaves the core some time after the last one.
 */
#include "sim/predict/state.h"

uint64_t predict_store_time(const struct predict *p, uint32_t from, uint32_t to)
{
    const uint64_t cores = p->cluster->cores, sockets = p->cluster->sockets;
    const uint64_t a = from % p->on_host % cores, b = to % p->on_host % cores;

    return a * sockets / cores == b * sockets / cores ? p->cluster->store
                                                      : gba_cluster_store_far(p->cluster);
}

uint64_t predict_store(struct predict *p)
{
    struct predict_accesses *own = &p->algo.accesses[p->algo.running];
    const uint64_t at = predict_work(p, p->algo.running, 0, p->cluster->store_issue);
    const uint64_t leaves = at < own->next_store ? own->next_store : at;

    own->next_store = leaves + gba_cluster_store_next(p->cluster);
    return leaves;
}

void predict_load(struct predict *p, uint32_t line, bool found, uint64_t from, bool shared)
{
    struct predict_accesses *own = &p->algo.accesses[p->algo.running];

    if (own->polled != line)
        own->loaded = p->rank[p->algo.running].free_at +
                      (shared ? gba_cluster_load(p->cluster) : gba_cluster_load_next(p->cluster));
    own->polled = found ? PREDICT_NO_LINE : line;
    if (found)
        predict_work(p, p->algo.running, from > own->loaded ? from : own->loaded, 0);
}
