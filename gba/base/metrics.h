/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The metrics of devices in the text format of Prometheus, for the textfile collector of its node
 * exporter. gba_info prints those of devices, gba_diag those of a gba-switchd. The names are
 * stable; gba-admin(7) has a table of them.
 */
#ifndef GBA_BASE_METRICS_H
#define GBA_BASE_METRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "gba/base/batch_job.h"
#include "gba/spec/gba_regs.h"

/* The groups of one user and one job. */
struct gba_metrics_owner {
    uint32_t user; /* UINT32_MAX: not known */
    uint64_t job;  /* 0: none */
    char batch_job[GBA_BATCH_JOB];
    uint32_t groups;
};

/* One device. */
struct gba_metrics {
    const char *device; /* its path; NULL: no label */
    char unit[33];      /* in hexadecimal digits; "": not known */
    bool up;            /* false: all fields below are 0 */
    uint32_t groups, groups_used;
    uint32_t ports, ports_up;        /* of a switch; else 0, and not printed */
    uint64_t counters[GBA_COUNTERS]; /* since power-on, sums of all groups */
    uint64_t bad_accesses;
    uint32_t owners;
    struct gba_metrics_owner owner[GBA_GROUPS]; /* [owners] */
};

/* Count one group of that user and job. batch_job: its name in a batch system, or "". */
void gba_metrics_own(struct gba_metrics *metrics, uint32_t user, uint64_t job,
                     const char *batch_job);

/* Print the metrics of `count` devices. Errors of the stream remain in it. */
void gba_metrics_print(FILE *out, const struct gba_metrics *list, unsigned count);

#endif
