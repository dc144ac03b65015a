/* SPDX-License-Identifier: BSD-3-Clause */
/* The job of a batch system to which a process belongs, for reports. */
#ifndef GBA_BASE_BATCH_JOB_H
#define GBA_BASE_BATCH_JOB_H

#include <stdint.h>

#define GBA_BATCH_JOB 29u /* bytes of a text with its end: as long as a NAME of gba-switchd */

/*
 * Get the job by the environment with which a process was started: SLURM_JOB_ID, PBS_JOBID,
 * LSB_JOBID or FLUX_JOB_ID, in this order.
 * file: /proc/PID/environ. text: set to "slurm:12", "pbs:12.server", "lsf:12" or "flux:f2oLk", cut
 * at its length, in printable ASCII; "": no such job, or the file cannot be read. Thread-safe. Not
 * collective.
 */
void gba_batch_job_in(const char *file, char text[GBA_BATCH_JOB]);

/* The same for a process of this host. process: its id; 0: this one. */
void gba_batch_job(uint32_t process, char text[GBA_BATCH_JOB]);

#endif
