/* SPDX-License-Identifier: BSD-3-Clause */
/* The links of the switch. gba_switch_emit sends releases and interrupts of the device. With a
 * latency they wait in a queue of their port, as do arrivals on their way to the device. */
#include <stddef.h>

#include "sim/switch/core/state.h"

/* Kinds of items of the queues. */
enum { ITEM_RING, ITEM_RELEASE, ITEM_INTERRUPT };

/* Uniform random numbers, the same for the same seed (splitmix64). */
static uint64_t next_random(struct gba_switch *device)
{
    uint64_t z = device->random += 0x9e3779b97f4a7c15ull;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

static bool is_lost(struct gba_switch *device)
{
    uint32_t loss = device->config.latency.loss;

    return loss != 0 && next_random(device) % 1000000 < loss;
}

static uint64_t jitter(struct gba_switch *device)
{
    uint32_t most = device->config.latency.jitter;

    return most == 0 ? 0 : next_random(device) % (1ull + most);
}

static uint64_t now(const struct gba_switch *device)
{
    return device->config.now(device->config.context);
}

static void wake_at(struct gba_switch *device, uint64_t due)
{
    if (due >= device->armed)
        return;
    device->armed = due;
    device->config.wake(device->config.context, due);
}

/* --- From the device to the sessions --- */

static void deliver(struct gba_switch *device, uint32_t number, const struct gba_switch_item *item)
{
    struct gba_switch_port *port = &device->port[number];

    if (!port->attached)
        return;
    if (item->kind == ITEM_RELEASE)
        port->ops.release(port->session, item->value, item->group, item->number, item->sequence);
    else
        port->ops.interrupt(port->session);
}

static void deliver_first(struct gba_switch *device, uint32_t number)
{
    struct gba_switch_fifo *down = &device->port[number].down;
    struct gba_switch_item item = *gba_switch_fifo_first(down);

    gba_switch_fifo_drop(down);
    deliver(device, number, &item);
}

void gba_switch_push_down(struct gba_switch *device, uint32_t port)
{
    while (gba_switch_fifo_first(&device->port[port].down) != NULL)
        deliver_first(device, port);
}

/* Send an item to a session, now or later. after: ns from now until it leaves the switch. */
static void send_item(struct gba_switch *device, uint32_t number, struct gba_switch_item *item,
                      uint64_t after)
{
    struct gba_switch_port *port = &device->port[number];

    if (!device->delayed) {
        deliver(device, number, item);
        return;
    }
    item->due = now(device) + after + device->config.latency.down + jitter(device);
    if (gba_switch_fifo_put(&port->down, item)) {
        wake_at(device, gba_switch_fifo_first(&port->down)->due);
        return;
    }
    /* The queue is full. Deliver all items now, because their order must hold. */
    gba_switch_push_down(device, number);
    deliver(device, number, item);
}

void gba_switch_emit(struct gba_switch *device, uint32_t group)
{
    const struct gba_model_effects *effects = &device->effects;
    const struct gba_switch_latency *latency = &device->config.latency;
    uint64_t after = effects->completed ? latency->match : 0;

    for (uint32_t i = 0; i < effects->releases; i++) {
        const struct gba_model_release *release = &effects->release[i];
        struct gba_switch_item item = {.kind = ITEM_RELEASE,
                                       .value = release->address,
                                       .group = group,
                                       .number = release->member,
                                       .sequence = release->sequence};

        if (!is_lost(device))
            send_item(device, release->port, &item, after);
        after += latency->release;
    }
    if (!effects->interrupt)
        return;
    for (uint32_t port = 0; port < device->ports_used; port++) {
        struct gba_switch_item item = {.kind = ITEM_INTERRUPT};

        if ((effects->interrupts[port / 64] >> port % 64 & 1) != 0)
            send_item(device, port, &item, after);
    }
}

/* --- From the sessions to the device --- */

uint64_t gba_switch_make(struct gba_switch *device, const struct gba_model_access *access)
{
    int group = gba_model_group_of(&device->model, access->address);
    uint64_t value;

    gba_model_access(&device->model, access, &device->effects);
    value = device->effects.value; /* emit calls sessions, which make no accesses in the calls */
    gba_switch_emit(device, group < 0 ? 0 : (uint32_t)group);
    return value;
}

/* An arrival at a group that exists. */
static void arrive_now(struct gba_switch *device, uint32_t port, const struct gba_switch_item *item)
{
    if (device->model.group[item->group].core.arrived_count == 0)
        device->waiting_since[item->group] = now(device);
    gba_model_arrive(&device->model, item->group, port, item->value, &device->effects);
    gba_switch_emit(device, item->group);
}

static void ring_now(struct gba_switch *device, uint32_t port, const struct gba_switch_item *item)
{
    struct gba_model_access access = {.write = true,
                                      .width = 8,
                                      .port = (uint16_t)port,
                                      .address = GBA_DOORBELL_BASE +
                                                 item->group * GBA_DOORBELL_STRIDE + item->number,
                                      .value = item->value};

    if (item->number == GBA_BELL_ARRIVAL && item->group < device->model.groups) {
        arrive_now(device, port, item);
        return;
    }
    /* The BAR has no page for the group. Count the access as one behind the BAR. */
    if (item->group >= GBA_GROUPS)
        access.address = GBA_BAR_SIZE;
    gba_switch_make(device, &access);
}

static void ring_first(struct gba_switch *device, uint32_t port)
{
    struct gba_switch_item item = *gba_switch_fifo_first(&device->port[port].up);

    gba_switch_fifo_drop(&device->port[port].up);
    ring_now(device, port, &item);
}

void gba_switch_push_up(struct gba_switch *device, uint32_t port)
{
    while (gba_switch_fifo_first(&device->port[port].up) != NULL)
        ring_first(device, port);
}

void gba_switch_ring(struct gba_switch *device, uint32_t port, uint32_t group, uint32_t bell,
                     uint64_t value)
{
    struct gba_switch_fifo *up = &device->port[port].up;
    struct gba_switch_item item = {
        .kind = ITEM_RING, .value = value, .group = group, .number = bell};

    if (!device->port[port].attached)
        return;
    if (bell == GBA_BELL_ARRIVAL && is_lost(device))
        return;
    if (device->delayed) {
        item.due = now(device) + device->config.latency.up + jitter(device);
        if (gba_switch_fifo_put(up, &item)) {
            wake_at(device, gba_switch_fifo_first(up)->due);
            return;
        }
        gba_switch_push_up(device, port);
    }
    ring_now(device, port, &item);
}

/* Process the oldest item of all ports and both directions if it is due at `time`. Returns whether
 * it was due. *next: its due time; UINT64_MAX: there is no item. */
static bool run_one(struct gba_switch *device, uint64_t time, uint64_t *next)
{
    uint32_t port = 0;
    bool up = false;

    *next = UINT64_MAX;
    for (uint32_t i = 0; i < device->ports_used; i++) {
        const struct gba_switch_item *to_device = gba_switch_fifo_first(&device->port[i].up);
        const struct gba_switch_item *to_session = gba_switch_fifo_first(&device->port[i].down);

        if (to_device != NULL && to_device->due < *next) {
            *next = to_device->due;
            port = i;
            up = true;
        }
        if (to_session != NULL && to_session->due < *next) {
            *next = to_session->due;
            port = i;
            up = false;
        }
    }
    if (*next > time)
        return false;
    if (up)
        ring_first(device, port);
    else
        deliver_first(device, port);
    return true;
}

void gba_switch_run(struct gba_switch *device)
{
    uint64_t time = now(device), next;

    device->armed = 0; /* the loop requests no wake-up */
    while (run_one(device, time, &next))
        continue;
    device->armed = UINT64_MAX;
    wake_at(device, next);
}
