/* SPDX-License-Identifier: BSD-3-Clause */
/* The reader of the record "barriers". Communicators of the same name and size, and runs, are
 * added. */
#include <stdlib.h>
#include <string.h>

#include "contrib/perf/program.h"

bool perf_barriers_read(struct perf_report *report, const char *setting, const char *rest)
{
    struct perf_barriers one = {.comms = 0}, *all = report->barriers;
    size_t i = 0;

    if (sscanf(rest, "%63s %63s %u %lf %lf %lf %lf %u %63s %lf %lf %255[^\n]", one.call, one.name,
               &one.ranks, &one.comms, &one.calls, &one.time, &one.wait, &one.late, one.host,
               &one.lasts, &one.caused, one.site) < 11)
        return false;
    (void)snprintf(one.setting, sizeof one.setting, "%s", setting);
    while (i < report->barrier_count &&
           (strcmp(all[i].setting, setting) != 0 || strcmp(all[i].call, one.call) != 0 ||
            strcmp(all[i].name, one.name) != 0 || all[i].ranks != one.ranks))
        i++;
    if (i == report->barrier_count) {
        all = realloc(all, (i + 1) * sizeof *all);
        if (all == NULL)
            return false;
        report->barriers = all;
        report->barrier_count++;
        all[i] = one;
        return true;
    }
    all[i].comms += one.comms;
    all[i].calls += one.calls;
    all[i].time += one.time;
    all[i].wait += one.wait;
    if (one.caused > all[i].caused) {
        all[i].late = one.late;
        all[i].lasts = one.lasts;
        all[i].caused = one.caused;
        memcpy(all[i].host, one.host, sizeof one.host);
        memcpy(all[i].site, one.site, sizeof one.site);
    }
    return true;
}
