/* SPDX-License-Identifier: BSD-3-Clause */
/* The shape of a candidate's path, and its description. */
#include <stdio.h>
#include <string.h>

#include "gba/agree/shape.h"

#include "gba/path/path_shared.h"
#include "gba/transport/node_flags.h"
#include "gba/transport/shm.h"

#define ALGORITHM_TEXT (GBA_CHOICE_NAME + 5u)

/* The end of the description of a path that replaces the requested algorithm. */
#define REPLACED ", because central (v3) needs to read remote flags"

/* The host of a member, if there are several hosts. */
static const struct gba_host *host_of(const void *info, uint32_t rank)
{
    static const struct gba_host one;
    const struct gba_info *known = info;

    return known->one_host ? &one : &known->members[rank].host;
}

static const struct gba_port *port_of(const void *info, uint32_t rank)
{
    return &((const struct gba_info *)info)->members[rank].port;
}

/* The device of all leaders. */
static const struct gba_port *port_same(const void *port, uint32_t rank)
{
    (void)rank;
    return port;
}

/* With a core for each member of the host, and if no parameter decides: dissemination and the
 * radices that a short trial compares, that of the choice first. */
static void schedules_make(struct gba_shape *shape, const struct gba_info *info,
                           const struct gba_choice *choice)
{
    uint8_t radices[GBA_SCHEDULES_MOST] = {0};
    const uint32_t count = 1 + gba_choices_radices(info, info->size, &radices[1]);

    if (info->oversubscribed || GBA_ALGORITHM_AUTO != info->terms.algorithm ||
        (GBA_ALGORITHM_V1 != choice->algorithm && GBA_ALGORITHM_V2 != choice->algorithm))
        return;
    shape->radices[shape->schedules++] = choice->radix;
    for (uint32_t i = 0; i < count; i++)
        if (radices[i] != choice->radix && shape->schedules < GBA_SCHEDULES_MOST)
            shape->radices[shape->schedules++] = radices[i];
    shape->slots = 0;
    for (uint32_t i = 0; i < shape->schedules; i++)
        shape->slots += gba_shared_slots(info->size, shape->radices[i]);
}

/* Assign the node leaders to groups. */
static gba_status_t domains_make(struct gba_shape *shape, const struct gba_info *info,
                                 uint32_t switch_index)
{
    const struct gba_switches *switches = &info->switches;
    const struct gba_port same = {.members_max = switch_index < switches->count
                                                     ? switches->members_max[switch_index]
                                                     : info->terms.members_max};
    const bool central = GBA_ALGORITHM_V3 == info->terms.algorithm;
    const bool each = GBA_AT_EACH == switch_index;
    gba_status_t status =
        gba_domains_init(&shape->domains, shape->topology, each ? port_of : port_same,
                         each ? (const void *)info : &same);
    int32_t upper = info->terms.algorithm;

    if (GBA_OK != status)
        return status;
    /* The domain leaders use the runtime's messages without pull, because a domain leader whose
     * flag is read may have left. */
    if (GBA_ALGORITHM_AUTO == upper)
        upper = gba_algorithm_auto(shape->domains.count);
    shape->algorithm = &gba_algorithms[central ? GBA_ALGORITHM_V1 : upper];
    shape->replaced = shape->domains.count > 1 && central;
    return GBA_OK;
}

gba_status_t gba_shape_make(struct gba_shape *shape, struct gba_topology *topology,
                            const struct gba_info *info, const struct gba_candidate *candidate,
                            uint32_t rank)
{
    const struct gba_choice *choice = &candidate->choice;
    const bool nodes = GBA_HIERARCHY_NODE == choice->hierarchy, one_host = info->one_host;
    gba_status_t status = GBA_OK;

    *shape = (struct gba_shape){.topology = topology,
                                .radix = 0 != choice->radix ? choice->radix
                                                            : gba_terms_radix(&info->terms),
                                .sequence = info->terms.sequence,
                                .slots = 1}; /* for gba_node_mark */
    topology->size = info->size;
    if (GBA_KIND_ALL == candidate->kind || GBA_KIND_FALLBACK == candidate->kind)
        return GBA_OK;
    if (topology->locals == NULL)
        status = gba_topology_init(topology, rank, info->size, host_of, info);
    if (GBA_OK != status)
        return status;
    if (GBA_KIND_LEADERS == candidate->kind)
        shape->kind = GBA_SHAPE_HYBRID;
    else if (one_host)
        shape->kind = nodes ? GBA_SHAPE_COUNTER : GBA_SHAPE_SHARED;
    else
        shape->kind = nodes ? GBA_SHAPE_HYBRID : GBA_SHAPE_MESSAGES;
    if (GBA_SHAPE_HYBRID == shape->kind && !info->oversubscribed &&
        topology->local_size > GBA_NODE_FLAGS_ABOVE)
        shape->slots = GBA_NODE_FLAGS_SLOTS;
    if (GBA_KIND_LEADERS == candidate->kind)
        return domains_make(shape, info, candidate->switch_index);
    if (GBA_SHAPE_COUNTER != shape->kind)
        shape->algorithm = &(one_host ? gba_shm_algorithms : gba_algorithms)[choice->algorithm];
    shape->replaced = GBA_ALGORITHM_V3 == info->terms.algorithm && !one_host && !info->pull;
    if (GBA_SHAPE_SHARED == shape->kind)
        shape->slots = shape->algorithm->schedule->slots(info->size, shape->radix);
    if (GBA_SHAPE_SHARED == shape->kind)
        schedules_make(shape, info, choice);
    return GBA_OK;
}

struct gba_refusal gba_shape_refusal(const struct gba_shape *shape, const struct gba_info *info)
{
    const struct gba_domains *domains = &shape->domains;

    /* The barrier of the domain leaders is a software barrier, so software must be enabled on all
     * members. If no two nodes share a device, a device has nothing to do. */
    if (1 == domains->count || (domains->largest > 1 && GBA_OK == info->disabled.reason))
        return (struct gba_refusal){GBA_OK, 0};
    if (1 == domains->switches)
        return (struct gba_refusal){GBA_ERR_TOO_MANY, 0};
    return (struct gba_refusal){GBA_ERR_OTHER_DEVICE, domains->domain_leaders[1]};
}

bool gba_shape_shares(const struct gba_shape *shape)
{
    return 1 == shape->topology->nodes ||
           (GBA_SHAPE_HYBRID == shape->kind && shape->topology->local_size > 1);
}

/* "dissemination (v1)", "radix 4 (v2)". */
static const char *algorithm_describe(const struct gba_shape *shape, char text[ALGORITHM_TEXT])
{
    const struct gba_algorithm *algorithm = shape->algorithm;
    char radix[12] = "";

    if (algorithm->by_radix)
        snprintf(radix, sizeof radix, " %u", shape->radix);
    snprintf(text, ALGORITHM_TEXT, "%s%s%s", algorithm->name, radix, algorithm->source);
    return text;
}

/* For "%u member%s". */
#define MEMBERS(count) (count), 1 == (count) ? "" : "s"

static void leaders_describe(const struct gba_shape *shape, const char *group, char *why,
                             size_t len)
{
    const struct gba_topology *topology = shape->topology;
    char algorithm[ALGORITHM_TEXT];

    if (shape->domains.count > 1)
        snprintf(why, len,
                 "groups among the leaders of %u hosts, %s among %u switch domains, %u member%s%s",
                 topology->nodes, algorithm_describe(shape, algorithm), shape->domains.count,
                 MEMBERS(topology->size), shape->replaced ? REPLACED : "");
    else
        snprintf(why, len, "%s among the leaders of %u host%s, %u member%s", group, topology->nodes,
                 1 == topology->nodes ? "" : "s", MEMBERS(topology->size));
}

static void software_describe(const struct gba_shape *shape, const gba_remote_t *remote, char *why,
                              size_t len)
{
    const struct gba_topology *topology = shape->topology;
    char algorithm[ALGORITHM_TEXT];
    const char *carrier = remote == NULL || remote->name == NULL ? "messages" : remote->name;

    if (GBA_SHAPE_COUNTER == shape->kind)
        snprintf(why, len, "counter in shared memory, %u member%s on one host",
                 MEMBERS(topology->size));
    else if (GBA_SHAPE_HYBRID != shape->kind)
        snprintf(why, len, "%s through %s, %u member%s on %u host%s%s",
                 algorithm_describe(shape, algorithm),
                 1 == topology->nodes ? "shared memory" : carrier, MEMBERS(topology->size),
                 topology->nodes, 1 == topology->nodes ? "" : "s", shape->replaced ? REPLACED : "");
    else
        snprintf(why, len, "%s among the leaders of %u hosts, %u member%s, at most %u on a host%s",
                 algorithm_describe(shape, algorithm), topology->nodes, MEMBERS(topology->size),
                 topology->largest, shape->replaced ? REPLACED : "");
}

void gba_shape_describe(const struct gba_shape *shape, const struct gba_candidate *candidate,
                        const char *group, const gba_remote_t *remote, char *why, size_t len)
{
    if (GBA_KIND_ALL == candidate->kind)
        snprintf(why, len, "%s, %u member%s", group, MEMBERS(shape->topology->size));
    else if (GBA_KIND_LEADERS == candidate->kind)
        leaders_describe(shape, group, why, len);
    else
        software_describe(shape, remote, why, len);
}
