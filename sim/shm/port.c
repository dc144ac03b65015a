/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ports of the simulated device. A process has a port of the model for each time that it opened
 * the device: the control unit binds memberships and allocations to it. When the process has died,
 * the next process that looks takes its port down as a whole: all that the port held is taken back,
 * and only then another process can claim the port.
 */
#include <unistd.h>

#include "gba/base/log.h"
#include "gba/base/process.h"
#include "sim/model/control.h"
#include "sim/model/event.h"
#include "sim/shm/lock.h"
#include "sim/shm/sim.h"

/* Without the device's lock the two words may be of two claims. */
static bool is_dead(const struct gba_sim_port *port)
{
    const uint32_t pid = (uint32_t)gba_word_load_relaxed(&port->pid);

    return 0 != pid && !gba_process_alive(pid, gba_word_load_relaxed(&port->start));
}

uint32_t gba_sim_holder_pid(struct gba_sim_segment *segment, uint32_t holder)
{
    if (GBA_SIM_NOBODY == holder || holder > GBA_PORTS_MAX)
        return 0;
    return (uint32_t)gba_word_load_relaxed(&segment->port[holder - 1].pid);
}

/* Whether the group has anything of that port. */
static bool names(const struct gba_model_group *group, uint32_t port)
{
    return group->record.holder == 1 + port || 0 != group->record.events[port] ||
           gba_model_concerns(group, port);
}

/* Take back what a port holds in a group. Returns false if the group cannot be locked. */
static bool group_down(struct gba_sim_segment *segment, uint32_t port, uint32_t group)
{
    const struct gba_model_record *record = &segment->model.group[group].record;
    struct gba_model_effects effects;
    uint32_t taken = 0;

    if (GBA_OK != gba_sim_group_lock(segment, group))
        return false;
    if (names(&segment->model.group[group], port)) {
        taken = record->present;
        gba_sim_journal_begin(segment, group, GBA_SIM_JOURNAL_GROUP);
        gba_model_clear(&effects);
        gba_control_port_leave(&segment->model, port, group, &effects);
        gba_sim_journal_end(segment, group);
        taken -= record->present;
    }
    gba_sim_group_unlock(segment, group);
    if (0 != taken)
        gba_log(GBA_LOG_DEBUG, "sim: port %u is down: group %u: took back %u memberships", port,
                group, taken);
    return true;
}

/* Take a port down. Restartable: the port belongs to its process until nothing names the port any
 * more, so that no process can claim it before. Under the device's lock, and so never twice at a
 * time. */
static void port_down(struct gba_sim_segment *segment, uint32_t port)
{
    bool down = true;

    for (uint32_t group = 0; group < GBA_GROUPS; group++)
        down = group_down(segment, port, group) && down;
    if (!down)
        return;
    segment->model.port[port].up = 0;
    gba_word_store_release(&segment->port[port].pid, 0);
}

void gba_sim_reap_locked(struct gba_sim_segment *segment)
{
    for (uint32_t port = 0; port < GBA_PORTS_MAX; port++)
        if (is_dead(&segment->port[port]))
            port_down(segment, port);
}

void gba_sim_reap(struct gba_sim_dev *dev)
{
    uint32_t port = 0;

    /* In most cases no process has died, and no lock is needed. */
    while (port < GBA_PORTS_MAX && !is_dead(&dev->segment->port[port]))
        port++;
    if (GBA_PORTS_MAX == port || GBA_OK != gba_sim_device_lock(dev->segment))
        return;
    gba_sim_reap_locked(dev->segment);
    gba_sim_device_unlock(dev->segment);
}

/* dev->port of a process, and the holder in it. */
static uint64_t pack(uint32_t holder)
{
    return (uint64_t)getpid() << 32 | holder;
}

uint32_t gba_sim_holder(const struct gba_sim_dev *dev)
{
    uint32_t holder = (uint32_t)gba_word_load_relaxed(&dev->port);

    return pack(holder) == gba_word_load_relaxed(&dev->port) ? holder : GBA_SIM_NOBODY;
}

static uint32_t find_free(const struct gba_sim_segment *segment)
{
    uint32_t port = 0;

    while (port < GBA_PORTS_MAX && 0 != gba_word_load_acquire(&segment->port[port].pid))
        port++;
    return port;
}

/* Under the device's lock. */
static gba_status_t claim(struct gba_sim_dev *dev)
{
    struct gba_sim_segment *segment = dev->segment;
    struct gba_process self;
    uint32_t port = find_free(segment);

    if (GBA_PORTS_MAX == port) {
        gba_sim_reap_locked(segment);
        port = find_free(segment);
    }
    if (GBA_PORTS_MAX == port) {
        gba_log(GBA_LOG_ERROR, "sim: all %u ports of the simulated device are in use",
                GBA_PORTS_MAX);
        return GBA_ERR_BUSY;
    }
    /* Restartable: a process that is killed before the last store has no port, and one that is
     * killed after it is a dead process with a port. */
    gba_process_read((uint32_t)getpid(), &self);
    gba_model_port_up(&segment->model, port, 0); /* a job has a limit of groups, and no port has */
    gba_word_store_relaxed(&segment->port[port].start, self.start);
    gba_word_store_release(&segment->port[port].pid, (uint64_t)getpid());
    gba_word_store_relaxed(&dev->port, pack(1 + port));
    return GBA_OK;
}

gba_status_t gba_sim_port_claim(struct gba_sim_dev *dev, uint32_t *holder)
{
    gba_status_t status = GBA_OK;

    *holder = gba_sim_holder(dev);
    if (GBA_SIM_NOBODY != *holder)
        return GBA_OK;
    status = gba_sim_device_lock(dev->segment);
    if (GBA_OK != status)
        return status;
    if (GBA_SIM_NOBODY == gba_sim_holder(dev)) /* no other thread was faster */
        status = claim(dev);
    *holder = gba_sim_holder(dev);
    gba_sim_device_unlock(dev->segment);
    return status;
}

void gba_sim_port_release(struct gba_sim_dev *dev)
{
    uint32_t holder = gba_sim_holder(dev);

    if (GBA_SIM_NOBODY == holder || GBA_OK != gba_sim_device_lock(dev->segment))
        return;
    port_down(dev->segment, holder - 1);
    gba_sim_device_unlock(dev->segment);
}
