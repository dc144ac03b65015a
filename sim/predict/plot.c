/* SPDX-License-Identifier: BSD-3-Clause */
/* The plot of gba_predict: data and commands for gnuplot. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/predict/report.h"

#define SIZES_MOST 26u

/* The results for one series of sizes, of which each has another question. */
struct series {
    uint32_t count;
    double x[SIZES_MOST];
    struct predict_list *list[SIZES_MOST];
};

static void series_free(struct series *series)
{
    for (uint32_t i = 0; i < series->count; i++)
        free(series->list[i]);
    series->count = 0;
}

static gba_status_t series_add(struct series *series, double x,
                               const struct predict_question *question, uint32_t hosts,
                               uint32_t ranks)
{
    struct predict_list *list = calloc(1, sizeof *list);
    gba_status_t status =
        list == NULL ? GBA_ERR_NOMEM : predict_candidates(question, hosts, ranks, list);

    if (GBA_OK != status || SIZES_MOST == series->count) {
        free(list);
        return status;
    }
    series->x[series->count] = x;
    series->list[series->count++] = list;
    return GBA_OK;
}

/* The candidate of that name on so many hosts. NULL: none, or not simulated. */
static const struct predict_candidate *find(const struct predict_list *list, const char *name)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->at[i].name, name) == 0 && GBA_OK == list->at[i].refused)
            return &list->at[i];
    return NULL;
}

/* A data block of median, p95 and p99, and nothing where there is no such candidate. */
static void block(FILE *out, const struct series *series, const char *name, unsigned number)
{
    fprintf(out, "$d%u << EOD\n", number);
    for (uint32_t i = 0; i < series->count; i++) {
        const struct predict_candidate *candidate = find(series->list[i], name);
        const struct predict_spread *spread = candidate == NULL ? NULL : &candidate->result.slowest;

        if (spread != NULL)
            fprintf(out, "%g %g %g %g\n", series->x[i], (double)spread->median / 1e6,
                    (double)spread->least / 1e6, (double)spread->p95 / 1e6);
    }
    fputs("EOD\n", out);
}

/* One picture: all candidates that some size has. extrapolated: dashed lines. */
static unsigned picture(FILE *out, const struct series *series, const char *title,
                        const char *x_name, bool extrapolated, unsigned number)
{
    const char *names[GBA_LIST_MOST];
    unsigned count = 0;

    for (uint32_t i = 0; i < series->count; i++)
        for (uint32_t k = 0; k < series->list[i]->count; k++) {
            const char *name = series->list[i]->at[k].name;
            bool known = find(series->list[i], name) == NULL || GBA_LIST_MOST == count;

            for (unsigned n = 0; n < count; n++)
                known = known || strcmp(names[n], name) == 0;
            if (!known)
                names[count++] = name;
        }
    for (unsigned n = 0; n < count; n++)
        block(out, series, names[n], number + n);
    fprintf(out, "set title \"%s\"\nset xlabel \"%s\"\nplot ", title, x_name);
    for (unsigned n = 0; n < count; n++)
        fprintf(out,
                "%s$d%u using 1:2:3:4 with yerrorlines pointtype 7 pointsize 0.5 dashtype %d "
                "linecolor %u title \"%s\"",
                0 == n ? "" : ", ", number + n, extrapolated ? 2 : 1, n + 1, names[n]);
    fputs("\n", out);
    return number + count;
}

static gba_status_t hosts_series(struct series *series, const struct predict_question *question,
                                 uint32_t hosts, uint32_t ranks)
{
    gba_status_t status = GBA_OK;

    for (uint32_t n = 1; GBA_OK == status && n < hosts; n *= 2)
        status = series_add(series, n, question, n, ranks);
    return GBA_OK == status ? series_add(series, hosts, question, hosts, ranks) : status;
}

/* One rank on each host of one switch: only the device. */
static gba_status_t releases_series(struct series *series, const struct predict_question *question,
                                    struct gba_cluster *cluster, uint64_t apart)
{
    static const uint32_t members[] = {32, 64, 128, 256, 512, 708};
    gba_status_t status = GBA_OK;

    cluster->device_release = apart;
    for (size_t i = 0; GBA_OK == status && i < sizeof members / sizeof members[0]; i++)
        if (members[i] <= cluster->device_members && members[i] <= cluster->device_hosts)
            status = series_add(series, members[i], question, members[i], 1);
    return status;
}

static gba_status_t losses_series(struct series *series, const struct predict_question *question,
                                  struct gba_cluster *cluster, uint32_t hosts, uint32_t ranks)
{
    static const uint32_t ppm[] = {1, 10, 100, 1000, 10000};
    gba_status_t status = GBA_OK;

    for (size_t i = 0; GBA_OK == status && i < sizeof ppm / sizeof ppm[0]; i++) {
        cluster->device_loss = cluster->loss = ppm[i];
        status = series_add(series, ppm[i], question, hosts, ranks);
    }
    return status;
}

/* Only the device of all members. */
static void device_only(struct series *series, const char *name)
{
    for (uint32_t i = 0; i < series->count; i++)
        for (uint32_t k = 0; k < series->list[i]->count; k++) {
            struct predict_candidate *candidate = &series->list[i]->at[k];

            if (strcmp(candidate->name, "device") == 0)
                candidate->name = name;
            else
                candidate->refused = GBA_ERR_UNSUPPORTED;
        }
}

static gba_status_t draw(FILE *out, const struct predict_question *question, uint32_t hosts,
                         uint32_t ranks)
{
    struct gba_cluster cluster = *question->setup.cluster;
    struct predict_question other = *question;
    struct series series = {0}, unicast = {0};
    const bool extrapolated = 0 != cluster.extrapolated;
    const uint64_t apart = 0 == cluster.device_release ? 5000 : cluster.device_release;
    char title[160];
    unsigned number = 0;
    gba_status_t status;

    other.setup.cluster = &cluster;
    fputs("set terminal svg size 1000,1350 enhanced font \"sans,13\" background rgb \"white\"\n"
          "set multiplot layout 3,1\nset key outside right top noenhanced\nset grid\n"
          "set title noenhanced\nset logscale xy\nset ylabel \"us\"\n"
          "set linetype 5 linecolor rgb \"#c03020\"\n",
          out);
    status = hosts_series(&series, question, hosts, ranks);
    if (GBA_OK == status) {
        snprintf(title, sizeof title, "%s, x%" PRIu32 " ranks: median; least to p95%s", "By hosts",
                 ranks, extrapolated ? "; dashed: extrapolated, not measured" : "");
        number = picture(out, &series, title, "hosts", extrapolated, number);
        series_free(&series);
        status = releases_series(&series, &other, &cluster, 0);
    }
    if (GBA_OK == status)
        status = releases_series(&unicast, &other, &cluster, apart);
    if (GBA_OK == status) {
        device_only(&series, "multicast");
        device_only(&unicast, "unicast");
        for (uint32_t i = 0; i < unicast.count && series.count < SIZES_MOST; i++) {
            series.x[series.count] = unicast.x[i];
            series.list[series.count++] = unicast.list[i];
        }
        unicast.count = 0;
        snprintf(title, sizeof title,
                 "Release of one device: multicast, and unicast with %g ns between two stores",
                 (double)apart / 1e3);
        number = picture(out, &series, title, "members", extrapolated, number);
        series_free(&series);
        cluster = *question->setup.cluster;
        status = losses_series(&series, &other, &cluster, hosts < 64 ? hosts : 64, ranks);
    }
    if (GBA_OK == status) {
        snprintf(title, sizeof title, "Losses, %" PRIu32 " hosts x %" PRIu32 " ranks",
                 hosts < 64 ? hosts : 64, ranks);
        picture(out, &series, title, "arrivals, releases and messages lost, of a million",
                extrapolated, number);
    }
    series_free(&series);
    series_free(&unicast);
    return status;
}

gba_status_t predict_plot(const struct predict_question *question, uint32_t hosts, uint32_t ranks,
                          const char *path, char *message, size_t len)
{
    FILE *out = popen("gnuplot", "w");
    gba_status_t status;

    if (out == NULL) {
        snprintf(message, len, "--plot: cannot start gnuplot: %s", strerror(errno));
        return GBA_ERR_IO;
    }
    if (strpbrk(path, "\"\\\n`") != NULL) {
        pclose(out);
        snprintf(message, len, "--plot: the name of the file has a character that gnuplot reads");
        return GBA_ERR_IO;
    }
    fprintf(out, "set output \"%s\"\n", path);
    status = draw(out, question, hosts, ranks);
    if (0 != pclose(out) && GBA_OK == status) {
        snprintf(message, len, "--plot %s: gnuplot failed. Install it (Debian: gnuplot-nox)", path);
        return GBA_ERR_IO;
    }
    if (GBA_OK != status)
        snprintf(message, len, "--plot %s: %s", path, gba_status_text(status));
    return status;
}
