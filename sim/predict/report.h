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
    const struct predict_candidate *device, *software; /* the fastest ones, or NULL */
    const struct predict_candidate *own;               /* Open MPI's barrier */
    uint64_t even_software, even_own; /* device times with which `device` is no faster, or 0 */
    bool measured;                    /* the description is measured on this cluster */
    unsigned int rate;                /* barriers a second of the application; 0: not known */
};

void predict_report_text(const struct predict_report *report, FILE *out);
void predict_report_json(const struct predict_report *report, FILE *out);

/*
 * Draw with gnuplot and gba_predict.gp: the times of barriers by hosts, with the crossover.
 * question: how to simulate. path: of the SVG file. Returns GBA_OK; GBA_ERR_NOMEM; or GBA_ERR_IO:
 * gnuplot failed. Not thread-safe.
 */
gba_status_t predict_report_plot(const struct predict_report *report,
                                 const struct predict_question *question, const char *path);

#endif
