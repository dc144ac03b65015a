/* SPDX-License-Identifier: BSD-3-Clause */
/* The open files of other processes, in /proc. */
#ifndef GBA_BASE_OPEN_FILES_H
#define GBA_BASE_OPEN_FILES_H

#include "gba/types.h"

/* An open file: the link `name` in the open directory /proc/PID/fd, and its target. */
struct gba_open_file {
    int directory;
    const char *name, *target;
};

/*
 * Pass each open file of a process to `take`, until that returns another status than
 * GBA_INPROGRESS. Processes and files come and go meanwhile, and some belong to other users: what
 * cannot be read for this reason is passed over. proc: the open directory /proc. pid: a name in it.
 * Returns the last status of `take`; GBA_INPROGRESS; or (logged) GBA_ERR_NO_FILES, _NOMEM or _IO:
 * this process could not look. Thread-safe. Not collective.
 */
gba_status_t gba_open_files(int proc, const char *pid,
                            gba_status_t (*take)(void *ctx, const struct gba_open_file *file),
                            void *ctx);

#endif
