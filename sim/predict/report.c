/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/predict/report.h"

#include <inttypes.h>
#include <string.h>

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
        const struct predict_candidate *candidate = &list->at[i];
        const struct predict_result *r = &candidate->result;

        if (GBA_OK != candidate->refused) {
            fprintf(out, "%-20s %s\n", candidate->name,
                    GBA_ERR_UNSUPPORTED == candidate->refused
                        ? "not simulated: it belongs to the runtime"
                        : gba_status_text(candidate->refused));
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

static void json_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; '\0' != *text; text++)
        if ('"' == *text || '\\' == *text || (unsigned char)*text < ' ')
            fprintf(out, "\\u%04x", (unsigned)(unsigned char)*text);
        else
            fputc(*text, out);
    fputc('"', out);
}

static void json_spread(FILE *out, const char *name, const struct predict_spread *spread)
{
    fprintf(out,
            ", \"%s\": {\"min\": %.3f, \"median\": %.3f, \"p95\": %.3f, \"p99\": %.3f, \"max\": "
            "%.3f}",
            name, (double)spread->least / 1e3, (double)spread->median / 1e3,
            (double)spread->p95 / 1e3, (double)spread->p99 / 1e3, (double)spread->most / 1e3);
}

void predict_report_json(const struct predict_report *report, FILE *out)
{
    const struct predict_list *list = report->list;
    const struct gba_cluster *cluster = report->question->setup.cluster;

    fprintf(out, "{\"hosts\": %" PRIu32 ", \"ranks\": %" PRIu32 ", \"source\": ", list->hosts,
            list->ranks);
    json_text(out, cluster->source);
    fprintf(out, ", \"extrapolated\": %s, \"seed\": %" PRIu64,
            0 != cluster->extrapolated ? "true" : "false", report->question->setup.seed);
    if (report->crossed)
        fprintf(out, ", \"crossover\": %" PRIu32 ", \"crossover_most\": %" PRIu32,
                report->crossover, report->most);
    fputs(", \"unit\": \"ns\", \"candidates\": [", out);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct predict_candidate *candidate = &list->at[i];
        const struct predict_result *r = &candidate->result;

        fputs(0 == i ? "\n  {\"name\": " : ",\n  {\"name\": ", out);
        json_text(out, candidate->name);
        if (GBA_OK != candidate->refused) {
            fputs(", \"reason\": ", out);
            json_text(out, gba_status_text(candidate->refused));
            fputc('}', out);
            continue;
        }
        fprintf(out, ", \"barrier\": %.3f, \"formula\": %.3f", (double)r->mean / 1e3,
                (double)candidate->formula / 1e3);
        json_spread(out, "slowest", &r->slowest);
        json_spread(out, "after_last_arrival", &r->after);
        json_spread(out, "exit_skew", &r->skew);
        fprintf(out, ", \"events\": %" PRIu64 ", \"random\": %" PRIu64 ", \"bytes\": %" PRIu64 "}",
                r->events, r->drawn, r->bytes);
    }
    fputs("\n]}\n", out);
}
