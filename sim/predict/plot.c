/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plot of gba_predict: a line for each algorithm, which has the same colour in all pictures. A
 * point is the fastest candidate with that algorithm.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gba/base/plot.h"
#include "gba/gba.h"
#include "sim/predict/report.h"

#define UNICAST (GBA_PLOT_LINES + 1u) /* the line of another release of the device */
#define LINES   (UNICAST + 1)
#define POINTS  40u

/* 95% of the errors of recorded predictions, and the hosts of the largest recorded job
 * (contrib/bench/README.md). */
#define ERROR          0.21
#define HOSTS_MEASURED 8u

struct point {
    double y, low, high; /* s; y 0: none */
};

struct plot {
    FILE *out;
    struct predict_question *question; /* these two change from size to size */
    struct gba_cluster *cluster;
    struct predict_list *list;
    bool measured;  /* the description is of a measured cluster */
    uint32_t count; /* points of this picture */
    double x[POINTS];
    struct point points[LINES][POINTS];
    char refused[sizeof((struct predict_candidate *)NULL)->words]; /* why there is no device */
    gba_status_t status;
};

/* Add the candidates of one size. line: 0: all of them; else only a device of all members, which is
 * drawn as that line. */
static void list_add(struct plot *plot, double x, const struct predict_list *list, unsigned line)
{
    const char *refused = NULL;

    if (0 == plot->count || plot->x[plot->count - 1] < x)
        plot->x[plot->count++] = x;
    for (uint32_t i = 0; GBA_OK == plot->status && i < list->count; i++) {
        const struct predict_candidate *candidate = &list->candidates[i];
        const struct predict_spread *spread = &candidate->result.slowest;
        const double y = (double)spread->median / 1e12;
        const bool bars =
            plot->measured && list->hosts <= HOSTS_MEASURED && !candidate->choice.fallback;
        const unsigned name = 0 != line ? line : gba_plot_line(candidate->name);
        struct point *point = &plot->points[name][plot->count - 1];

        if (0 != line && strcmp(candidate->name, "device") != 0)
            continue;
        if (GBA_OK != candidate->refused) {
            if (candidate->choice.group)
                refused = candidate->words;
        } else if (y > 0 && (0 == point->y || y < point->y)) {
            *point =
                (struct point){y, bars ? fmin((double)spread->least / 1e12, y * (1 - ERROR)) : y,
                               bars ? fmax((double)spread->p95 / 1e12, y * (1 + ERROR)) : y};
        }
    }
    if (0 == plot->points[0 != line ? line : GBA_PLOT_DEVICE][plot->count - 1].y && refused != NULL)
        snprintf(plot->refused, sizeof plot->refused, "%s", refused);
}

/* Simulate the candidates of one size, and add them. */
static void size_add(struct plot *plot, double x, uint32_t hosts, uint32_t ranks, unsigned line)
{
    if (GBA_OK == plot->status)
        plot->status = predict_candidates(plot->question, hosts, ranks, plot->list);
    if (GBA_OK == plot->status && 0 == line)
        plot->status = predict_own(plot->question, plot->list);
    list_add(plot, x, plot->list, line);
}

static void picture_begin(struct plot *plot, const char *title, const char *x)
{
    plot->count = 0;
    memset(plot->points, 0, sizeof plot->points);
    fprintf(plot->out, "set title \"%s\"\nset xlabel \"%s\"\n", title, x);
}

/* times: the axis x has times, too; else numbers. */
static void picture_end(struct plot *plot, bool times)
{
    static const char *const names[LINES] = {
        [GBA_PLOT_DEVICE] = "device",   [GBA_PLOT_DISSEMINATION] = "dissemination",
        [GBA_PLOT_RADIX] = "radix",     [GBA_PLOT_TREE] = "tree",
        [GBA_PLOT_COUNTER] = "counter", [GBA_PLOT_RUNTIME] = "Open MPI",
        [UNICAST] = "unicast"};
    const double first = plot->x[0], last = plot->x[plot->count - 1];
    struct gba_plot_end ends[LINES];
    size_t count = 0;
    double low = INFINITY, high = 0;
    char labels[LINES][24];
    bool drawn[LINES] = {false};

    fputs("$data << EOD\n", plot->out);
    for (unsigned line = 1; line < LINES; line++) {
        uint32_t end = POINTS;

        for (uint32_t i = 0; i < plot->count; i++) {
            const struct point *point = &plot->points[line][i];

            /* On several hosts the counter is no barrier of all. */
            if (0 == point->y || (GBA_PLOT_COUNTER == line && 0 == i && plot->count > 1 && !times))
                continue;
            end = i;
            low = fmin(low, point->low);
            high = fmax(high, point->high);
            fprintf(plot->out, "%u %g %g %g %g\n", line, plot->x[i], point->y, point->low,
                    point->high);
        }
        if (POINTS == end)
            continue;
        drawn[line] = true;
        snprintf(labels[line], sizeof labels[line], "%s%s",
                 0 != plot->points[UNICAST][end].y && GBA_PLOT_DEVICE == line ? "multicast"
                                                                              : names[line],
                 end + 1 < plot->count ? " ends" : "");
        ends[count++] =
            (struct gba_plot_end){UNICAST == line ? GBA_PLOT_DEVICE : line, labels[line],
                                  plot->x[end], plot->points[line][end].y};
    }
    fputs("EOD\n", plot->out);
    if (0 == count) {
        low = high = 1e-6;
        fprintf(plot->out, "set label 1 \"no device: %s\" at graph 0.5,0.5 center\n",
                plot->refused);
    }
    if (times) {
        gba_plot_times(plot->out, "x", first, last);
    } else {
        fprintf(plot->out, "set logscale x 2\nset xrange [%g:%g]\nset xtics 2\n",
                last > first ? first : first / 2, last > first ? last : 2 * last);
        if (last > 1.25 * exp2(floor(log2(last))))
            fprintf(plot->out, "set xtics add (%g)\n", last);
    }
    gba_plot_ends(plot->out, ends, count, low, high);
    fputs("plot 1e6", plot->out); /* outside */
    for (unsigned line = 1; line < LINES; line++)
        if (drawn[line])
            fprintf(plot->out,
                    ", $data using ($1 == %u ? $2 : NaN):3:4:5 with yerrorlines linetype %u", line,
                    line);
    fputs("\nunset label\nunset arrow\n", plot->out);
}

static void crossover_draw(struct plot *plot, const struct predict_report *report)
{
    const uint32_t hosts = report->list->hosts, at = report->crossover;
    const bool inside = 0 != at && at <= hosts, right = (uint64_t)at * at > hosts;

    if (!report->crossed)
        return;
    if (inside)
        fprintf(plot->out,
                "set arrow from %" PRIu32 ", graph 0 to %" PRIu32 ", graph 1 nohead dashtype 2\n",
                at, at);
    fputs("set label 90 \"crossover: the device is ", plot->out);
    if (0 == at)
        fprintf(plot->out, "not faster on up to %" PRIu32 " hosts", report->most);
    else
        fprintf(plot->out, "faster from %" PRIu32 " host%s on", at, 1 == at ? "" : "s");
    if (inside)
        fprintf(plot->out, "\" at %" PRIu32 ", graph 0.94 %s offset %d\n", at,
                right ? "right" : "left", right ? -1 : 1);
    else
        fputs("\" at graph 0.98,0.06 right\n", plot->out);
}

/* Below the pictures: the cluster, the date, and what was assumed. */
static void caption_write(struct plot *plot, uint32_t ranks)
{
    const struct predict_setup *setup = &plot->question->setup;
    const struct gba_cluster *c = plot->cluster;
    const time_t now = time(NULL);
    struct tm local;
    char date[16], late[80] = "";
    unsigned label = 91;

    localtime_r(&now, &local);
    strftime(date, sizeof date, "%Y-%m-%d", &local);
    if (0 != setup->late)
        snprintf(late, sizeof late, " One rank is %g us late in the first two pictures.",
                 (double)setup->late / 1e6);
    fprintf(plot->out,
            "set label %u \"Cluster: %s; %" PRIu32
            " ranks a host. Simulated by gba_predict %s on %s.\" "
            "at screen 0.02,0.078\n",
            label, c->source, ranks, gba_version(), date);
    fprintf(plot->out,
            "set label %u \"%s: %.9g ns to the device, %.9g ns back, "
            "%.9g ns for each arrival, %.9g ns to complete a round.\" at screen 0.02,0.062\n",
            label + 1,
            plot->measured ? "The device as measured or assumed in the description"
                           : "Assumed, because no GBA has been built",
            (double)c->device_up / 1e3, (double)c->device_down / 1e3,
            (double)c->device_accept / 1e3, (double)c->device_match / 1e3);
    fprintf(plot->out, "set label %u \"Median of the slowest rank. %s%s%s\" at screen 0.02,0.046\n",
            label + 2,
            plot->measured
                ? "Bars, as far as jobs of that size were measured: least and p95, at least 21%."
                : "No bars: nothing on such a cluster was measured.",
            setup->busy ? " Each core has other work." : "", late);
    fprintf(plot->out,
            "set label %u \"A line is the fastest barrier of its algorithm, of all ranks or of the "
            "hosts' leaders.\" at screen 0.02,0.030\n",
            label + 3);
    if ('\0' != plot->refused[0])
        fprintf(plot->out, "set label %u \"Where the device ends: %s.\" at screen 0.02,0.014\n",
                label + 4, plot->refused);
}

static void draw(struct plot *plot, const struct predict_report *report)
{
    static const uint32_t members[] = {32, 64, 128, 256, 512, 708};
    const uint32_t hosts = report->list->hosts, ranks = report->list->ranks;
    struct gba_cluster *c = plot->cluster;
    const uint64_t release = c->device_release, apart = 0 == release ? 5000 : release;
    const uint64_t given = plot->question->setup.late;
    const uint32_t few = hosts < 64 ? hosts : 64;
    char title[120];

    gba_plot_style(plot->out, 1300);
    fprintf(plot->out,
            "set linetype %u linecolor rgb \"#c03020\" pointtype 6 linewidth 1.5 dashtype 2\n"
            "set multiplot layout 3,1 margins 0.08,0.82,0.14,0.97 spacing 0.08\n",
            UNICAST);
    snprintf(title, sizeof title, "A barrier by hosts, %" PRIu32 " ranks a host", ranks);
    picture_begin(plot, title, "hosts");
    for (uint32_t n = 1; n < hosts; n *= 2)
        size_add(plot, n, n, ranks, 0);
    list_add(plot, hosts, report->list, 0);
    crossover_draw(plot, report);
    picture_end(plot, false);

    snprintf(title, sizeof title, "The device: multicast, or unicast with %g ns between two stores",
             (double)apart / 1e3);
    picture_begin(plot, title, "members");
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        c->device_release = 0;
        size_add(plot, members[i], members[i], 1, GBA_PLOT_DEVICE);
        c->device_release = apart;
        size_add(plot, members[i], members[i], 1, UNICAST);
    }
    picture_end(plot, false);

    c->device_release = release;
    snprintf(title, sizeof title,
             "A barrier with one rank late, %" PRIu32 " host%s x %" PRIu32 " ranks", few,
             1 == few ? "" : "s", ranks);
    picture_begin(plot, title, "how much later the rank arrives");
    for (uint64_t late = 100; late <= 100000; late *= 10) { /* ns */
        plot->question->setup.late = 1000 * late;
        size_add(plot, (double)late / 1e9, few, ranks, 0);
    }
    plot->question->setup.late = given;
    caption_write(plot, ranks);
    picture_end(plot, true);
}

gba_status_t predict_plot(const struct predict_question *question,
                          const struct predict_report *report, const char *path)
{
    struct gba_cluster cluster = *question->setup.cluster;
    struct predict_question changed = *question;
    struct plot *plot = calloc(1, sizeof *plot);
    gba_status_t status = GBA_ERR_NOMEM;

    if (plot == NULL)
        return GBA_ERR_NOMEM;
    gba_plot_plain(cluster.source);
    changed.setup.cluster = &cluster;
    *plot = (struct plot){.question = &changed,
                          .cluster = &cluster,
                          .measured = report->measured,
                          .list = calloc(1, sizeof *plot->list)};
    if (plot->list != NULL) {
        plot->out = popen("gnuplot", "w");
        plot->status = plot->out == NULL ? GBA_ERR_IO : GBA_OK;
        if (GBA_OK == plot->status) {
            fprintf(plot->out, "set output \"%s\"\n", path);
            draw(plot, report);
            if (0 != pclose(plot->out) && GBA_OK == plot->status)
                plot->status = GBA_ERR_IO;
        }
        status = plot->status;
    }
    free(plot->list);
    free(plot);
    return status;
}
