/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that closes a descriptor of the library, as one does that closes all, and opens a file
 * of its own with the same number. No call of the library writes to that file or closes it.
 */
#ifndef GBA_TESTS_OWN_FILE_H
#define GBA_TESTS_OWN_FILE_H

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gba/base/descriptor.h"
#include "tests/suite.h"

/* Give the number to an empty file. Returns the number. Needs _GNU_SOURCE. */
static inline int own_file_put(const struct gba_descriptor *descriptor)
{
    const int number = descriptor->number, file = memfd_create("own", MFD_CLOEXEC);

    assert_true(file >= 0 && number >= 0);
    assert_int_equal(dup2(file, number), number);
    close(file);
    return number;
}

/* Check that it is open and empty, and close it. */
static inline void own_file_check(int number)
{
    struct stat status;

    assert_int_equal(fstat(number, &status), 0);
    assert_true(S_ISREG(status.st_mode) && 0 == status.st_size);
    assert_int_equal(close(number), 0);
}

#endif
