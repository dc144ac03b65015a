/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of gba-switchd. */
#ifndef GBA_SIM_SWITCH_COMMAND_LINE_H
#define GBA_SIM_SWITCH_COMMAND_LINE_H

#include <stddef.h>

#include "sim/switch/core/options.h"

/* The caller's next step after parsing. */
enum gba_switchd_action { GBA_SWITCHD_RUN, GBA_SWITCHD_EXIT_OK, GBA_SWITCHD_EXIT_USAGE };

/* Parse the command line. Prints the help, the version, or an error. */
enum gba_switchd_action gba_switchd_options_parse(int argc, char **argv,
                                                  struct gba_switchd_options *options);

/* Parse the text of --latency, "up=1us,match=200ns". *latency keeps the values that the text does
 * not name. message: what is wrong, if the result is false. */
bool gba_switchd_latency_parse(const char *text, struct gba_switch_latency *latency, char *message,
                               size_t size);

#endif
