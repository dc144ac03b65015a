/* SPDX-License-Identifier: BSD-3-Clause */
/* The log of gba-switchd: one line for each event, to standard error. For one thread. */
#ifndef GBA_SIM_SWITCH_CORE_LOG_H
#define GBA_SIM_SWITCH_CORE_LOG_H

#include <stdbool.h>

enum gba_switchd_level {
    GBA_SWITCHD_ERROR,
    GBA_SWITCHD_WARNING,
    GBA_SWITCHD_INFO,
    GBA_SWITCHD_DEBUG
};

/* Print events of that level and the more important ones. Default: GBA_SWITCHD_INFO. */
void gba_switchd_log_level(enum gba_switchd_level level);

/* Parse the name of a level: error, warning, info, debug. */
bool gba_switchd_log_parse(const char *name, enum gba_switchd_level *level);

/* Print a line. A line for the journal of systemd begins with a syslog priority. */
void gba_switchd_log(enum gba_switchd_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
