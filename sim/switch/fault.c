/* SPDX-License-Identifier: BSD-3-Clause */
/* Injected faults of connections and of the daemon. */
#include "sim/switch/fault.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>

#include "sim/switch/net/session.h"

struct entry {
    struct gba_switchd *daemon;
    struct event *timer;
    bool begun, held;
};

struct gba_faults {
    struct gba_switchd *daemon;
    struct entry entry[GBA_SWITCHD_FAULTS]; /* as daemon->options->fault; timer NULL: not needed */
};

static void wait_for(struct entry *entry, uint64_t ns)
{
    const struct timeval time = {.tv_sec = (time_t)(ns / 1000000000u),
                                 .tv_usec = (suseconds_t)(ns % 1000000000u / 1000u)};

    event_add(entry->timer, &time);
}

static const struct gba_switchd_fault *fault_of(const struct entry *entry)
{
    const struct gba_faults *faults = entry->daemon->faults;

    return &entry->daemon->options->fault[entry - faults->entry];
}

/* Begin to hold a port, or end the hold. At the end the port can be down, or have another
 * connection. */
static void hold(struct entry *entry, const struct gba_switchd_fault *fault)
{
    uint32_t port = (uint32_t)fault->number;

    entry->held = !entry->held;
    if (!gba_session_hold(entry->daemon, port, entry->held))
        return;
    gba_switchd_log(GBA_SWITCHD_WARNING, "port %" PRIu32 ": %s by --fault", port,
                    entry->held ? "held" : "no longer held");
    if (entry->held)
        wait_for(entry, fault->duration);
}

static void on_time(evutil_socket_t fd, short what, void *context)
{
    struct entry *entry = context;
    const struct gba_switchd_fault *fault = fault_of(entry);

    (void)fd;
    (void)what;
    switch (fault->kind) {
    case GBA_SWITCHD_CUT:
        gba_session_cut(entry->daemon, (uint32_t)fault->number);
        break;
    case GBA_SWITCHD_HOLD:
        hold(entry, fault);
        break;
    default:
        gba_switchd_log(GBA_SWITCHD_WARNING, "killed by --fault");
        raise(SIGKILL);
    }
    gba_session_flush(entry->daemon);
}

static void on_port_up(struct gba_switchd *daemon, uint32_t port)
{
    for (uint32_t i = 0; i < daemon->options->faults; i++) {
        const struct gba_switchd_fault *fault = &daemon->options->fault[i];
        struct entry *entry = &daemon->faults->entry[i];

        if (entry->timer == NULL || entry->begun || fault->kind == GBA_SWITCHD_DIE ||
            fault->number != port)
            continue;
        entry->begun = true;
        wait_for(entry, fault->time);
    }
}

struct gba_faults *gba_faults_start(struct gba_switchd *daemon)
{
    const struct gba_switchd_options *options = daemon->options;
    struct gba_faults *faults = calloc(1, sizeof(*faults));

    if (faults == NULL)
        return NULL;
    faults->daemon = daemon;
    daemon->faults = faults;
    daemon->port_up = on_port_up;
    for (uint32_t i = 0; i < options->faults; i++) {
        struct entry *entry = &faults->entry[i];

        entry->daemon = daemon;
        if (options->fault[i].kind == GBA_SWITCHD_DROP)
            continue;
        entry->timer = evtimer_new(daemon->base, on_time, entry);
        if (entry->timer == NULL) {
            gba_faults_stop(faults);
            return NULL;
        }
        if (options->fault[i].kind == GBA_SWITCHD_DIE)
            wait_for(entry, options->fault[i].time);
    }
    return faults;
}

void gba_faults_stop(struct gba_faults *faults)
{
    if (faults == NULL)
        return;
    faults->daemon->port_up = NULL;
    faults->daemon->faults = NULL;
    for (uint32_t i = 0; i < GBA_SWITCHD_FAULTS; i++) {
        if (faults->entry[i].timer != NULL)
            event_free(faults->entry[i].timer);
    }
    free(faults);
}
