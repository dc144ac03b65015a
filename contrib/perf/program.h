/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What gba_perf measures of a program of the user. Its cells have the calls "program", from start
 * to end, and "mpi", from MPI_Init to MPI_Finalize. Of its barriers there are rows.
 */
#ifndef CONTRIB_PERF_PROGRAM_H
#define CONTRIB_PERF_PROGRAM_H

#include "contrib/perf/records.h"
#include "gba/base/json.h"

/* The rank for which the others waited longest in a run: on one communicator the part of the
 * barriers that it entered last, and the waiting for it. wait: the waiting on all communicators of
 * the row. */
struct perf_late {
    uint32_t pair, rank;
    double lasts, caused, wait;
    char host[PERF_NAME_BYTES], site[256]; /* its host, and where it called the barriers */
};

/* The barriers of one call on the communicators of one name and size, with one setting. Sums over
 * the runs; times are parts of the time of a run, from start to end, of all ranks. */
struct perf_barriers {
    char setting[PERF_NAME_BYTES], call[PERF_NAME_BYTES], name[PERF_NAME_BYTES]; /* "-": no name */
    uint32_t ranks; /* 0: another call than a barrier, or barriers that are not timed */
    double comms, calls, time, wait; /* NAN: not timed, not divided */
    struct perf_late *lates;         /* of each run, at least one */
    size_t late_count;
};

/* The records are of a program. */
bool perf_is_program(const struct perf_report *report);

/* Read the rest of the record "barriers" of a run with the setting. Returns false: it is none, or
 * out of memory. */
bool perf_barriers_read(struct perf_report *report, const char *setting, uint32_t pair,
                        const char *rest);

/* The late rank for which the others waited longest. */
const struct perf_late *perf_barriers_worst(const struct perf_barriers *row);

/* The barriers of a mean run with a setting: parts of its time. wait: NULL is allowed. */
double perf_barriers_time(const struct perf_report *report, const char *setting, double *wait);

/* A sentence or two about what the plugin can do for the program: text of at most size bytes. */
void perf_verdict(const struct perf_report *report, char *text, size_t size);

/* A number of the JSON object; null if it is none. */
void perf_json_number(struct gba_json *json, const char *name, double value);

/* Parts of the table and of the JSON object. */
void perf_write_program(const struct perf_report *report, FILE *file);
void perf_write_program_json(const struct perf_report *report, struct gba_json *json);

#endif
