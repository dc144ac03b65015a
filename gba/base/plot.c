/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/base/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The distance of two labels as a part of the height of the axis. */
#define LABEL 0.06

void gba_plot_plain(char *text)
{
    while ((text = strpbrk(text, GBA_PLOT_READ)) != NULL)
        *text = '\'';
}

void gba_plot_style(FILE *out, unsigned height)
{
    static const char *const colours[] = {"c03020", "0072b2", "009e73", "d08000",
                                          "cc79a7", "707070", "000000", "56b4e9",
                                          "8c5a2b", "6a3d9a", "a0a000", "e377c2"};
    static const unsigned marks[] = {7, 5, 9, 11, 13, 4};

    fprintf(out,
            "set terminal svg size 1000,%u font \"sans,13\" background rgb \"white\" noenhanced\n"
            "set grid\nset key off\nset datafile missing NaN\nset errorbars small\n",
            height);
    for (unsigned i = 0; i < GBA_PLOT_LINES; i++)
        fprintf(out,
                "set linetype %u linecolor rgb \"#%s\" pointtype %u pointsize 0.7 linewidth 1.5\n",
                i + 1, colours[i], marks[i % (sizeof marks / sizeof marks[0])]);
}

unsigned gba_plot_line(const char *name)
{
    static const struct {
        const char *name;
        unsigned line;
    } lines[] = {{"device", GBA_PLOT_DEVICE},    {"dissemination", GBA_PLOT_DISSEMINATION},
                 {"radix", GBA_PLOT_RADIX},      {"tree", GBA_PLOT_TREE},
                 {"central", GBA_PLOT_COUNTER},  {"counter", GBA_PLOT_COUNTER},
                 {"stock", GBA_PLOT_RUNTIME},    {"tuned", GBA_PLOT_RUNTIME},
                 {"fallback", GBA_PLOT_RUNTIME}, {"Open", GBA_PLOT_RUNTIME}};

    if (strncmp(name, "flat ", 5) == 0 || strncmp(name, "node ", 5) == 0)
        name += 5;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (strcspn(name, " ") == strlen(lines[i].name) &&
            strncmp(name, lines[i].name, strlen(lines[i].name)) == 0)
            return lines[i].line;
    return GBA_PLOT_BLACK;
}

void gba_plot_times(FILE *out, const char *axis, double low, double high)
{
    fprintf(out,
            "set logscale %s 10\nset format %s \"%%.0s %%cs\"\nset %srange [%g:%g]\nset %stics ()\n"
            "set for [d=-10:3] for [k in \"%s\"] %stics add (k * 10.0**d)\n",
            axis, axis, axis, low, high, axis, high / low < 1000 ? "1 2 5" : "1", axis);
}

static int by_height(const void *a, const void *b)
{
    const double one = ((const struct gba_plot_end *)a)->y;
    const double other = ((const struct gba_plot_end *)b)->y;

    return (one > other) - (one < other);
}

void gba_plot_ends(FILE *out, struct gba_plot_end *ends, size_t count, double low, double high)
{
    const double more = fmax(1.2, sqrt(6 * low / high)); /* so there are two ticks at least */
    const double step = pow(more * more * high / low, LABEL);

    gba_plot_times(out, "y", low / more, high * more);
    qsort(ends, count, sizeof *ends, by_height);
    for (size_t i = 1; i < count; i++)
        ends[i].y = fmax(ends[i].y, ends[i - 1].y * step);
    for (size_t i = count; i-- > 0;) {
        const double above = i + 1 == count ? high * more / 1.05 : ends[i + 1].y / step;

        ends[i].y = fmin(ends[i].y, above);
        fprintf(out, "set label %zu \"%s\" at %g,%g left offset 1 textcolor ", i + 1, ends[i].name,
                ends[i].x, ends[i].y);
        if (GBA_PLOT_BLACK == ends[i].line)
            fputs("rgb \"black\"\n", out);
        else
            fprintf(out, "linetype %u\n", ends[i].line);
    }
}
