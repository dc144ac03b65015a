/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue of the items that travel over a link of the switch in one direction, each with a due
 * time. The items keep their order, whatever their delays. Not thread-safe. */
#ifndef GBA_SIM_SWITCH_CORE_FIFO_H
#define GBA_SIM_SWITCH_CORE_FIFO_H

#include <stdbool.h>
#include <stdint.h>

struct gba_switch_item {
    uint64_t due;   /* ns; raised to that of the item before */
    uint64_t value; /* of a write to a doorbell; address of a release store */
    uint32_t kind;  /* defined by the owner of the queue */
    uint32_t group;
    uint32_t number; /* register of the doorbell; member of a release store */
    uint32_t sequence;
};

/* All 0: empty. */
struct gba_switch_fifo {
    struct gba_switch_item *items;
    uint32_t room, first, count;
    uint64_t last; /* due time of the newest item */
};

/* Maximum number of items of a queue. It bounds the memory that a client can use. */
#define GBA_SWITCH_FIFO_MAX 32768u

/* Append a copy of the item. Returns false, without an effect, if the queue is full or out of
 * memory. */
bool gba_switch_fifo_put(struct gba_switch_fifo *fifo, const struct gba_switch_item *item);

/* The oldest item, or NULL. Valid until the next call. */
const struct gba_switch_item *gba_switch_fifo_first(const struct gba_switch_fifo *fifo);

/* Remove the oldest item. The queue is not empty. */
void gba_switch_fifo_drop(struct gba_switch_fifo *fifo);

/* Remove all items and free the memory. */
void gba_switch_fifo_clear(struct gba_switch_fifo *fifo);

#endif
