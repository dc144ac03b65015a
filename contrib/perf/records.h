/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The results of gba_perf, from the records that gba_perf and its measuring programs print, and a
 * row of figures for each number of ranks, call and setting.
 */
#ifndef CONTRIB_PERF_RECORDS_H
#define CONTRIB_PERF_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "contrib/perf/stats.h"

#define PERF_NAME_BYTES 64
#define PERF_LEVEL      0.95 /* of confidence intervals */
#define PERF_LOOPS      8    /* of which one is the floor, at most */

/* One run of a measuring program. NAN: not measured. */
struct perf_run {
    uint32_t pair;
    double median;             /* ns, of its batches */
    double floors[PERF_LOOPS]; /* the same of the loops of the cell */
    int status;                /* the exit status of a program of the user */
};

/* All runs with one number of ranks, call and setting. */
struct perf_cell {
    uint32_t ranks;
    char call[PERF_NAME_BYTES], setting[PERF_NAME_BYTES];
    struct perf_run *runs;
    size_t run_count;
    char loops[PERF_LOOPS][PERF_NAME_BYTES]; /* the names; "": no more */
    double clock_offset, clock_error;        /* ns, the largest of all runs of a program */
};

/* A line of text about the measurement: "machine KEY TEXT", "setting NAME TEXT" and so on. */
struct perf_note {
    char kind[16], key[PERF_NAME_BYTES];
    char *text;
};

struct perf_report {
    struct perf_cell *cells; /* in the order of their first run */
    size_t cell_count;
    struct perf_note *notes;
    size_t note_count;
    struct perf_barriers *barriers; /* of a program of the user (program.h) */
    size_t barrier_count;
    char base[PERF_NAME_BYTES]; /* the setting with which all settings are compared */
};

/* The figures of a row. NAN: none. Times are in ns. */
enum perf_field {
    PERF_RUNS,
    PERF_MIN,
    PERF_MEDIAN,
    PERF_MEDIAN_LOW,
    PERF_MEDIAN_HIGH,
    PERF_COVERAGE,
    PERF_RATIO,
    PERF_RATIO_LOW,
    PERF_RATIO_HIGH,
    PERF_RATIO_MIN,
    PERF_RATIO_EQUAL,
    PERF_FLOOR,
    PERF_FLOOR_RATIO,
    PERF_SPREAD,
    PERF_CLOCK_OFFSET,
    PERF_CLOCK_ERROR,
    PERF_FIELDS,
};
extern const char *const perf_field_names[PERF_FIELDS];

struct perf_row {
    double fields[PERF_FIELDS];
    const char *floor; /* the loop that is the floor; "": none */
};

/* Read records. Returns false (message on stderr): a line is not a record, or out of memory. */
bool perf_report_read(struct perf_report *report, FILE *file);
void perf_report_free(struct perf_report *report);

/* The cell, or NULL. */
const struct perf_cell *perf_report_find(const struct perf_report *report, uint32_t ranks,
                                         const char *call, const char *setting);

/* Compute the figures of a cell, with ratios to the runs of the same pairs of the base. */
void perf_row_init(struct perf_row *row, const struct perf_report *report,
                   const struct perf_cell *cell);

/* The maximum of a field of all cells. NAN: none has it. */
double perf_worst(const struct perf_report *report, uint32_t field);

/* The i-th reason for which the figures are meaningless: text of at most size bytes. Returns false
 * if there are fewer. */
bool perf_busy_reason(const struct perf_report *report, size_t i, char *text, size_t size);

/* The text of the note "KIND KEY", or "" if there is none. */
const char *perf_note(const struct perf_report *report, const char *kind, const char *key);

/* The figures of a cell are meaningless if the third quartile of the medians of its runs is at
 * least this many times the first quartile. */
#define PERF_SPREAD_BAD 1.5

/* Write a report in one of the formats; perf_write_plot: the data for plot.gp. */
void perf_write_table(const struct perf_report *report, FILE *file);
void perf_write_json(const struct perf_report *report, FILE *file);
void perf_write_plot(const struct perf_report *report, FILE *file);

#endif
