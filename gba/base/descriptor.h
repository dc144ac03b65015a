/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a descriptor is still that of a file that this library has opened. A program may close
 * all descriptors, also those that it has not opened, and then open another file with the same
 * number. Code that keeps a descriptor inside a program compares it before each write and close.
 */
#ifndef GBA_BASE_DESCRIPTOR_H
#define GBA_BASE_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * Whether descriptor `number` is of the file with that device and inode (st_dev and st_ino of fstat
 * after the file was opened). False for a number that is closed or negative. Makes one system call.
 * Thread-safe, and safe in a signal handler; another thread of the program may still replace the
 * descriptor after the call.
 */
static inline bool gba_descriptor_is(int number, uint64_t device, uint64_t inode)
{
    struct stat status;

    return number >= 0 && 0 == fstat(number, &status) && device == status.st_dev &&
           inode == status.st_ino;
}

#endif
