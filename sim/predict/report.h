/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of gba_predict. */
#ifndef GBA_PREDICT_REPORT_H
#define GBA_PREDICT_REPORT_H

#include <stdio.h>

#include "sim/predict/candidates.h"

struct predict_report {
    const struct predict_question *question;
    const struct predict_list *list;
    bool crossed;       /* the crossover was looked for */
    uint32_t crossover; /* hosts; 0: none up to `most` */
    uint32_t most;
};

void predict_report_text(const struct predict_report *report, FILE *out);
void predict_report_json(const struct predict_report *report, FILE *out);

/*
 * Draw latency by hosts, the two kinds of release by members, and losses, with gnuplot.
 * path: of the SVG file. Returns GBA_OK; GBA_ERR_NOMEM; or GBA_ERR_IO: gnuplot failed, and message
 * has one line (len bytes at most, terminated).
 */
gba_status_t predict_plot(const struct predict_question *question, uint32_t hosts, uint32_t ranks,
                          const char *path, char *message, size_t len);

#endif
