/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/predict/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gba/base/json.h"

#define FIGURES 24u

/* A number with two significant figures, which errors of a fifth leave. */
static const char *figures(double number, char text[FIGURES])
{
    int exponent;

    snprintf(text, FIGURES, "%.1e", number);
    exponent = atoi(strchr(text, 'e') + 1);
    snprintf(text, FIGURES, "%.*f", exponent > 0 || 0 == number ? 0 : 1 - exponent,
             strtod(text, NULL));
    return text;
}

/* The same of picoseconds in microseconds. */
static const char *us(uint64_t ps, char text[FIGURES])
{
    return figures((double)ps / 1e6, text);
}

static void job_text(const struct predict_report *report, FILE *out)
{
    const struct gba_cluster *cluster = report->question->setup.cluster;

    fprintf(out, "%" PRIu32 " hosts x %" PRIu32 " ranks; numbers: %s%s\n", report->list->hosts,
            report->list->ranks, cluster->source,
            0 != cluster->extrapolated ? " (extrapolated: not measured on this cluster)" : "");
}

static void crossover_text(const struct predict_report *report, FILE *out)
{
    if (!report->crossed)
        return;
    if (0 == report->crossover)
        fprintf(out, "crossover: the device is not faster on up to %" PRIu32 " hosts\n",
                report->most);
    else
        fprintf(out, "crossover: the device is faster from %" PRIu32 " host%s on\n",
                report->crossover, 1 == report->crossover ? "" : "s");
}

/* The part of the run time that a path saves, which Open MPI's own barriers lengthen. */
static double saved(const struct predict_report *report, const struct predict_candidate *path)
{
    return ((double)report->own->result.mean - (double)path->result.mean) / 1e12 * report->rate;
}

static void even_text(uint64_t time, const char *against, FILE *out)
{
    char text[FIGURES];

    fprintf(out, "%s%s against %s", 0 == time ? "none found" : us(time, text),
            0 == time ? "" : " us", against);
}

static void path_text(const struct predict_report *report, const struct predict_candidate *path,
                      FILE *out)
{
    const double own = (double)report->own->result.mean, mean = (double)path->result.mean;
    const double part = saved(report, path);
    char text[FIGURES];

    fprintf(out, "  %s: %s us", path->name, us(path->result.mean, text));
    if (own > 0 && mean > 0)
        fprintf(out, ", %s times as fast", figures(own / mean, text));
    if (0 != report->rate && own * report->rate <= 1e12)
        fprintf(out, "; %s %s%% of the run time", part < 0 ? "adds" : "saves",
                figures(100 * (part < 0 ? -part : part), text));
    fputc('\n', out);
}

static void answer_text(const struct predict_report *report, FILE *out)
{
    const struct predict_list *list = report->list;
    const struct gba_cluster *cluster = report->question->setup.cluster;
    const double own = (double)report->own->result.mean;
    char text[FIGURES];

    if (report->device != NULL) {
        fprintf(out, "device time: %s us, assumed, because no device has been built; source: %s\n",
                us(predict_device_time(cluster), text), cluster->source);
        fputs("break-even device time: ", out);
        if (report->software != NULL) {
            even_text(report->even_software, report->software->name, out);
            fputs("; ", out);
        }
        even_text(report->even_own, "Open MPI's own barrier\n", out);
    }
    fprintf(out, "Open MPI's own barrier: %s us, simulated as %s of coll/tuned 4.1 and 5.0\n",
            us(report->own->result.mean, text), predict_tuned_name(list->hosts * list->ranks));
    if (own * report->rate > 1e12)
        fprintf(out, "--rate %u: Open MPI's own barrier makes at most %s a second\n", report->rate,
                figures(1e12 / own, text));
    if (report->device != NULL)
        path_text(report, report->device, out);
    if (report->software != NULL)
        path_text(report, report->software, out);
    fputs(
        report->measured
            ? "error: 95% of such predictions of software paths erred by at most 24%; that of the "
              "device and of Open MPI's own barrier is not known\n"
            : "error: not known, because no prediction from these numbers has been measured\n",
        out);
    if (!predict_is_steady(report->question, list->hosts * list->ranks))
        fputs("few barriers: a barrier between all ranks can take longer in the long run\n", out);
}

void predict_report_text(const struct predict_report *report, FILE *out)
{
    const struct predict_list *list = report->list;
    char text[7][FIGURES];

    job_text(report, out);
    fprintf(out, "%-20s %10s %10s %10s %10s %10s %10s %10s\n", "us", "barrier", "formula", "median",
            "p95", "p99", "arrived", "exit skew");
    for (uint32_t i = 0; i < list->count; i++) {
        const struct predict_candidate *candidate = &list->candidates[i];
        const struct predict_result *r = &candidate->result;

        if (GBA_OK != candidate->refused) {
            fprintf(out, "%-20s %s\n", candidate->name, candidate->words);
            continue;
        }
        fprintf(
            out, "%-20s %10s %10s %10s %10s %10s %10s %10s\n", candidate->name,
            us(r->mean, text[0]), 0 == candidate->formula ? "-" : us(candidate->formula, text[1]),
            us(r->slowest.median, text[2]), us(r->slowest.p95, text[3]),
            us(r->slowest.p99, text[4]), us(r->after.median, text[5]), us(r->skew.median, text[6]));
    }
    answer_text(report, out);
    crossover_text(report, out);
}

static void json_spread(struct gba_json *json, const char *name,
                        const struct predict_spread *spread)
{
    gba_json_begin(json, name, '{');
    gba_json_value(json, "min", "%.3f", (double)spread->least / 1e3);
    gba_json_value(json, "median", "%.3f", (double)spread->median / 1e3);
    gba_json_value(json, "p95", "%.3f", (double)spread->p95 / 1e3);
    gba_json_value(json, "p99", "%.3f", (double)spread->p99 / 1e3);
    gba_json_value(json, "max", "%.3f", (double)spread->most / 1e3);
    gba_json_end(json);
}

static void json_candidate(struct gba_json *json, const struct predict_candidate *candidate)
{
    const struct predict_result *r = &candidate->result;

    gba_json_begin(json, NULL, '{');
    gba_json_string(json, "name", candidate->name);
    if (GBA_OK != candidate->refused) {
        gba_json_string(json, "reason", candidate->words);
    } else {
        gba_json_value(json, "barrier", "%.3f", (double)r->mean / 1e3);
        gba_json_value(json, "formula", "%.3f", (double)candidate->formula / 1e3);
        json_spread(json, "slowest", &r->slowest);
        json_spread(json, "after_last_arrival", &r->after);
        json_spread(json, "exit_skew", &r->skew);
    }
    gba_json_end(json);
}

static void json_even(struct gba_json *json, const char *name, uint64_t time)
{
    if (0 != time)
        gba_json_value(json, name, "%.3f", (double)time / 1e3);
}

/* A part of the run time. */
static void json_saved(struct gba_json *json, const char *name, const struct predict_report *report,
                       const struct predict_candidate *path)
{
    if (0 != report->rate && path != NULL)
        gba_json_value(json, name, "%.6f", saved(report, path));
}

void predict_report_json(const struct predict_report *report, FILE *out)
{
    const struct predict_list *list = report->list;
    const struct gba_cluster *cluster = report->question->setup.cluster;
    struct gba_json json = {.out = out, .lines = 2};

    gba_json_begin(&json, NULL, '{');
    gba_json_value(&json, "hosts", "%" PRIu32, list->hosts);
    gba_json_value(&json, "ranks", "%" PRIu32, list->ranks);
    gba_json_string(&json, "source", cluster->source);
    gba_json_value(&json, "extrapolated", "%s", 0 != cluster->extrapolated ? "true" : "false");
    if (report->crossed) {
        gba_json_value(&json, "crossover", "%" PRIu32, report->crossover);
        gba_json_value(&json, "crossover_most", "%" PRIu32, report->most);
    }
    gba_json_value(&json, "steady", "%s",
                   predict_is_steady(report->question, list->hosts * list->ranks) ? "true"
                                                                                  : "false");
    gba_json_string(&json, "unit", "ns");
    gba_json_value(&json, "device_time_assumed", "%.3f",
                   (double)predict_device_time(cluster) / 1e3);
    json_even(&json, "break_even_software", report->even_software);
    json_even(&json, "break_even_own", report->even_own);
    gba_json_string(&json, "own", predict_tuned_name(list->hosts * list->ranks));
    json_saved(&json, "saved_device", report, report->device);
    json_saved(&json, "saved_software", report, report->software);
    gba_json_begin(&json, "candidates", '[');
    for (uint32_t i = 0; i < list->count; i++)
        json_candidate(&json, &list->candidates[i]);
    gba_json_end(&json);
    gba_json_end(&json);
}

static void plot_row(const struct predict_list *list, FILE *out)
{
    const struct predict_candidate *shown[] = {predict_fastest(list, true),
                                               predict_fastest(list, false),
                                               &list->candidates[list->count - 1]};

    fprintf(out, "%" PRIu32, list->hosts);
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        fprintf(out, " %g",
                shown[i] == NULL || 0 == shown[i]->result.mean
                    ? NAN
                    : (double)shown[i]->result.mean / 1e12);
    fputc('\n', out);
}

gba_status_t predict_report_plot(const struct predict_report *report,
                                 const struct predict_question *question, const char *path)
{
    const uint32_t most = report->list->hosts, ranks = report->list->ranks;
    struct predict_list *list = calloc(1, sizeof *list);
    FILE *out = list == NULL ? NULL : popen("gnuplot", "w");
    gba_status_t status = list == NULL ? GBA_ERR_NOMEM : out == NULL ? GBA_ERR_IO : GBA_OK;

    if (GBA_OK == status) {
        fputs("$data << EOD\n", out);
        for (uint32_t hosts = 1; hosts < most && GBA_OK == status; hosts *= 2) {
            status = predict_candidates(question, hosts, ranks, list);
            if (GBA_OK == status)
                status = predict_own(question, list);
            if (GBA_OK == status)
                plot_row(list, out);
        }
        plot_row(report->list, out);
        fprintf(out, "EOD\n$about << EOD\n%s\n", path);
        job_text(report, out);
        crossover_text(report, out);
        fprintf(out,
                "EOD\nhosts = %" PRIu32 "\ncrossover = %" PRIu32 "\nset loadpath \"" GBA_PKGDATADIR
                "\"\nload \"gba_predict.gp\"\n",
                most, report->crossover <= most ? report->crossover : 0);
        if (0 != pclose(out) && GBA_OK == status)
            status = GBA_ERR_IO;
    }
    free(list);
    return status;
}
