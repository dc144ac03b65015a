/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What gba_perf measured as MPI_Barrier on 16 cores of one socket and last-level cache (Xeon,
 * Sapphire Rapids, a virtual machine) on November 26, 2026: Open MPI 6.0.0rc2, each rank bound to a
 * core, medians of 3 interleaved runs, ns. All paths of one host with 4 to 16 ranks, and 2.
 */
#ifndef GBA_TESTS_UNIT_MEASURED_CORES_H
#define GBA_TESTS_UNIT_MEASURED_CORES_H

#include "gba/params.h"

enum { FLAT = GBA_HIERARCHY_FLAT, NODE = GBA_HIERARCHY_NODE };
enum { DISSEMINATION = GBA_ALGORITHM_V1, RADIX, CENTRAL, TREE };

/* Ranks, path, radix, and ns. */
static const struct row {
    uint32_t ranks;
    int32_t hierarchy, algorithm;
    uint8_t radix;
    uint32_t ns;
} rows[] = {
    {2, FLAT, DISSEMINATION, 8, 191},
    {4, FLAT, DISSEMINATION, 8, 336},
    {4, FLAT, RADIX, 3, 431},
    {4, FLAT, RADIX, 4, 305},
    {4, FLAT, RADIX, 8, 287},
    {4, FLAT, RADIX, 16, 272},
    {4, FLAT, CENTRAL, 8, 466},
    {4, FLAT, TREE, 8, 447},
    {4, NODE, GBA_ALGORITHM_AUTO, 8, 494},
    {8, FLAT, DISSEMINATION, 8, 558},
    {8, FLAT, RADIX, 3, 516},
    {8, FLAT, RADIX, 4, 464},
    {8, FLAT, RADIX, 8, 537},
    {8, FLAT, RADIX, 16, 526},
    {8, FLAT, CENTRAL, 8, 910},
    {8, FLAT, TREE, 8, 783},
    {8, NODE, GBA_ALGORITHM_AUTO, 8, 796},
    {12, FLAT, DISSEMINATION, 8, 720},
    {12, FLAT, RADIX, 3, 703},
    {12, FLAT, RADIX, 4, 569},
    {12, FLAT, RADIX, 8, 657},
    {12, FLAT, RADIX, 16, 851},
    {12, FLAT, CENTRAL, 8, 1123},
    {12, FLAT, TREE, 8, 880},
    {16, FLAT, DISSEMINATION, 8, 747},
    {16, FLAT, RADIX, 3, 762},
    {16, FLAT, RADIX, 4, 641},
    {16, FLAT, RADIX, 8, 723},
    {16, FLAT, RADIX, 16, 1149},
    {16, FLAT, CENTRAL, 8, 1321},
    {16, FLAT, TREE, 8, 1066},
    {16, NODE, GBA_ALGORITHM_AUTO, 8, 1255},
};

#define ROWS (sizeof rows / sizeof rows[0])

#endif
