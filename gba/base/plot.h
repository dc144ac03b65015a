/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The style that the plots of gba_predict and gba_perf share, as commands of gnuplot. Errors of the
 * stream remain in it. Thread-safe on different streams. Not collective.
 */
#ifndef GBA_BASE_PLOT_H
#define GBA_BASE_PLOT_H

#include <stddef.h>
#include <stdio.h>

/* Lines of the style. */
enum gba_plot_line {
    GBA_PLOT_BLACK,
    GBA_PLOT_DEVICE,
    GBA_PLOT_DISSEMINATION,
    GBA_PLOT_RADIX,
    GBA_PLOT_TREE,
    GBA_PLOT_COUNTER,
    GBA_PLOT_RUNTIME,    /* the runtime's own barrier */
    GBA_PLOT_LINES = 12, /* those after RUNTIME are for settings of other names */
};

/* Characters of a text in quotes that gnuplot reads. */
#define GBA_PLOT_READ "\"\\\n`"

/* Replace these characters of a text by quotes. */
void gba_plot_plain(char *text);

/* The end of a line, with its label. */
struct gba_plot_end {
    unsigned line;    /* enum gba_plot_line */
    const char *name; /* without GBA_PLOT_READ */
    double x, y;      /* y: more than 0 */
};

/* Write terminal, grid, and colours and marks of the lines. height: of the picture, in pixels. */
void gba_plot_style(FILE *out, unsigned height);

/* The line of an algorithm, GBA_PLOT_DEVICE to GBA_PLOT_RUNTIME, by the name of a candidate or of a
 * setting; GBA_PLOT_BLACK: it is no algorithm. */
unsigned gba_plot_line(const char *name);

/* Write an axis of times: logarithmic, in seconds, with units. axis: "x" or "y". low, high: its
 * ends, more than 0. */
void gba_plot_times(FILE *out, const char *axis, double low, double high);

/* Write the axis y, of times, and labels at the ends of the lines, none on another one. Sorts the
 * ends, and moves them. low, high: the least and the largest value, more than 0. Labels have the
 * numbers from 1 on. */
void gba_plot_ends(FILE *out, struct gba_plot_end *ends, size_t count, double low, double high);

#endif
