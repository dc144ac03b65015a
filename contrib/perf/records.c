/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reader of records. A record is a line. gba_perf writes the notes, and "run" before each run;
 * the measuring programs print the other records.
 *
 *   command|machine|setting|path|busy KEY TEXT     notes
 *   base SETTING
 *   run RANKS SETTING PAIR            the following records are of this run
 *   perf 2                            the version of these records
 *   job RANKS HOSTS
 *   batch CALL NS...                  the times of the batches of a call
 *   floor CALL LOOP NS...             the times of the batches of a loop; the fastest is the floor
 *   missing CALL                      this Open MPI does not have the call
 * Of a program of the user there is "batch" (program.h), and:
 *   clock CALL OFFSET_NS ERROR_NS     how far the clocks of the ranks are apart
 *   ended program STATUS              its exit status
 *   barriers CALL COMMUNICATOR RANKS COMMS CALLS TIME WAIT LATE HOST LASTS CAUSED SITE
 *                                     parts of the time of all ranks; program.h explains them
 *   end
 */
#include "contrib/perf/records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/perf/program.h"

/* The state of reading records. */
struct reader {
    struct perf_report *report;
    char *rest; /* of the line */
    bool in_run;
    uint32_t ranks, pair;
    char setting[PERF_NAME_BYTES];
};

static const char *word(struct reader *r)
{
    const char *next = strtok_r(NULL, " \n", &r->rest);

    return next != NULL ? next : "";
}

static bool number(struct reader *r, double *value)
{
    const char *text = word(r);
    char *end;

    *value = strtod(text, &end);
    return end != text && *end == 0;
}

static bool copy(char *to, const char *from)
{
    size_t length = strlen(from);

    if (length == 0 || length >= PERF_NAME_BYTES)
        return false;
    memcpy(to, from, length + 1);
    return true;
}

/* Room for one more object at the end of an array; NULL: out of memory. */
static void *grow(void *array, size_t *count, size_t bytes)
{
    char **objects = array;
    char *grown = realloc(*objects, (*count + 1) * bytes);

    if (grown == NULL)
        return NULL;
    *objects = grown;
    memset(grown + *count * bytes, 0, bytes);
    return grown + (*count)++ * bytes;
}

static struct perf_cell *cell_find(const struct perf_report *report, uint32_t ranks,
                                   const char *call, const char *setting)
{
    for (size_t i = 0; i < report->cell_count; i++) {
        struct perf_cell *cell = &report->cells[i];

        if (cell->ranks == ranks && strcmp(cell->call, call) == 0 &&
            strcmp(cell->setting, setting) == 0)
            return cell;
    }
    return NULL;
}

const struct perf_cell *perf_report_find(const struct perf_report *report, uint32_t ranks,
                                         const char *call, const char *setting)
{
    return cell_find(report, ranks, call, setting);
}

/* The cell of the call that the line names, in the current run; NULL: invalid, or out of memory. */
static struct perf_cell *cell_get(struct reader *r)
{
    char call[PERF_NAME_BYTES];
    struct perf_cell *cell;

    if (!r->in_run || !copy(call, word(r)))
        return NULL;
    cell = cell_find(r->report, r->ranks, call, r->setting);
    if (cell != NULL)
        return cell;
    cell = grow(&r->report->cells, &r->report->cell_count, sizeof *cell);
    if (cell == NULL)
        return NULL;
    cell->ranks = r->ranks;
    (void)copy(cell->call, call);
    (void)copy(cell->setting, r->setting);
    cell->clock_offset = cell->clock_error = NAN;
    return cell;
}

static struct perf_run *run_get(struct reader *r, struct perf_cell *cell)
{
    struct perf_run *run;

    if (cell == NULL)
        return NULL;
    if (cell->run_count > 0 && cell->runs[cell->run_count - 1].pair == r->pair)
        return &cell->runs[cell->run_count - 1];
    if (cell->run_count >= PERF_INTERVAL_MAX)
        return NULL;
    run = grow(&cell->runs, &cell->run_count, sizeof *run);
    if (run == NULL)
        return NULL;
    *run = (struct perf_run){.pair = r->pair, .median = NAN};
    for (int i = 0; i < PERF_LOOPS; i++)
        run->floors[i] = NAN;
    return run;
}

static bool read_note(struct reader *r, const char *kind)
{
    struct perf_note *note = grow(&r->report->notes, &r->report->note_count, sizeof *note);

    if (note == NULL || !copy(note->key, word(r)))
        return false;
    (void)snprintf(note->kind, sizeof note->kind, "%s", kind);
    r->rest[strcspn(r->rest, "\n")] = 0;
    note->text = strdup(r->rest);
    return note->text != NULL;
}

static bool read_run(struct reader *r)
{
    double ranks = 0, pair = 0;

    r->in_run = number(r, &ranks) && copy(r->setting, word(r)) && number(r, &pair);
    r->ranks = (uint32_t)ranks;
    r->pair = (uint32_t)pair;
    return r->in_run;
}

static bool read_job(struct reader *r)
{
    double ranks, hosts;

    return number(r, &ranks) && number(r, &hosts) && ranks == r->ranks;
}

/* The index of the loop in the cell, PERF_LOOPS if there are too many. */
static uint32_t loop_get(struct perf_cell *cell, const char *name)
{
    uint32_t i = 0;

    while (i < PERF_LOOPS && *cell->loops[i] != 0 && strcmp(cell->loops[i], name) != 0)
        i++;
    return i < PERF_LOOPS && copy(cell->loops[i], name) ? i : PERF_LOOPS;
}

/* A series: its median. */
static bool read_series(struct reader *r, bool floor)
{
    struct perf_cell *cell = cell_get(r);
    struct perf_run *run = run_get(r, cell);
    const uint32_t loop = run != NULL && floor ? loop_get(cell, word(r)) : 0;
    double values[1024];
    size_t count = 0;

    while (run != NULL && count < sizeof values / sizeof values[0] && number(r, &values[count]))
        count++;
    if (count == 0 || PERF_LOOPS == loop)
        return false;
    *(floor ? &run->floors[loop] : &run->median) = perf_median(values, count);
    return true;
}

static bool read_ended(struct reader *r)
{
    struct perf_run *run = run_get(r, cell_get(r));
    double status;

    if (run == NULL || !number(r, &status))
        return false;
    run->status = (int)status;
    return true;
}

static bool read_clock(struct reader *r)
{
    struct perf_cell *cell = cell_get(r);
    double offset, error;

    if (cell == NULL || !number(r, &offset) || !number(r, &error))
        return false;
    cell->clock_offset = fmax(cell->clock_offset, offset);
    cell->clock_error = fmax(cell->clock_error, error);
    return true;
}

static bool read_line(struct reader *r, char *line)
{
    static const char *const notes[] = {"command", "machine", "setting", "path", "busy"};
    const char *kind = strtok_r(line, " \n", &r->rest);

    if (kind == NULL || strcmp(kind, "end") == 0)
        return true;
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++)
        if (strcmp(kind, notes[i]) == 0)
            return read_note(r, kind);
    if (strcmp(kind, "base") == 0)
        return copy(r->report->base, word(r));
    if (strcmp(kind, "run") == 0)
        return read_run(r);
    if (strcmp(kind, "perf") == 0)
        return strcmp(word(r), "2") == 0;
    if (strcmp(kind, "job") == 0)
        return read_job(r);
    if (strcmp(kind, "batch") == 0 || strcmp(kind, "floor") == 0)
        return read_series(r, *kind == 'f');
    if (strcmp(kind, "clock") == 0)
        return read_clock(r);
    if (strcmp(kind, "ended") == 0)
        return read_ended(r);
    if (strcmp(kind, "barriers") == 0)
        return cell_find(r->report, r->ranks, "program", r->setting) != NULL &&
               perf_barriers_read(r->report, r->setting, r->pair, r->rest);
    return strcmp(kind, "missing") == 0 && cell_get(r) != NULL;
}

bool perf_report_read(struct perf_report *report, FILE *file)
{
    struct reader reader = {.report = report};
    char *line = NULL;
    size_t bytes = 0, number_of_line = 0;
    bool good = true;

    *report = (struct perf_report){0};
    while (good && getline(&line, &bytes, file) >= 0) {
        number_of_line++;
        good = read_line(&reader, line);
        if (!good)
            fprintf(stderr, "gba_perf_report: line %zu is not a record, or out of memory: %s ...\n",
                    number_of_line, line);
    }
    free(line);
    if (!good)
        perf_report_free(report);
    return good;
}

void perf_report_free(struct perf_report *report)
{
    for (size_t i = 0; i < report->cell_count; i++)
        free(report->cells[i].runs);
    for (size_t i = 0; i < report->note_count; i++)
        free(report->notes[i].text);
    for (size_t i = 0; i < report->barrier_count; i++)
        free(report->barriers[i].lates);
    free(report->cells);
    free(report->barriers);
    free(report->notes);
    *report = (struct perf_report){0};
}

const char *perf_note(const struct perf_report *report, const char *kind, const char *key)
{
    for (size_t i = 0; i < report->note_count; i++)
        if (strcmp(report->notes[i].kind, kind) == 0 && strcmp(report->notes[i].key, key) == 0)
            return report->notes[i].text;
    return "";
}
