/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue with due times, in a ring buffer that grows. */
#include "sim/switch/core/fifo.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_AT_FIRST 64u

/* Double the room; the items keep their order, and the oldest one moves to the front. */
static bool grow(struct gba_switch_fifo *fifo)
{
    uint32_t room = fifo->room == 0 ? ROOM_AT_FIRST : 2 * fifo->room;
    uint32_t tail = fifo->room - fifo->first; /* items from the first one to the end */
    struct gba_switch_item *items;

    if (room > GBA_SWITCH_FIFO_MAX)
        return false;
    items = calloc(room, sizeof(items[0]));
    if (items == NULL)
        return false;
    if (fifo->room != 0) {
        memcpy(items, fifo->items + fifo->first, tail * sizeof(items[0]));
        memcpy(items + tail, fifo->items, fifo->first * sizeof(items[0]));
    }
    free(fifo->items);
    fifo->items = items;
    fifo->room = room;
    fifo->first = 0;
    return true;
}

bool gba_switch_fifo_put(struct gba_switch_fifo *fifo, const struct gba_switch_item *item)
{
    struct gba_switch_item *place;

    if (fifo->count == fifo->room && !grow(fifo))
        return false;
    place = &fifo->items[(fifo->first + fifo->count) % fifo->room];
    *place = *item;
    if (fifo->count != 0 && place->due < fifo->last)
        place->due = fifo->last;
    fifo->last = place->due;
    fifo->count++;
    return true;
}

const struct gba_switch_item *gba_switch_fifo_first(const struct gba_switch_fifo *fifo)
{
    return fifo->count == 0 ? NULL : &fifo->items[fifo->first];
}

void gba_switch_fifo_drop(struct gba_switch_fifo *fifo)
{
    fifo->first = (fifo->first + 1) % fifo->room;
    fifo->count--;
}

void gba_switch_fifo_clear(struct gba_switch_fifo *fifo)
{
    free(fifo->items);
    *fifo = (struct gba_switch_fifo){.items = NULL};
}
