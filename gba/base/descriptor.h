/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors that a library keeps inside a program. The program may close all descriptors, also
 * those that it has not opened, and then open another file with the same number. Code that keeps a
 * descriptor between two calls keeps this structure, and gets the number from it for each use, so
 * that no call of this library writes to a file of the program or closes it. contrib/lint refuses a
 * bare number in a structure. Files that share one inode, such as all eventfds, cannot be told
 * apart.
 */
#ifndef GBA_BASE_DESCRIPTOR_H
#define GBA_BASE_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

struct gba_descriptor {
    int number;             /* -1: none */
    uint64_t device, inode; /* of the file */
};

/* Keep an open descriptor. status: of fstat. Pure. */
static inline struct gba_descriptor gba_descriptor_of(int number, const struct stat *status)
{
    return (struct gba_descriptor){number, status->st_dev, status->st_ino};
}

/* Keep an open descriptor. Returns false, with the errno of fstat, on failure: the caller still has
 * the descriptor. Thread-safe. */
static inline bool gba_descriptor_keep(struct gba_descriptor *descriptor, int number)
{
    struct stat status;

    if (0 != fstat(number, &status))
        return false;
    *descriptor = gba_descriptor_of(number, &status);
    return true;
}

/* Whether an open descriptor of that number is still that of the file. status: of fstat now.
 * Pure. */
static inline bool gba_descriptor_is(const struct gba_descriptor *descriptor,
                                     const struct stat *status)
{
    return descriptor->device == status->st_dev && descriptor->inode == status->st_ino;
}

/*
 * Get the number, for one system call. Returns -1 if the program has closed the descriptor, or has
 * given its number to another file; system calls then fail with EBADF. Makes one system call.
 * Thread-safe, and safe in a signal handler; another thread of the program may still replace the
 * descriptor after the call.
 */
static inline int gba_descriptor_number(const struct gba_descriptor *descriptor)
{
    struct stat status;

    return descriptor->number >= 0 && 0 == fstat(descriptor->number, &status) &&
                   gba_descriptor_is(descriptor, &status)
               ? descriptor->number
               : -1;
}

/* Close the file, unless the program has closed it. There is none then. Thread-safe on different
 * descriptors, and safe in a signal handler. */
static inline void gba_descriptor_close(struct gba_descriptor *descriptor)
{
    const int number = gba_descriptor_number(descriptor);

    if (number >= 0)
        (void)close(number);
    descriptor->number = -1;
}

#endif
