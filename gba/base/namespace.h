/* SPDX-License-Identifier: BSD-3-Clause */
/* What /proc says of this process and its namespaces. */
#ifndef GBA_BASE_NAMESPACE_H
#define GBA_BASE_NAMESPACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The number of a namespace of this process: "ipc", "pid", ... The kernel uses 32 bits. 0: there is
 * none, with errno. The files below /proc/self are empty when the first thread has ended, and those
 * of this thread are not. Thread-safe. */
static inline uint32_t gba_namespace(const char *name)
{
    char path[40];
    struct stat st;

    snprintf(path, sizeof path, "/proc/thread-self/ns/%s", name);
    return 0 == stat(path, &st) ? (uint32_t)st.st_ino : 0;
}

/*
 * Whether /proc shows the processes of this PID namespace. Members open each other's memory as
 * /proc/PID/fd/FD, and a /proc that was mounted in another PID namespace shows other processes
 * under the same numbers. Thread-safe.
 */
static inline bool gba_proc_is_own(void)
{
    char self[24];
    ssize_t len = readlink("/proc/self", self, sizeof self - 1);

    self[len > 0 ? len : 0] = '\0';
    return strtol(self, NULL, 10) == (long)getpid();
}

#endif
