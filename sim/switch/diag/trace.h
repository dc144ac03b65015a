/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trace of the switch that Perfetto (https://ui.perfetto.dev) opens: a track for each group, with
 * a slice for each round, from the first arrival to the last one, and below each port a track for
 * each member, with a slice from its arrival to its release. For the thread of switch.h.
 */
#ifndef GBA_SIM_SWITCH_DIAG_TRACE_H
#define GBA_SIM_SWITCH_DIAG_TRACE_H

#include "sim/switch/core/switch.h"

struct gba_switch_trace;

/* Make the file, mode 0600, or empty it. Returns NULL with errno on failure. */
struct gba_switch_trace *gba_switch_trace_open(const char *path);

/* Write the buffered data and close the file. Returns false if the trace is incomplete, for
 * instance because the disk is full. NULL: true. */
bool gba_switch_trace_close(struct gba_switch_trace *trace);

/* The callbacks for the core. Their context is the trace. */
extern const struct gba_switch_observer gba_switch_trace_observer;

#endif
