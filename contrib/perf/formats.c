/* SPDX-License-Identifier: BSD-3-Clause */
/* The report as JSON. */
#include <math.h>
#include <string.h>

#include "contrib/perf/program.h"
#include "contrib/perf/records.h"

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

static void put_cell(const struct perf_report *report, const struct perf_cell *cell,
                     struct gba_json *json)
{
    struct perf_row row;

    perf_row_init(&row, report, cell);
    gba_json_begin(json, NULL, '{');
    gba_json_value(json, "ranks", "%u", cell->ranks);
    gba_json_string(json, "call", cell->call);
    gba_json_string(json, "setting", cell->setting);
    for (uint32_t i = 0; i < PERF_FIELDS; i++)
        perf_json_number(json, perf_field_names[i], row.fields[i]);
    gba_json_string(json, "floor_loop", row.floor);
    gba_json_begin(json, "run_medians", '[');
    for (size_t i = 0; i < cell->run_count; i++)
        perf_json_number(json, NULL, cell->runs[i].median);
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
