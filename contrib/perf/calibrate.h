/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a calibration (gba_perf --calibrate). */
#ifndef CONTRIB_PERF_CALIBRATE_H
#define CONTRIB_PERF_CALIBRATE_H

#include "contrib/perf/measure.h"

/* Measure messages. Rank 0 and one other rank call it, each with the rank of the other one. */
void perf_calibrate_messages(int other);

#endif
