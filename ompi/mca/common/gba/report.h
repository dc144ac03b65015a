/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines for the user: the log, reasons, and who prints.
 */
#ifndef GBA_COMMON_REPORT_H
#define GBA_COMMON_REPORT_H

#include "gba/gba.h"

/*
 * Whether this process is the first of its job on its host to report a topic, for lines that one
 * process prints for all. True at most once per job, host and topic, so the caller must then
 * report. A container with its own /tmp is another host here. topic: any text. Thread-safe. Not
 * collective.
 */
bool gba_common_first_on_host(const char *topic);

/* Open the log of the component and send libgba's lines there. */
void gba_common_log_open(void);

/* Close the log; libgba's lines go to stderr again. */
void gba_common_log_close(void);

/*
 * Print a line for the user, with the component's label: at verbose 1, or `always`. The line then
 * starts on a new line even if the program has left one unfinished. format: without a newline. Cut
 * at 1535 bytes. Thread-safe after gba_common_log_open.
 */
void gba_common_print(bool always, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define gba_common_alert(...) gba_common_print(true, __VA_ARGS__)

/*
 * End the job with the line "rank N of the job WHY": this process cannot take part where other
 * processes wait for it. An error code is not enough: scoll/mpi takes another barrier alone if
 * MPI_Barrier fails.
 */
void gba_common_end_job(const char *why);

/* Store libgba's errors of this thread in text, and do not print them. NULL: print them again. */
void gba_common_log_keep(char *text, size_t len);

/*
 * Whether a reason for a team's path is to be reported to the user and has not been. Every member
 * of the team must call this, the reporting one included, because it records the reason, and
 * whether the device serves teams. Takes the lock.
 * asked: the user requested a device.
 */
bool gba_common_reason_due(gba_status_t reason, bool asked);

/*
 * Whether only the member with this reason has its cause: the error of its own device. That member
 * then reports it, instead of the member that reports for all.
 */
bool gba_common_reason_own(gba_status_t reason);

/*
 * Whether a reason concerns the whole job, and not one host: the device has no free group. Only
 * rank 0 of the job reports it, for its own teams, so that the job prints one line. Nothing else
 * elects one process of all hosts: Open MPI 4.1 loses messages that it aggregates, and the data
 * server of mpirun stores several values of one name.
 */
bool gba_common_reason_of_job(gba_status_t reason);

/*
 * Whether this process prints a line at verbose 0 about a team without a group, if that is due
 * (gba_common_reason_due). One process of each host does. Of the reasons of
 * gba_common_reason_of_job, rank 0 of the job does, unless other teams of the job have groups of
 * the device, which this queries. text: receives the end of the line (at most len bytes,
 * terminated), also if it is not due: the fault of the device; and for a user who asked for the
 * device the requested path, and what to do. Thread-safe.
 */
bool gba_common_reason_describe(gba_status_t reason, bool due, bool asked, char *text, size_t len);

/* totals.c */

struct gba_common_module;

/* Keep why the first module of which this process is rank 0 has no device: gba_common.why is set to
 * "NAME: WHY", truncated. Thread-safe. */
void gba_common_reason_keep(const struct gba_common_module *m, const char *name, const char *why);

/* Print the totals of this process and of its devices, if this is rank 0 of the job or has repaired
 * a loss: at verbose 1 in words, or with the parameter totals as JSON. who: "rank", or "PE". */
void gba_common_totals(const char *who);

#endif
