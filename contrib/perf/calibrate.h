/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a calibration (gba_perf --calibrate). */
#ifndef CONTRIB_PERF_CALIBRATE_H
#define CONTRIB_PERF_CALIBRATE_H

#include "contrib/perf/measure.h"

/* Print a line of the description, with the origin of its value. Only rank 0 prints. */
void perf_put(const char *key, double value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Run as many batches as the options say. Both ranks of a pair call it alike. Returns the first
 * quartile of what they return, because a longer batch may have been interrupted, and the noise is
 * measured by itself.
 */
double perf_time_of(double (*batch)(void));

/* Measure messages. Rank 0 and one other rank call it, each with the rank of the other one. */
void perf_calibrate_messages(int other);

#endif
