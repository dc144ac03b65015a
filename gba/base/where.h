/* SPDX-License-Identifier: BSD-3-Clause */
/* The status pages of the processes of a job, for the reports of stalls. */
#ifndef GBA_BASE_WHERE_H
#define GBA_BASE_WHERE_H

#include "gba/stall.h"

/* This process looks at its places: other processes see that it is neither stopped, nor computes
 * beside a nonblocking barrier. Thread-safe. */
void gba_where_look(void);

/* As gba_where_leave, of a barrier that was not complete. */
void gba_where_give_up(int number);

/* Whether a process has not looked for so long that it is stopped, or computes beside a nonblocking
 * barrier. A process that waits looks many times in a second. */
#define GBA_WHERE_AWAY_NS UINT64_C(2000000000)
bool gba_where_away(const gba_where_process_t *process);

/* The processes of a job on this host. */
struct gba_where_job {
    gba_where_process_t *processes;
    uint32_t count, room;
};

/* Read them. What cannot be read is missing. list: set; gba_where_job_free frees it. Thread-safe.
 */
void gba_where_job_read(const char *job, struct gba_where_job *list);
void gba_where_job_free(struct gba_where_job *list);

/* The process with that rank; NULL: it is not on this host, or not visible. */
const gba_where_process_t *gba_where_job_find(const struct gba_where_job *list, uint32_t rank);

#endif
