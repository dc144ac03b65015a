/* SPDX-License-Identifier: BSD-3-Clause */
/* CSV, JSON, and the data of the plot. */
#include <math.h>
#include <string.h>

#include "contrib/perf/program.h"
#include "contrib/perf/records.h"

void perf_write_csv(const struct perf_report *report, FILE *file)
{
    char name[64];
    struct perf_row row;

    fputs("ranks,call,setting,floor_loop,last_to_enter,last_to_leave", file);
    for (uint32_t i = 0; i < PERF_FIELDS; i++) {
        perf_field_name(i, name, sizeof name);
        fprintf(file, ",%s", name);
    }
    fputc('\n', file);
    for (size_t i = 0; i < report->cell_count; i++) {
        const struct perf_cell *cell = &report->cells[i];

        perf_row_init(&row, report, cell);
        fprintf(file, "%u,%s,%s,%s", cell->ranks, cell->call, cell->setting, row.floor);
        for (int which = 0; which < 2; which++) {
            fputc(',', file);
            if (row.last[which] != NULL)
                fprintf(file, "%u", row.last[which]->rank);
        }
        for (int j = 0; j < PERF_FIELDS; j++) {
            fputc(',', file);
            if (!isnan(row.fields[j]) && !isinf(row.fields[j]))
                fprintf(file, "%.10g", row.fields[j]);
        }
        fputc('\n', file);
    }
}

/* The notes of one kind: an object of strings. */
static void put_notes(const struct perf_report *report, const char *kind, struct gba_json *json)
{
    gba_json_begin(json, kind, '{');
    for (size_t i = 0; i < report->note_count; i++)
        if (strcmp(report->notes[i].kind, kind) == 0)
            gba_json_string(json, report->notes[i].key, report->notes[i].text);
    gba_json_end(json);
}

static void put_busy(const struct perf_report *report, struct gba_json *json)
{
    char text[256];

    gba_json_begin(json, "busy", '[');
    for (size_t i = 0; perf_busy_reason(report, i, text, sizeof text); i++)
        gba_json_string(json, NULL, text);
    gba_json_end(json);
}

static void put_histogram(const struct perf_histogram *histogram, const char *name,
                          struct gba_json *json)
{
    gba_json_begin(json, name, '[');
    for (uint32_t i = 0; i < PERF_BUCKETS; i++) {
        uint64_t bound = i == PERF_LAST_BUCKET ? histogram->max + 1 : perf_bucket_low(i + 1);

        if (histogram->buckets[i] != 0)
            gba_json_value(json, NULL, "[%llu, %llu, %llu]", (unsigned long long)perf_bucket_low(i),
                           (unsigned long long)bound, (unsigned long long)histogram->buckets[i]);
    }
    gba_json_end(json);
}

static void put_last(const struct perf_last *last, const char *name, struct gba_json *json)
{
    if (last == NULL) {
        gba_json_string(json, name, NULL);
        return;
    }
    gba_json_begin(json, name, '{');
    gba_json_value(json, "rank", "%u", last->rank);
    gba_json_string(json, "host", last->host);
    gba_json_end(json);
}

static void put_cell(const struct perf_report *report, const struct perf_cell *cell,
                     struct gba_json *json)
{
    char name[64];
    struct perf_row row;

    perf_row_init(&row, report, cell);
    gba_json_begin(json, NULL, '{');
    gba_json_value(json, "ranks", "%u", cell->ranks);
    gba_json_string(json, "call", cell->call);
    gba_json_string(json, "setting", cell->setting);
    for (uint32_t i = 0; i < PERF_FIELDS; i++) {
        perf_field_name(i, name, sizeof name);
        perf_json_number(json, name, row.fields[i]);
    }
    gba_json_string(json, "floor_loop", row.floor);
    put_last(row.last[0], "last_to_enter", json);
    put_last(row.last[1], "last_to_leave", json);
    gba_json_begin(json, "run_medians", '[');
    for (size_t i = 0; i < cell->run_count; i++)
        perf_json_number(json, NULL, cell->runs[i].median);
    gba_json_end(json);
    gba_json_begin(json, "histograms", '{');
    for (int kind = 0; kind < PERF_KINDS; kind++)
        put_histogram(&cell->histograms[kind], perf_kind_names[kind], json);
    gba_json_end(json);
    gba_json_end(json);
}

void perf_write_json(const struct perf_report *report, FILE *file)
{
    struct gba_json json = {.out = file, .lines = 3};

    gba_json_begin(&json, NULL, '{');
    gba_json_string(&json, "command", perf_note(report, "command", "line"));
    put_notes(report, "machine", &json);
    put_notes(report, "setting", &json);
    put_notes(report, "path", &json);
    put_busy(report, &json);
    if (perf_is_program(report))
        perf_write_program_json(report, &json);
    gba_json_string(&json, "base", report->base);
    gba_json_value(&json, "confidence", "%g", PERF_LEVEL);
    gba_json_begin(&json, "results", '[');
    for (size_t i = 0; i < report->cell_count; i++)
        put_cell(report, &report->cells[i], &json);
    gba_json_end(&json);
    gba_json_end(&json);
}
