/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/predict/report.h"

#include <inttypes.h>

#include "gba/base/json.h"

/* Picoseconds in microseconds. */
static double us(uint64_t ps)
{
    return (double)ps / 1e6;
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

void predict_report_text(const struct predict_report *report, FILE *out)
{
    const struct predict_list *list = report->list;
    const struct gba_cluster *cluster = report->question->setup.cluster;
    uint64_t events = 0, bytes = 0, rank_bytes = 0, drawn = 0;
    double seconds = 0;

    fprintf(out, "%" PRIu32 " hosts x %" PRIu32 " ranks; numbers: %s%s\n", list->hosts, list->ranks,
            cluster->source,
            0 != cluster->extrapolated ? " (extrapolated: not measured on this cluster)" : "");
    fprintf(out, "%-20s %10s %10s %10s %10s %10s %10s %10s\n", "us", "barrier", "formula", "median",
            "p95", "p99", "arrived", "exit skew");
    for (uint32_t i = 0; i < list->count; i++) {
        const struct predict_candidate *candidate = &list->candidates[i];
        const struct predict_result *r = &candidate->result;

        if (GBA_OK != candidate->refused) {
            fprintf(out, "%-20s %s\n", candidate->name,
                    GBA_ERR_UNSUPPORTED == candidate->refused
                        ? "not simulated: it belongs to the runtime"
                        : candidate->words);
            continue;
        }
        fprintf(out, "%-20s %10.3f %10.3f %10.3f %10.3f %10.3f %10.3f %10.3f\n", candidate->name,
                us(r->mean), us(candidate->formula), us(r->slowest.median), us(r->slowest.p95),
                us(r->slowest.p99), us(r->after.median), us(r->skew.median));
        events += r->events;
        drawn += r->drawn;
        seconds += r->seconds;
        bytes = r->bytes > bytes ? r->bytes : bytes;
        rank_bytes = r->rank_bytes > rank_bytes ? r->rank_bytes : rank_bytes;
    }
    crossover_text(report, out);
    fprintf(out,
            "simulation: %" PRIu64 " events in %.3f s (%.1f million a second), %.1f MB, %" PRIu64
            " bytes a rank, %" PRIu64 " random numbers of seed %" PRIu64 "\n",
            events, seconds, seconds > 0 ? (double)events / seconds / 1e6 : 0, (double)bytes / 1e6,
            rank_bytes, drawn, report->question->setup.seed);
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
        gba_json_value(json, "events", "%" PRIu64, r->events);
        gba_json_value(json, "random", "%" PRIu64, r->drawn);
        gba_json_value(json, "bytes", "%" PRIu64, r->bytes);
    }
    gba_json_end(json);
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
    gba_json_value(&json, "seed", "%" PRIu64, report->question->setup.seed);
    if (report->crossed) {
        gba_json_value(&json, "crossover", "%" PRIu32, report->crossover);
        gba_json_value(&json, "crossover_most", "%" PRIu32, report->most);
    }
    gba_json_string(&json, "unit", "ns");
    gba_json_begin(&json, "candidates", '[');
    for (uint32_t i = 0; i < list->count; i++)
        json_candidate(&json, &list->candidates[i]);
    gba_json_end(&json);
    gba_json_end(&json);
}
