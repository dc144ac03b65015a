/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/path/node.h"

#include <string.h>

#include "gba/base/log.h"
#include "gba/base/place.h"

void gba_node_init(struct gba_node *node, uint32_t rank)
{
    memset(node, 0, sizeof *node);
    node->rank = rank;
    node->segment.file.number = -1;
}

/* The segment is mapped: locate this member's part of it. */
static gba_status_t node_place(struct gba_node *node, const struct gba_shape *shape)
{
    const struct gba_segment *segment = &node->segment;
    const uint32_t local_rank = shape->topology->local_rank;

    node->locals = shape->topology->locals;
    node->mark = gba_segment_slots(segment, local_rank);
    node->failed = gba_segment_word(segment, GBA_SEGMENT_FAILED);
    gba_node_barrier_init(&node->barrier, segment, shape->sequence);
    gba_shm_init(&node->shm, segment, local_rank, 0);
    if (segment->slots > 1)
        gba_word_store_release(gba_segment_place(segment, local_rank), gba_place_get());
    node->counts = GBA_SHAPE_HYBRID != shape->kind || segment->slots < GBA_NODE_FLAGS_SLOTS;
    if (node->counts)
        return GBA_OK;
    return gba_node_flags_open(&node->flags, segment, shape->sequence);
}

gba_status_t gba_node_create(struct gba_node *node, const struct gba_shape *shape,
                             struct gba_segment_handle *handle)
{
    gba_status_t status = gba_shm_segment_create(shape->topology->local_size, shape->slots,
                                                 shape->sequence, &node->segment, handle);

    return GBA_OK == status ? node_place(node, shape) : status;
}

gba_status_t gba_node_attach(struct gba_node *node, const struct gba_shape *shape,
                             const struct gba_segment_handle *handle)
{
    gba_status_t status = gba_shm_segment_attach(handle, &node->segment);

    return GBA_OK == status ? node_place(node, shape) : status;
}

void gba_node_join(struct gba_node *node, uint32_t local_rank)
{
    if (node->flags.words == NULL)
        return;
    gba_node_flags_join(&node->flags, &node->segment, local_rank);
    node->barrier.release = node->flags.release;
    if (0 == local_rank)
        gba_log(GBA_LOG_DEBUG, "the node of member %u gathers %u members by flags, in %u groups",
                node->rank, node->segment.members, node->flags.releases);
}

void gba_node_close(struct gba_node *node)
{
    gba_node_flags_close(&node->flags);
    if (gba_node_shares(node))
        gba_shm_segment_close(&node->segment);
}

uint32_t gba_ranks_find(const uint32_t *ranks, uint32_t count, uint32_t member)
{
    for (uint32_t i = 0; i < count && ranks[i] <= member; i++)
        if (ranks[i] == member)
            return i;
    return UINT32_MAX;
}

uint32_t gba_node_local(const struct gba_node *node, uint32_t member)
{
    return gba_ranks_find(node->locals, node->segment.members, member);
}
