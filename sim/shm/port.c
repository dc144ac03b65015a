/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ports of the simulated device. A process has a port of the model for each time that it opened
 * the device: the control unit binds memberships and allocations to it. When the process has died,
 * the next process that looks takes its port down: all that the port held is taken back, and
 * another process can claim the port.
 */
#include <unistd.h>

#include "gba/base/log.h"
#include "gba/base/process.h"
#include "sim/shm/lock.h"
#include "sim/shm/sim.h"

/* Without the locks the two words may be of two claims. */
static bool is_dead(const struct gba_sim_port *port)
{
    const uint32_t pid = (uint32_t)gba_word_load_acquire(&port->pid);

    return 0 != pid && !gba_process_alive(pid, gba_word_load_relaxed(&port->start));
}

uint32_t gba_sim_holder_pid(struct gba_sim_segment *segment, uint32_t holder)
{
    if (GBA_SIM_NOBODY == holder || holder > GBA_PORTS_MAX)
        return 0;
    return (uint32_t)gba_word_load_relaxed(&segment->port[holder - 1].pid);
}

/* With all groups locked. */
static void port_down(struct gba_sim_segment *segment, uint32_t port)
{
    struct gba_model_effects effects;

    gba_model_port_down(&segment->model, port, &effects);
    gba_word_store_release(&segment->port[port].pid, 0);
}

/* In most cases no process has died, and no lock is needed. */
void gba_sim_reap(struct gba_sim_segment *segment)
{
    for (uint32_t port = 0; port < GBA_PORTS_MAX; port++) {
        bool died;

        if (!is_dead(&segment->port[port]) || GBA_OK != gba_sim_lock_all(segment))
            continue;
        died = is_dead(&segment->port[port]);
        if (died)
            port_down(segment, port);
        gba_sim_unlock_all(segment);
        if (died)
            gba_log(GBA_LOG_DEBUG, "sim: the process of port %u has died", port);
    }
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

/* With all groups locked. Returns GBA_OK, or GBA_ERR_BUSY: no port is free. */
static gba_status_t claim(struct gba_sim_dev *dev, uint64_t start)
{
    struct gba_sim_segment *segment = dev->segment;

    for (uint32_t port = 0; port < GBA_PORTS_MAX; port++) {
        if (0 != gba_word_load_relaxed(&segment->port[port].pid))
            continue;
        /* The quota is 0: a job has a limit of groups, and no port has. */
        gba_model_port_up(&segment->model, port, 0);
        gba_word_store_relaxed(&segment->port[port].start, start);
        gba_word_store_release(&segment->port[port].pid, (uint64_t)getpid());
        gba_word_store_relaxed(&dev->port, pack(1 + port));
        return GBA_OK;
    }
    return GBA_ERR_BUSY;
}

gba_status_t gba_sim_port_claim(struct gba_sim_dev *dev, uint32_t *holder)
{
    struct gba_process self;
    gba_status_t status;

    *holder = gba_sim_holder(dev);
    if (GBA_SIM_NOBODY != *holder)
        return GBA_OK;
    gba_sim_reap(dev->segment);
    gba_process_read((uint32_t)getpid(), &self);
    status = gba_sim_lock_all(dev->segment);
    if (GBA_OK != status)
        return status;
    if (GBA_SIM_NOBODY == gba_sim_holder(dev)) /* no other thread was faster */
        status = claim(dev, self.start);
    *holder = gba_sim_holder(dev);
    gba_sim_unlock_all(dev->segment);
    if (GBA_ERR_BUSY == status)
        gba_log(GBA_LOG_ERROR, "sim: all %u ports of the simulated device are in use",
                GBA_PORTS_MAX);
    return status;
}

void gba_sim_port_release(struct gba_sim_dev *dev)
{
    uint32_t holder = gba_sim_holder(dev);

    if (GBA_SIM_NOBODY == holder || GBA_OK != gba_sim_lock_all(dev->segment))
        return;
    port_down(dev->segment, holder - 1);
    gba_sim_unlock_all(dev->segment);
}
