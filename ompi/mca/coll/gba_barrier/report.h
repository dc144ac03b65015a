/* SPDX-License-Identifier: BSD-3-Clause */
/* The output for the user. */
#ifndef GBA_COLL_REPORT_H
#define GBA_COLL_REPORT_H

#include "ompi/mca/coll/gba_barrier/module.h"

#include "ompi/mca/common/gba/report.h"

/* Report once, after MPI_Init's exchange, that a parameter is invalid; or, at verbose 1, that
 * `disable` is 1. */
void gba_coll_report_parameter(void);

/*
 * For gba_common_framework: report the path of a communicator, and its reason. Called by all
 * members. reporter: the member that reports at verbose 1. A user who requested the device gets the
 * line at verbose 0, from the member that knows the cause. reason, culprit: why there is no group,
 * or GBA_OK, and the member that caused it.
 */
void gba_coll_report_path(void *owner, uint32_t reporter, gba_status_t reason, uint32_t culprit,
                          const char *why);

/*
 * At verbose 1: report that the ranks of a communicator never agreed on a path, because it did
 * at most agree_after barriers. _begin: before a barrier on the fallback; in the first one it
 * stores the name, because the communicator may be partly destroyed at the end. _end: when the
 * module closes.
 */
void gba_coll_report_unagreed_begin(gba_coll_module_t *module);
void gba_coll_report_unagreed_end(gba_coll_module_t *module);

#endif
