/* SPDX-License-Identifier: BSD-3-Clause */
/* Barrier groups: the device is sim/model. */
#include <stdlib.h>

#include "gba/algo/domains.h"
#include "sim/model/control.h"
#include "sim/model/group.h"
#include "sim/predict/state.h"

static uint32_t host_of(const struct predict *p, uint32_t actor)
{
    return predict_rank_of(p, actor) / p->on_host;
}

static uint32_t port_of(const struct predict *p, uint32_t actor)
{
    return host_of(p, actor) % GBA_PORTS_MAX;
}

static struct predict_group *group_of(const struct predict *p, uint32_t actor)
{
    return &p->offload.group[p->offload.group_of != NULL ? p->offload.group_of[actor] : 0];
}

/* Allocate, join and arm by the commands of the control unit. */
static gba_status_t group_make(struct predict *p, uint32_t number, uint32_t first, uint32_t members)
{
    struct predict_group *group = &p->offload.group[number];
    struct gba_model *model = &p->offload.model[host_of(p, first) / GBA_PORTS_MAX];
    const uint64_t key = number + 1;
    uint32_t id = GBA_GROUP_ANY, generation, result;

    *group = (struct predict_group){.model = model, .first = first, .members = members};
    if (p->offload.leaders != NULL && 1 == members)
        return GBA_OK; /* a domain of one host has no group */
    for (uint32_t i = 0; i < members; i++)
        if (0 == model->port[port_of(p, first + i)].up)
            gba_model_port_up(model, port_of(p, first + i), 0);
    result = gba_control_alloc(model, port_of(p, first), &id, members, key);
    if (GBA_RESULT_OK != result)
        return GBA_ERR_NO_GROUP;
    generation = model->group[id].record.generation;
    for (uint32_t i = 0; i < members && GBA_RESULT_OK == result; i++) {
        result = gba_control_join(model, port_of(p, first + i), id, generation, key, i);
        gba_model_store_table(&model->group[id], i, 8 * (uint64_t)(first + i + 1));
    }
    if (GBA_RESULT_OK == result)
        result = gba_control_arm(model, port_of(p, first), id, generation, 0);
    group->id = id;
    return GBA_RESULT_OK == result ? GBA_OK : GBA_ERR_PARAM;
}

/* The device of a host, which stands for its leader. */
static const struct gba_port *port_at(const void *ports, uint32_t host)
{
    return &((const struct gba_port *)ports)[host];
}

/* The switch domains of the hosts, by gba/algo/domains.h. */
static gba_status_t domains_make(struct predict *p)
{
    struct gba_port *ports = calloc(p->hosts, sizeof *ports);
    uint32_t *hosts = calloc(p->hosts, sizeof *hosts);
    struct gba_topology topology = {.nodes = p->hosts, .leaders = hosts};
    struct gba_domains domains;
    gba_status_t status = GBA_ERR_NOMEM;

    if (ports == NULL || hosts == NULL)
        goto free_arrays;
    for (uint32_t host = 0; host < p->hosts; host++) {
        const uint32_t device = host / GBA_PORTS_MAX;

        hosts[host] = host;
        ports[host].members_max = GBA_MEMBERS_MAX;
        for (unsigned i = 0; i < 4; i++)
            ports[host].uuid[i] = (uint8_t)(device >> 8 * (3 - i));
    }
    status = gba_domains_init(&domains, &topology, port_at, ports);
    if (GBA_OK != status)
        goto free_arrays;
    p->offload.groups = domains.count;
    p->offload.group = predict_alloc(p, p->offload.groups, sizeof *p->offload.group);
    if (p->offload.groups > 1) {
        p->offload.leaders = predict_alloc(p, p->offload.groups, sizeof *p->offload.leaders);
        p->offload.group_of = predict_alloc(p, p->hosts, sizeof *p->offload.group_of);
    }
    if (p->memory.short_of)
        status = GBA_ERR_NOMEM;
    for (uint32_t i = 0; i < p->offload.groups && GBA_OK == status; i++) {
        /* Hosts of a domain are contiguous here, because those of a device are. */
        const uint32_t first = domains.domain_leaders[i];
        const uint32_t end = i + 1 < p->offload.groups ? domains.domain_leaders[i + 1] : p->hosts;

        if (p->offload.leaders != NULL)
            p->offload.leaders[i] = first;
        for (uint32_t host = first; p->offload.group_of != NULL && host < end; host++)
            p->offload.group_of[host] = i;
        status = group_make(p, i, first, end - first);
    }
    gba_domains_fini(&domains);

free_arrays:
    free(hosts);
    free(ports);
    return status;
}

gba_status_t predict_groups_init(struct predict *p)
{
    static const uint64_t uuid[2] = {1, 1};

    p->offload.devices = (p->hosts - 1) / GBA_PORTS_MAX + 1;
    p->offload.model = predict_alloc(p, p->offload.devices, sizeof *p->offload.model);
    p->offload.effects = predict_alloc(p, 1, sizeof *p->offload.effects);
    p->offload.member = predict_alloc(p, p->actors, sizeof *p->offload.member);
    if (p->offload.model == NULL || p->offload.effects == NULL || p->memory.short_of)
        return GBA_ERR_NOMEM;
    for (uint32_t i = 0; i < p->offload.devices; i++)
        gba_model_init(&p->offload.model[i], GBA_GROUPS, GBA_PORTS_MAX, uuid);
    if (p->nodes)
        return domains_make(p);
    if (p->actors > GBA_MEMBERS_MAX)
        return GBA_ERR_TOO_MANY;
    p->offload.groups = 1;
    p->offload.group = predict_alloc(p, 1, sizeof *p->offload.group);
    return p->offload.group == NULL ? GBA_ERR_NOMEM : group_make(p, 0, 0, p->actors);
}

bool predict_group_serves(const struct predict *p, uint32_t actor)
{
    return p->offload.leaders == NULL || group_of(p, actor)->members > 1;
}

void predict_group_arrive(struct predict *p, uint32_t actor)
{
    const struct gba_cluster *c = p->cluster;
    const uint64_t at = predict_work(p, predict_rank_of(p, actor), 0, c->device_issue);

    p->offload.member[actor].seq++;
    predict_push(&p->queue, at + c->device_up, actor,
                 PREDICT_WHAT(PREDICT_ARRIVAL) | (p->offload.member[actor].seq & PREDICT_LOW));
}

bool predict_group_released(struct predict *p, uint32_t actor)
{
    return p->offload.member[actor].flag == p->offload.member[actor].seq;
}

/* An arrival reaches the device. */
static void device_take(struct predict *p, const struct predict_event *event)
{
    const struct gba_cluster *c = p->cluster;
    const uint32_t actor = event->who;
    struct predict_group *group = group_of(p, actor);
    struct gba_model_effects *effects = p->offload.effects;
    uint64_t at = event->time < group->free_at ? group->free_at : event->time;
    const uint32_t generation = group->model->group[group->id].record.generation;

    group->free_at = at + c->device_accept;
    gba_model_arrive(group->model, group->id, port_of(p, actor),
                     GBA_ARRIVAL(event->what & PREDICT_LOW, generation, actor - group->first),
                     effects);
    at += effects->completed ? c->device_match : 0;
    for (uint32_t i = 0; i < effects->releases; i++) {
        const struct gba_model_release *release = &effects->release[i];

        predict_push(&p->queue, at + i * c->device_release + c->device_down,
                     group->first + release->member,
                     PREDICT_WHAT(PREDICT_FLAG) | (release->sequence & PREDICT_LOW));
    }
}

bool predict_group_event(struct predict *p, const struct predict_event *event)
{
    const uint32_t actor = event->who;

    if (PREDICT_ARRIVAL == event->what >> 28) {
        device_take(p, event);
        return false;
    }
    p->offload.member[actor].flag = event->what & PREDICT_LOW; /* PREDICT_FLAG */
    if (!p->turns)
        predict_work(p, predict_rank_of(p, actor), event->time, 0);
    return !p->turns;
}
