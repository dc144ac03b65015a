/* SPDX-License-Identifier: BSD-3-Clause */
/* CSV, JSON, and the data of the plot. */
#include <math.h>
#include <string.h>

#include "contrib/perf/program.h"
#include "contrib/perf/records.h"

static void put(FILE *file, double value, const char *absent)
{
    if (isnan(value) || isinf(value))
        fputs(absent, file);
    else
        fprintf(file, "%.10g", value);
}

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
            put(file, row.fields[j], "");
        }
        fputc('\n', file);
    }
}

static void put_string(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text != 0; text++) {
        if (*text == '"' || *text == '\\')
            fprintf(file, "\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            fprintf(file, "\\u%04x", (unsigned int)(unsigned char)*text);
        else
            fputc(*text, file);
    }
    fputc('"', file);
}

/* The notes of one kind, as a JSON object of strings. */
static void put_notes(const struct perf_report *report, const char *kind, FILE *file)
{
    const char *separator = "";

    fprintf(file, "  \"%s\": {", kind);
    for (size_t i = 0; i < report->note_count; i++) {
        if (strcmp(report->notes[i].kind, kind) != 0)
            continue;
        fprintf(file, "%s", separator);
        put_string(file, report->notes[i].key);
        fputs(": ", file);
        put_string(file, report->notes[i].text);
        separator = ", ";
    }
    fputs("},\n", file);
}

static void put_busy(const struct perf_report *report, FILE *file)
{
    const char *separator = "";

    fputs("  \"busy\": [", file);
    for (size_t i = 0; i < report->note_count; i++) {
        if (strcmp(report->notes[i].kind, "busy") != 0)
            continue;
        fputs(separator, file);
        put_string(file, report->notes[i].text);
        separator = ", ";
    }
    fputs("],\n", file);
}

static void put_histogram(const struct perf_histogram *histogram, FILE *file)
{
    const char *separator = "";

    fputc('[', file);
    for (uint32_t i = 0; i < PERF_BUCKETS; i++) {
        uint64_t bound = i == PERF_LAST_BUCKET ? histogram->max + 1 : perf_bucket_low(i + 1);

        if (histogram->buckets[i] == 0)
            continue;
        fprintf(file, "%s[%llu, %llu, %llu]", separator, (unsigned long long)perf_bucket_low(i),
                (unsigned long long)bound, (unsigned long long)histogram->buckets[i]);
        separator = ", ";
    }
    fputc(']', file);
}

static void put_last(const struct perf_last *last, const char *name, FILE *file)
{
    fprintf(file, ",\n     \"%s\": ", name);
    if (last == NULL) {
        fputs("null", file);
        return;
    }
    fprintf(file, "{\"rank\": %u, \"host\": ", last->rank);
    put_string(file, last->host);
    fputc('}', file);
}

static void put_cell(const struct perf_report *report, const struct perf_cell *cell, FILE *file)
{
    char name[64];
    struct perf_row row;

    perf_row_init(&row, report, cell);
    fprintf(file, "    {\"ranks\": %u, \"call\": \"%s\", \"setting\": \"%s\"", cell->ranks,
            cell->call, cell->setting);
    for (uint32_t i = 0; i < PERF_FIELDS; i++) {
        perf_field_name(i, name, sizeof name);
        fprintf(file, ",\n     \"%s\": ", name);
        put(file, row.fields[i], "null");
    }
    fprintf(file, ",\n     \"floor_loop\": \"%s\"", row.floor);
    put_last(row.last[0], "last_to_enter", file);
    put_last(row.last[1], "last_to_leave", file);
    fputs(",\n     \"run_medians\": [", file);
    for (size_t i = 0; i < cell->run_count; i++) {
        fputs(i > 0 ? ", " : "", file);
        put(file, cell->runs[i].median, "null");
    }
    fputs("],\n     \"histograms\": {", file);
    for (int kind = 0; kind < PERF_KINDS; kind++) {
        fprintf(file, "%s\"%s\": ", kind > 0 ? ", " : "", perf_kind_names[kind]);
        put_histogram(&cell->histograms[kind], file);
    }
    fputs("}}", file);
}

void perf_write_json(const struct perf_report *report, FILE *file)
{
    fputs("{\n  \"command\": ", file);
    put_string(file, perf_note(report, "command", "line"));
    fputs(",\n", file);
    put_notes(report, "machine", file);
    put_notes(report, "setting", file);
    put_notes(report, "path", file);
    put_busy(report, file);
    if (perf_is_program(report))
        perf_write_program_json(report, file);
    fputs("  \"base\": ", file);
    put_string(file, report->base);
    fprintf(file, ",\n  \"confidence\": %g,\n  \"results\": [\n", PERF_LEVEL);
    for (size_t i = 0; i < report->cell_count; i++) {
        put_cell(report, &report->cells[i], file);
        fputs(i + 1 < report->cell_count ? ",\n" : "\n", file);
    }
    fputs("  ]\n}\n", file);
}
