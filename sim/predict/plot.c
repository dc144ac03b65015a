/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plot of gba_predict: gnuplot gets the data of each picture, one line for each candidate at
 * each size, and draws a line for each name.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/predict/report.h"

#define NAMES 512u

/* 95% of the errors of recorded predictions (contrib/bench/README.md). */
#define ERROR 0.21

struct plot {
    FILE *out;
    struct predict_question *question; /* these two change from size to size */
    struct gba_cluster *cluster;
    struct predict_list *list;
    char names[NAMES]; /* of this picture, each once, with a blank behind it */
    gba_status_t status;
};

static void name_write(struct plot *plot, const char *name)
{
    const size_t used = strlen(plot->names);
    char word[64];

    snprintf(word, sizeof word, "%s ", name);
    for (char *c = word; '\0' != c[0] && '\0' != c[1]; c++)
        if (' ' == *c)
            *c = '_';
    if (strstr(plot->names, word) == NULL)
        snprintf(plot->names + used, NAMES - used, "%s", word);
    fputs(word, plot->out);
}

static void point_write(struct plot *plot, const char *name, double x,
                        const struct predict_spread *spread)
{
    const double median = (double)spread->median / 1e6;

    name_write(plot, name);
    fprintf(plot->out, "%g %g %g %g\n", x, median,
            fmin((double)spread->least / 1e6, median * (1 - ERROR)),
            fmax((double)spread->p95 / 1e6, median * (1 + ERROR)));
}

/* The candidates of one size. device: only the device of all, by that name. */
static void size_write(struct plot *plot, double x, uint32_t hosts, uint32_t ranks,
                       const char *device)
{
    if (GBA_OK == plot->status)
        plot->status = predict_candidates(plot->question, hosts, ranks, plot->list);
    for (uint32_t i = 0; GBA_OK == plot->status && i < plot->list->count; i++) {
        const struct predict_candidate *candidate = &plot->list->candidates[i];

        if (GBA_OK == candidate->refused &&
            (device == NULL || strcmp(candidate->name, "device") == 0))
            point_write(plot, device != NULL ? device : candidate->name, x,
                        &candidate->result.slowest);
    }
}

static void picture_begin(struct plot *plot, const char *title, const char *x)
{
    plot->names[0] = '\0';
    fprintf(plot->out, "set title \"%s%s\"\nset xlabel \"%s\"\n$data << EOD\n", title,
            0 != plot->cluster->extrapolated ? " (dashed: extrapolated, not measured)" : "", x);
}

static void picture_end(struct plot *plot)
{
    if ('\0' == plot->names[0]) {
        fputs("EOD\nset multiplot next\n", plot->out);
        return;
    }
    fprintf(plot->out,
            "EOD\nplot for [name in \"%s\"] $data using (strcol(1) eq name ? $2 : NaN):3:4:5 with "
            "yerrorlines pointtype 7 pointsize 0.5 dashtype %d title name\n",
            plot->names, 0 != plot->cluster->extrapolated ? 2 : 1);
}

static void draw(struct plot *plot, uint32_t hosts, uint32_t ranks)
{
    static const uint32_t members[] = {32, 64, 128, 256, 512, 708};
    struct gba_cluster *c = plot->cluster;
    const uint64_t release = c->device_release, apart = 0 == release ? 5000 : release;
    const uint32_t few = hosts < 64 ? hosts : 64;
    char title[120];

    fputs("set terminal svg size 1000,1350 enhanced font \"sans,13\" background rgb \"white\"\n"
          "set multiplot layout 3,1\nset key outside right top noenhanced\nset grid\n"
          "set title noenhanced\nset logscale xy\nset ylabel \"us\"\nset datafile missing NaN\n"
          "set linetype 5 linecolor rgb \"#c03020\"\n",
          plot->out);
    snprintf(title, sizeof title, "%" PRIu32 " ranks a host: median, least, p95", ranks);
    picture_begin(plot, title, "hosts");
    for (uint32_t n = 1; n < hosts; n *= 2)
        size_write(plot, n, n, ranks, NULL);
    size_write(plot, hosts, hosts, ranks, NULL);
    picture_end(plot);

    snprintf(title, sizeof title, "Release: multicast, or unicast with %g ns between two stores",
             (double)apart / 1e3);
    picture_begin(plot, title, "members");
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        c->device_release = 0;
        size_write(plot, members[i], members[i], 1, "multicast");
        c->device_release = apart;
        size_write(plot, members[i], members[i], 1, "unicast");
    }
    picture_end(plot);

    c->device_release = release;
    snprintf(title, sizeof title, "One rank late, %" PRIu32 " hosts x %" PRIu32 " ranks", few,
             ranks);
    picture_begin(plot, title, "us that the rank arrives later");
    for (uint64_t late = 100; late <= 100000; late *= 10) { /* ns */
        plot->question->setup.late = 1000 * late;
        size_write(plot, (double)late / 1e3, few, ranks, NULL);
    }
    picture_end(plot);
}

gba_status_t predict_plot(const struct predict_question *question, uint32_t hosts, uint32_t ranks,
                          const char *path)
{
    struct gba_cluster cluster = *question->setup.cluster;
    struct predict_question changed = *question;
    struct plot plot = {.question = &changed, .cluster = &cluster};

    if (strpbrk(path, "\"\\\n`") != NULL)
        return GBA_ERR_PARAM;
    changed.setup.cluster = &cluster;
    plot.list = calloc(1, sizeof *plot.list);
    plot.out = popen("gnuplot", "w");
    plot.status = plot.list == NULL ? GBA_ERR_NOMEM : plot.out == NULL ? GBA_ERR_IO : GBA_OK;
    if (GBA_OK == plot.status) {
        fprintf(plot.out, "set output \"%s\"\n", path);
        draw(&plot, hosts, ranks);
    }
    if (plot.out != NULL && 0 != pclose(plot.out) && GBA_OK == plot.status)
        plot.status = GBA_ERR_IO;
    free(plot.list);
    return plot.status;
}
