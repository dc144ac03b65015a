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

enum perf_kind { PERF_SAMPLE, PERF_COMPLETION, PERF_ENTRY, PERF_EXIT, PERF_KINDS };
extern const char *const perf_kind_names[PERF_KINDS];

#define PERF_PERCENTILES 5
extern const uint32_t
    perf_percentiles[PERF_PERCENTILES]; /* in the unit of perf_histogram_percentile */
extern const char *const perf_percentile_names[PERF_PERCENTILES];

/* One run of a measuring program. NAN: not measured. */
struct perf_run {
    uint32_t pair;
    double median;                /* ns, of its batches */
    double floors[PERF_LOOPS];    /* the same of the loops of the cell */
    double overlap, overlap_test; /* percent */
    double late;                  /* part of the time slices in which a rank was late */
    int status;                   /* the exit status of a program of the user */
};

/* A rank that was last, of one host, and the sum over all runs of its part of the barriers. */
struct perf_last {
    uint32_t rank;
    char host[PERF_NAME_BYTES];
    double sum;
};

/* All runs with one number of ranks, call and setting. */
struct perf_cell {
    uint32_t ranks;
    char call[PERF_NAME_BYTES], setting[PERF_NAME_BYTES];
    struct perf_run *runs;
    size_t run_count;
    char loops[PERF_LOOPS][PERF_NAME_BYTES]; /* the names; "": no more */
    struct perf_histogram histograms[PERF_KINDS];
    struct perf_last *last[2]; /* to enter, to leave */
    size_t last_count[2];
    double clock_offset, clock_error, timer; /* ns, the largest of all runs */
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

/* The figures of a row, in the order of the columns of a CSV file. NAN: none. Times are in ns. */
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
    PERF_OVERLAP,
    PERF_OVERLAP_TEST,
    PERF_LATE,
    PERF_CLOCK_OFFSET,
    PERF_CLOCK_ERROR,
    PERF_TIMER,
    PERF_LAST_ENTRY_PART,
    PERF_LAST_EXIT_PART,
    PERF_FIRST_PERCENTILE, /* of each kind: samples, min, the percentiles, max */
};
#define PERF_KIND_FIELDS (PERF_PERCENTILES + 3)
#define PERF_FIELDS      (PERF_FIRST_PERCENTILE + PERF_KINDS * PERF_KIND_FIELDS)
/* The fields of one kind. percentile: 0 to PERF_PERCENTILES - 1. */
#define PERF_FIELD_COUNT(kind)                  (PERF_FIRST_PERCENTILE + (kind)*PERF_KIND_FIELDS)
#define PERF_FIELD_PERCENTILE(kind, percentile) (PERF_FIELD_COUNT(kind) + 2 + (percentile))

struct perf_row {
    double fields[PERF_FIELDS];
    const struct perf_last *last[2]; /* NULL: no samples */
    const char *floor;               /* the loop that is the floor; "": none */
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

/* The name of a field: text of at most size bytes. */
void perf_field_name(uint32_t field, char *text, size_t size);

/* The text of the note "KIND KEY", or "" if there is none. */
const char *perf_note(const struct perf_report *report, const char *kind, const char *key);

/* The figures of a cell are meaningless if the third quartile of the medians of its runs is at
 * least this many times the first quartile. */
#define PERF_SPREAD_BAD 1.5

/* Write a report in one of the formats. perf_write_plot writes the files style, latency,
 * distribution and skew, or style and program, into a directory, and returns false (message on
 * stderr) if that fails; it replaces quotes in the texts of the report. perf_write_busy writes why
 * the figures are meaningless, or nothing; `end` goes before the first line, and behind each. */
void perf_write_table(const struct perf_report *report, FILE *file);
void perf_write_csv(const struct perf_report *report, FILE *file);
void perf_write_json(const struct perf_report *report, FILE *file);
void perf_write_busy(const struct perf_report *report, const char *end, FILE *file);
bool perf_write_plot(struct perf_report *report, const char *directory);

#endif
