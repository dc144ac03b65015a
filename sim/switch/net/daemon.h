/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internal state of gba-switchd. Everything runs in one thread, in callbacks of one event loop.
 * Layers, lowest first: the core (switch.h), report, session, listen, main.
 */
#ifndef GBA_SIM_SWITCH_NET_DAEMON_H
#define GBA_SIM_SWITCH_NET_DAEMON_H

#include <sys/queue.h>

#include <event2/event.h>

#include "sim/switch/core/options.h"
#include "sim/switch/core/protocol.h"
#include "sim/switch/core/switch.h"

struct gba_session; /* session.h */

struct gba_switchd {
    const struct gba_switchd_options *options;
    struct event_base *base;
    struct gba_switch *device;
    uint64_t started;                        /* of gba_clock_ns */
    uint8_t secret[GBA_SWITCH_SECRET_BYTES]; /* of the key file */
    uint32_t connections;                    /* now */
    uint64_t accepted, refused, dropped;     /* connections since the start */
    LIST_HEAD(gba_session_list, gba_session) sessions;
    /* Sessions that have data to send, or that end. */
    TAILQ_HEAD(gba_session_queue, gba_session) dirty;
};

#endif
