/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a calibration (gba_perf --calibrate). */
#ifndef CONTRIB_PERF_CALIBRATE_H
#define CONTRIB_PERF_CALIBRATE_H

#include "contrib/perf/measure.h"

/* The ns of one MPI_Send of many. Two ranks call it, each with the other one. */
double perf_time_of_sends(int other);

/* Measure messages. Rank 0 and one other rank call it, each with the rank of the other one. Returns
 * the ns of a look that finds no message. */
double perf_calibrate_messages(int other);

#endif
